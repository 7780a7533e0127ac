#include <fmt/core.h>

#include <cstdio>
#include <memory>
#include <optional>

#include "backtest/policies.h"
#include "backtest/report.h"
#include "cli/commands.h"
#include "market/series.h"
#include "net/shapes.h"
#include "net/tensors.h"
#include "train/checkpoint.h"
#include "train/experiment.h"
#include "warptape/error.h"

namespace warptape {

namespace {

struct BacktestCommand {
  std::filesystem::path run, out;
  std::vector<std::filesystem::path> data, features;
  std::string split = "test";
  std::string checkpoint = "best";
  std::optional<double> bars_per_year;
  double rf = 0;
  bool sort = false;
  std::optional<std::string> on_duplicate;
};

PolicyTraces with_times(const char* policy, std::vector<Trace> traces, const Dataset& dataset) {
  PolicyTraces out;
  out.policy = policy;
  for (std::size_t s = 0; s < traces.size(); ++s) {
    const Segment& segment = dataset.segments[s];
    const std::size_t end = static_cast<std::size_t>(segment.first) + traces[s].rows.size();
    out.segments.push_back({segment.name, std::move(traces[s]), dataset.ts_ns[end]});
  }
  return out;
}

/// Every policy on the split, the agent first.
std::vector<PolicyTraces> play_all(const Config& config, std::span<const float> weights, const Dataset& dataset) {
  std::vector<PolicyTraces> policies;
  policies.push_back(with_times("agent", play_greedy(config, weights, dataset), dataset));
  policies.push_back(with_times("buy-and-hold", play_buy_and_hold(config, dataset), dataset));
  std::vector<Trace> flat = play_flat(config, dataset);
  if (!flat.empty()) policies.push_back(with_times("flat", std::move(flat), dataset));
  policies.push_back(with_times("random", play_random(config, dataset), dataset));
  return policies;
}

void run_backtest(const BacktestCommand& command) {
  const std::filesystem::path folder = command.run / command.checkpoint;
  const CheckpointInfo info = read_checkpoint_info(folder);
  DataConfig reading = info.config.data;
  if (command.sort) reading.sort = true;
  if (command.on_duplicate) reading.on_duplicate = *command.on_duplicate;
  const RawData raw = make_raw_data(read_series(command.data, reading), command.features);
  check_features(raw, info.recipe, folder.string());
  const Split split = parse_split(command.split);
  if (raw.series != info.recipe.series) {
    fmt::print(stderr,
               "these are not the bars that the run was trained on; splits are cut at the same times as then\n");
  }
  const Dataset dataset = prepared_split(raw, info.recipe, split);

  const auto specs = dueling_tensors(dueling_shape(info.config, dataset.features));
  std::vector<float> weights(static_cast<std::size_t>(parameter_count(specs)));
  const TensorMap tensors = read_checkpoint_weights(folder);
  take_network(tensors, network_prefix(Network::kOnline), specs, weights, tensors.origin());

  ReportOptions options;
  options.split = split;
  options.bars_per_year = command.bars_per_year;
  options.rf_per_year = command.rf;
  const Report report = make_report(play_all(info.config, weights, dataset), options);
  write_report(command.out, report);
  fmt::print("{}\n", metrics_table(report));
  if (split == Split::kTrain || split == Split::kAll) {
    fmt::print("These figures are in-sample: the agent was trained on {}bars of this split.\n",
               split == Split::kAll ? "some of the " : "the ");
  }
  fmt::print("written: {}\n         {}\n         {}\n", (command.out / "metrics.json").string(),
             (command.out / "equity.csv").string(), (command.out / "trades.csv").string());
}

}  // namespace

void add_backtest_command(CLI::App& app) {
  auto options = std::make_shared<BacktestCommand>();
  CLI::App* command = app.add_subcommand(
      "backtest",
      "Play a trained agent's greedy policy through the training step, beside baselines with the same costs.");
  command->add_option("--run", options->run, "folder of a training run")->required();
  command->add_option("--data", options->data, "bars (CSV), as for train")->required();
  command->add_option("--features-file", options->features, "your own features, as for train");
  command->add_option("--split", options->split, "train, validation, test or all")->capture_default_str();
  command->add_option("--checkpoint", options->checkpoint, "best or last")
      ->capture_default_str()
      ->check(CLI::IsMember({"best", "last"}));
  command->add_option("--out", options->out, "folder for equity.csv, trades.csv, metrics.json")->required();
  command->add_option("--bars-per-year", options->bars_per_year, "default: worked out from the times");
  command->add_option("--rf", options->rf, "riskless return a year, as a fraction")->capture_default_str();
  command->add_flag("--sort", options->sort, "put rows in time order");
  command->add_option("--on-duplicate", options->on_duplicate, "refuse or keep-last")
      ->check(CLI::IsMember({"refuse", "keep-last"}));
  command->footer(
      "Example:\n"
      "  warptape backtest --run runs/first --data bars.csv --split test --out runs/first/test");
  command->callback([options] { run_backtest(*options); });
}

}  // namespace warptape
