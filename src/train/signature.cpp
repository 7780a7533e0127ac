#include "train/signature.h"

#include <array>
#include <bit>
#include <string>
#include <vector>

#include "backtest/play.h"
#include "core/philox.h"
#include "env/make_params.h"
#include "io/checksum.h"
#include "market/random_walk.h"
#include "net/tensor_map.h"
#include "warptape/backend.h"
#include "warptape/config.h"

namespace warptape {

namespace {

// Bytes whose digest is the signature, in an order that is part of it.
class Digest {
 public:
  void add(double x) { add_bits(std::bit_cast<std::uint64_t>(x == 0 ? 0.0 : x)); }  // -0 counts as 0
  void add(std::int64_t x) { add_bits(static_cast<std::uint64_t>(x)); }
  void add(std::span<const std::byte> bytes) { bytes_.insert(bytes_.end(), bytes.begin(), bytes.end()); }

  /// Ten decimal digits at most: short enough for a commit message.
  std::uint64_t number() const {
    return std::stoull(xxh3_128_hex(bytes_).substr(0, 16), nullptr, 16) % 10'000'000'000u;
  }

 private:
  void add_bits(std::uint64_t bits) {
    for (int byte = 0; byte < 8; ++byte) bytes_.push_back(static_cast<std::byte>(bits >> (8 * byte)));
  }
  std::vector<std::byte> bytes_;
};

void add_rows(const Trace& trace, Digest& digest) {
  for (const StepRow& r : trace.rows) {
    for (const double x :
         {r.position, r.cash, r.equity, r.next_equity, r.cost, r.cumulative_cost, r.entry_price, r.barrier_upper,
          r.barrier_lower, r.fill_price, r.reward, r.reward_return, r.reward_risk, r.reward_diversity}) {
      digest.add(x);
    }
    for (const std::int64_t x : {r.bar, std::int64_t{r.action}, std::int64_t{r.barrier_label}, std::int64_t{r.terminal},
                                 std::int64_t{r.truncated}}) {
      digest.add(x);
    }
  }
}

std::vector<Config> workloads() {
  const std::vector<std::string> tight = {"env.barrier_profit_bps=80",  "env.barrier_stop_bps=60",
                                          "env.barrier_max_bars=7",     "env.episode_length=90",
                                          "env.diversity_penalty=0.1",  "env.risk_weight=0.5",
                                          "env.barrier_reward_scale=1", "env.urgency_cost=[0.5, 1, 2]"};
  const auto with = [&](std::vector<std::string> more) {
    std::vector<std::string> all = tight;
    all.insert(all.end(), more.begin(), more.end());
    return load_config({}, all);
  };
  return {
      load_config({}, {"env.rules=classic"}), load_config({}, {"env.rules=market"}),
      with({"env.rules=classic", "env.reserve_pct=10", "env.barrier_ends_episode=false"}),
      with({"env.rules=market", "env.leverage=3", "env.lot_size=0.5", "env.reserve_pct=10"}),
      with({"env.rules=market", "env.max_position=400", "env.barrier_ends_episode=true", "env.diversity_window=17"})};
}

}  // namespace

std::uint64_t environment_signature() {
  const Dataset walk = random_walk(3000, 1, 0.004, 42);
  const BarView bars = view_of(walk, walk.segments.front());
  Digest digest;
  for (const Config& config : workloads()) {
    const EnvParams params = make_params(config.env);
    add_rows(play(config.env.rules, params, bars, {0, true},
                  [&](std::int64_t bar, const Observation&) {
                    // Held for a few bars each: barriers, expiry and top-ups need positions that last.
                    const Philox4 words = random_words(42, 0, static_cast<u64>(bar / 5), Draw::kMadeUp);
                    return static_cast<int>(below(words.word[0], static_cast<u32>(params.actions.count)));
                  }),
             digest);
  }
  return digest.number();
}

std::uint64_t training_signature() {
  const Config config = load_config({}, {"env.rules=classic", "collect.episodes=70", "collect.steps=40",
                                         "env.episode_length=60", "learn.batch=130", "replay.capacity=5600"});
  const std::unique_ptr<Backend> backend = make_cpu_backend(config, random_walk(3000, 51, 0.004, 42));
  for (int round = 0; round < 3; ++round) {
    backend->collect({0.3, {}});
    backend->learn({5, 1e-3});
    backend->train_curiosity();
  }
  Digest digest;
  for (const Network network : {Network::kOnline, Network::kTarget, Network::kCuriosity}) {
    const std::vector<float> weights = backend->weights(network);
    digest.add(std::as_bytes(std::span(weights)));
  }
  TensorMap state;
  backend->save_state(state);
  for (const auto& [name, tensor] : state.tensors()) digest.add(tensor.data());
  return digest.number();
}

}  // namespace warptape
