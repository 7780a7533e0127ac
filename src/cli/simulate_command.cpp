#include <fmt/format.h>

#include <memory>

#include "backtest/actions_file.h"
#include "backtest/play.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "env/make_params.h"
#include "io/atomic_file.h"
#include "market/series.h"
#include "market/time.h"
#include "warptape/error.h"

namespace warptape {

namespace {

struct SimulateOptions {
  std::filesystem::path data, actions, out;
  std::int64_t first_bar = 0;
  bool chain = false;
  ConfigOptions config;
};

constexpr const char* kHeader =
    "bar,time,action,price,next_price,position,cash,equity,next_equity,cost,cumulative_cost,entry_price,barrier_upper,"
    "barrier_lower,barrier_label,fill_price,reward,reward_return,reward_risk,reward_diversity,reward_curiosity,"
    "terminal,"
    "truncated\n";

std::string steps_csv(const Trace& trace) {
  fmt::memory_buffer out;
  out.append(std::string_view(kHeader));
  const auto number = [&](double x) { fmt::format_to(std::back_inserter(out), ",{:.{}g}", x, trace.digits); };
  for (const StepRow& r : trace.rows) {
    fmt::format_to(std::back_inserter(out), "{},{},{}", r.bar, format_time(r.ts_ns), r.action);
    for (const double x : {r.price, r.next_price, r.position, r.cash, r.equity, r.next_equity, r.cost,
                           r.cumulative_cost, r.entry_price, r.barrier_upper, r.barrier_lower}) {
      number(x);
    }
    fmt::format_to(std::back_inserter(out), ",{}", r.barrier_label);
    for (const double x :
         {r.fill_price, r.reward, r.reward_return, r.reward_risk, r.reward_diversity, r.reward_curiosity}) {
      number(x);
    }
    fmt::format_to(std::back_inserter(out), ",{},{}\n", r.terminal ? 1 : 0, r.truncated ? 1 : 0);
  }
  return fmt::to_string(out);
}

void simulate(const SimulateOptions& options) {
  Config config = options.config.load();
  // Recorded actions are one episode: a time limit would cut it only if the user asked for one.
  if (!names_key(options.config.file, options.config.settings, "env.episode_length")) config.env.episode_length = 0;
  const std::vector<Bars> series = read_series({options.data}, config.data);
  const Bars& bars = series.front();
  if (bars.size() < 2) fail("{}: {} bars; a step needs at least 2", options.data.string(), bars.size());
  if (options.first_bar < 0 || options.first_bar + 1 >= bars.size()) {
    fail("--first-bar {}: {} has bars 0 … {} and the last can't be acted on", options.first_bar, options.data.string(),
         bars.size() - 1);
  }
  const std::vector<int> actions = read_actions(options.actions, config.env);
  std::size_t next = 0;
  const Trace trace =
      play(config.env.rules, make_params(config.env), view_of(bars), {options.first_bar, options.chain},
           [&](std::int64_t, const Observation&) { return next < actions.size() ? actions[next++] : kNoAction; });
  write_file_atomically(options.out, steps_csv(trace));
  const StepRow& last = trace.rows.back();
  fmt::print("{} steps, equity {:.10g} -> {:.10g}, costs {:.6g}: {}\n", trace.rows.size(), trace.initial_capital,
             last.next_equity, last.cumulative_cost, options.out.string());
}

}  // namespace

void add_simulate_command(CLI::App& app) {
  auto options = std::make_shared<SimulateOptions>();
  CLI::App* command = app.add_subcommand(
      "simulate", "Play recorded actions through the training step: the step as a calculator, no network.");
  command->add_option("--data", options->data, "bars (CSV); prices only, two bars are enough")->required();
  command->add_option("--actions", options->actions, "one action index a line, or CSV: exposure,order,urgency")
      ->required();
  command->add_option("--out", options->out, "steps, one row each (CSV)")->required();
  command->add_option("--first-bar", options->first_bar, "bar (from 0) at which the first action acts");
  command->add_flag("--continue", options->chain, "go on after an episode's end, as a back-test does");
  options->config.add_to(*command);
  command->footer(
      "Example: long, then short, at market rules\n"
      "  printf 'exposure,order,urgency\\n1,market,normal\\n-1,market,normal\\n' > actions.csv\n"
      "  warptape simulate --data bars.csv --actions actions.csv --out steps.csv");
  command->callback([options] { simulate(*options); });
}

}  // namespace warptape
