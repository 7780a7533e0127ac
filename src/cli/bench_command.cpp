#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>

#include "cli/commands.h"
#include "cli/options.h"
#include "core/build_info.h"
#include "market/dataset.h"
#include "market/random_walk.h"
#include "train/signature.h"
#include "warptape/backend.h"

namespace warptape {

namespace {

struct BenchCommand {
  bool json = false;
  int repeats = 5;
  std::int64_t bars = 20000;
  std::int64_t episodes = 128, steps = 500;
  bool all_outputs = false;
  std::int64_t batch = 256, updates = 100;
  std::int64_t replay = 64000;
  bool prioritised = false;
  ConfigOptions config;
};

constexpr int kFeatures = 51;  // the benchmark shape of docs/domain.md, section 5
constexpr double kMove = 0.001;
constexpr std::uint64_t kSeriesSeed = 1;

/// Seconds of each repeat, after one that does not count, in rising order. `prepare` comes before each repeat, untimed.
std::vector<double> time_repeats(
    int repeats, const std::function<void()>& work, const std::function<void()>& prepare = [] {}) {
  work();
  std::vector<double> seconds;
  for (int i = 0; i < repeats; ++i) {
    prepare();
    const auto start = std::chrono::steady_clock::now();
    work();
    seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  std::sort(seconds.begin(), seconds.end());
  return seconds;
}

void report(const BenchCommand& command, const char* what, const char* unit, double amount,
            const std::vector<double>& seconds, nlohmann::ordered_json parameters) {
  const double median = seconds[seconds.size() / 2];
  if (command.json) {
    parameters["what"] = what;
    parameters["unit"] = unit;
    parameters["rate_median"] = amount / median;
    parameters["rate_min"] = amount / seconds.back();
    parameters["rate_max"] = amount / seconds.front();
    parameters["repeats"] = seconds.size();
    parameters["processors"] = std::thread::hardware_concurrency();
    parameters["version"] = version();
    parameters["build"] = build();
    fmt::print("{}\n", parameters.dump(1));
    return;
  }
  fmt::print("{}: {:.4g} {} (median of {}; {:.4g} to {:.4g})\n", what, amount / median, unit, seconds.size(),
             amount / seconds.back(), amount / seconds.front());
}

std::unique_ptr<Backend> make_backend(const BenchCommand& command, const Config& config) {
  const Dataset walk = random_walk(command.bars, kFeatures, kMove, kSeriesSeed);
  require_usable_starts(walk, config.env.episode_length);
  return make_cpu_backend(config, walk);
}

void bench_collect(const BenchCommand& command) {
  Config config = command.config.load();
  config.collect.episodes = command.episodes;
  config.collect.steps = command.steps;
  config.replay.capacity = command.episodes * command.steps;
  config.curiosity.batches = 1;
  const std::unique_ptr<Backend> backend = make_backend(command, config);
  CollectRequest request;
  request.epsilon = 0.1;
  request.outputs.target_q = request.outputs.td_error = command.all_outputs;
  // Training moves curiosity's weights between rounds, so what it predicted in one is of no use to the next.
  const auto seconds = time_repeats(
      command.repeats, [&] { backend->collect(request); }, [&] { backend->train_curiosity(); });
  report(command, "collect", "experiences/s", static_cast<double>(config.replay.capacity), seconds,
         {{"episodes", command.episodes}, {"steps", command.steps}, {"all_outputs", command.all_outputs}});
}

void bench_learn(const BenchCommand& command) {
  Config config = command.config.load();
  config.learn.batch = command.batch;
  const std::int64_t round = config.collect.episodes * config.collect.steps;
  config.replay.capacity = std::max({command.replay, command.batch, round});
  config.replay.prioritised |= command.prioritised;
  const std::unique_ptr<Backend> backend = make_backend(command, config);
  CollectRequest request;
  request.epsilon = 1.0;
  for (std::int64_t rows = 0; rows < config.replay.capacity; rows += round) backend->collect(request);
  const LearnRequest updates = {command.updates, 1e-4, config.replay.beta_start};
  const auto seconds = time_repeats(command.repeats, [&] { backend->learn(updates); });
  report(command, "learn", "updates/s", static_cast<double>(command.updates), seconds,
         {{"batch", command.batch},
          {"updates", command.updates},
          {"replay", config.replay.capacity},
          {"prioritised", config.replay.prioritised},
          {"n_step", config.learn.n_step}});
}

void add_common(CLI::App& command, BenchCommand& options) {
  command.add_flag("--json", options.json, "print JSON");
  command.add_option("--repeats", options.repeats, "timed repeats after a warm-up; the median counts")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000));
  command.add_option("--bars", options.bars, "bars of the random walk")
      ->capture_default_str()
      ->check(CLI::Range(1000, 10'000'000));
  options.config.add_to(command);
}

}  // namespace

void add_bench_command(CLI::App& app) {
  auto options = std::make_shared<BenchCommand>();
  CLI::App* command = app.add_subcommand("bench", "Measure this machine: experiences and updates a second.");
  command->require_subcommand(1);
  command->footer("Example:\n  warptape bench collect --episodes 128 --steps 500 --json");

  CLI::App* collect = command->add_subcommand("collect", "Rounds of N × L experiences on a random walk.");
  collect->add_option("--episodes", options->episodes, "parallel episodes N")
      ->capture_default_str()
      ->check(CLI::Range(1, 262144));
  collect->add_option("--steps", options->steps, "steps L of a round")
      ->capture_default_str()
      ->check(CLI::Range(1, 1'000'000));
  collect->add_flag("--all-outputs", options->all_outputs, "target_q and td_error too");
  collect->footer("Example:\n  warptape bench collect --episodes 4096 --steps 50 --all-outputs");
  add_common(*collect, *options);
  collect->callback([options] { bench_collect(*options); });

  CLI::App* learn = command->add_subcommand("learn", "Double-DQN updates on a replay of random experiences.");
  learn->add_option("--batch", options->batch, "experiences of a batch")
      ->capture_default_str()
      ->check(CLI::Range(1, 65536));
  learn->add_option("--updates", options->updates, "updates of a repeat")
      ->capture_default_str()
      ->check(CLI::Range(1, 1'000'000));
  learn->add_option("--replay", options->replay, "experiences to fill the replay with; at least a batch and a round")
      ->capture_default_str()
      ->check(CLI::Range(1, 2'000'000'000));
  learn->add_flag("--prioritised", options->prioritised, "draw by priority (replay.prioritised)");
  learn->footer("Example:\n  warptape bench learn --batch 1024 --updates 50");
  add_common(*learn, *options);
  learn->callback([options] { bench_learn(*options); });

  CLI::App* signature = command->add_subcommand(
      "signature", "One number each for the environment and for training: did a change move them?");
  signature->footer("Example:\n  warptape bench signature");
  signature->callback(
      [] { fmt::print("environment {}\ntraining on the cpu {}\n", environment_signature(), training_signature()); });
}

}  // namespace warptape
