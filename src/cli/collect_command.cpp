#include <fmt/core.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "backend/cpu/states.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "core/build_info.h"
#include "market/series.h"
#include "net/safetensors.h"
#include "net/shapes.h"
#include "train/experiment.h"
#include "warptape/backend.h"
#include "warptape/error.h"

namespace warptape {

namespace {

struct CollectCommand {
  std::vector<std::filesystem::path> data, features;
  std::filesystem::path out;
  std::optional<std::filesystem::path> weights;
  std::optional<std::int64_t> episodes, steps;
  std::optional<double> epsilon;
  std::string outputs = "basic";
  std::string split = "train";
  ConfigOptions config;
};

/// Both states of every experience, [L, N, M + 3] each, rebuilt from bars and portfolio numbers.
void put_states(const Experiences& e, const Dataset& dataset, TensorMap& tensors) {
  const cpu::Market market{dataset.market.data(), dataset.features};
  const std::size_t size = static_cast<std::size_t>(market.state_size());
  std::vector<float> state(e.bar.size() * size), next(e.bar.size() * size);
  for (std::size_t i = 0; i < e.bar.size(); ++i) {
    market.write_state(e.bar[i], e.portfolio.data() + i * kPortfolioNumbers, state.data() + i * size);
    market.write_state(e.bar[i] < 0 ? -1 : e.bar[i] + 1, e.next_portfolio.data() + i * kPortfolioNumbers,
                       next.data() + i * size);
  }
  const Shape shape = {e.steps, e.episodes, market.state_size()};
  tensors.set<float>("state", shape, state);
  tensors.set<float>("next_state", shape, next);
}

TensorMap to_tensors(const Experiences& e, const Dataset& dataset) {
  TensorMap tensors;
  const Shape rows = {e.steps, e.episodes};
  put_states(e, dataset, tensors);
  tensors.set<std::int32_t>("bar", rows, e.bar);
  tensors.set<std::int32_t>("action", rows, e.action);
  tensors.set<float>("reward", rows, e.reward);
  tensors.set<std::uint8_t>("terminal", rows, e.terminal);
  tensors.set<std::uint8_t>("truncated", rows, e.truncated);
  if (!e.target_q.empty()) {
    tensors.set<float>("target_q", rows, e.target_q);
    tensors.set<float>("q_selected", rows, e.q_selected);
    tensors.set<float>("td_error", rows, e.td_error);
  }
  if (!e.components.empty()) {
    tensors.set<float>("reward_components", {e.steps, e.episodes, 4}, e.components);
  }
  return tensors;
}

Config make_config(const CollectCommand& command) {
  std::vector<std::string> settings;
  if (command.episodes) settings.push_back(fmt::format("collect.episodes={}", *command.episodes));
  if (command.steps) settings.push_back(fmt::format("collect.steps={}", *command.steps));
  // Nothing is drawn from the replay: its capacity is what the round needs, so first it must not limit the round.
  settings.emplace_back("replay.capacity=2000000000");
  Config config = command.config.load(settings);
  config.replay.capacity = config.collect.episodes * config.collect.steps;
  return config;
}

void run_collect(const CollectCommand& command) {
  const Config config = make_config(command);

  const RawData raw = make_raw_data(read_series(command.data, config.data), command.features);
  const DataRecipe recipe = make_recipe(raw, config);
  const Dataset dataset = prepared_split(raw, recipe, parse_split(command.split), config.env.episode_length + 1);
  const std::unique_ptr<Backend> backend = make_cpu_backend(config, dataset);
  if (command.weights) {
    const TensorMap weights = read_safetensors(*command.weights);
    backend->sync(Network::kOnline, weights, "", weights.origin());
    const bool has_target = weights.contains("target.shared_0.weight");
    backend->sync(Network::kTarget, weights, has_target ? "target." : "", weights.origin());
    if (weights.contains("curiosity.fc1.weight")) {
      backend->sync(Network::kCuriosity, weights, "curiosity.", weights.origin());
    }
  }
  const bool all = command.outputs == "all";
  CollectRequest request;
  request.epsilon = command.epsilon.value_or(command.weights ? config.collect.epsilon_end : 1.0);
  request.outputs = {all, all, all};
  const CollectStats stats = backend->collect(request);

  TensorMap tensors = to_tensors(backend->download(), dataset);
  tensors.metadata() = {{"warptape.version", version()},
                        {"warptape.config", to_toml(config)},
                        {"warptape.features", nlohmann::json(dataset.feature_names).dump()},
                        {"layout", "[step, episode]; bar counts the rows of the split that was collected on"}};
  write_safetensors(command.out, tensors);
  fmt::print("{} experiences, {} episodes ended, mean reward {:.6g}: {}\n", stats.steps, stats.episodes,
             stats.mean_reward, command.out.string());
}

}  // namespace

void add_collect_command(CLI::App& app) {
  auto options = std::make_shared<CollectCommand>();
  CLI::App* command =
      app.add_subcommand("collect", "Write one round of experiences, true next states included, for other learners.");
  command->add_option("--data", options->data, "bars (CSV), as for train")->required();
  command->add_option("--features-file", options->features, "your own features, as for train");
  command->add_option("--weights", options->weights, "weights.safetensors to act by; without, actions are random");
  command->add_option("--episodes", options->episodes, "parallel episodes N: short for --set collect.episodes=N");
  command->add_option("--steps", options->steps, "steps L of each: short for --set collect.steps=L");
  command
      ->add_option("--epsilon", options->epsilon,
                   "probability of a random action (default 1 without weights, collect.epsilon_end with)")
      ->check(CLI::Range(0.0, 1.0));
  command
      ->add_option("--outputs", options->outputs,
                   "basic, or all: target_q, q_selected, td_error and the reward's components too")
      ->capture_default_str()
      ->check(CLI::IsMember({"basic", "all"}));
  command->add_option("--split", options->split, "train, validation, test or all")->capture_default_str();
  command->add_option("--out", options->out, "tensors [L, N, …] (safetensors)")->required();
  options->config.add_to(*command);
  command->footer(
      "Features are normalised by the training split, as in training.\n"
      "Example:\n"
      "  warptape collect --data bars.csv --weights runs/first/best/weights.safetensors \\\n"
      "    --episodes 128 --steps 500 --outputs all --out round.safetensors");
  command->callback([options] { run_collect(*options); });
}

}  // namespace warptape
