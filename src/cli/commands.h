// One function a command: it adds the command, its options and its help to the application; the command runs when the
// application has parsed. A command reports a user's mistake by throwing Error.
#pragma once

#include <CLI/CLI.hpp>

namespace warptape {

void add_train_command(CLI::App& app);
void add_backtest_command(CLI::App& app);
void add_simulate_command(CLI::App& app);
void add_collect_command(CLI::App& app);
void add_features_command(CLI::App& app);
void add_metrics_command(CLI::App& app);
void add_bench_command(CLI::App& app);
void add_config_command(CLI::App& app);
void add_info_command(CLI::App& app);

}  // namespace warptape
