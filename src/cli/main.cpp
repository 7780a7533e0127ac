// The program: commands, and what a mistake looks like.
#include <fmt/core.h>

#include <cstdio>
#include <exception>

#include "cli/commands.h"
#include "core/build_info.h"
#include "core/check.h"
#include "warptape/error.h"

namespace {

constexpr const char* kAbout =
    "warptape trains deep-Q trading agents: market simulation, replay and learning in one loop, with the same\n"
    "step in training, back-test and export, and the same numbers every time.\n";

constexpr const char* kExample =
    "A first run:\n"
    "  warptape train --data bars.csv --out runs/first\n"
    "  warptape backtest --run runs/first --data bars.csv --split test --out runs/first/test\n"
    "Every command has its own --help with an example.";

constexpr int kUserError = 1;
constexpr int kBug = 70;  // EX_SOFTWARE of sysexits.h

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{kAbout, "warptape"};
  app.footer(kExample);
  app.set_version_flag("--version", warptape::version());
  app.require_subcommand(1);
  warptape::add_train_command(app);
  warptape::add_backtest_command(app);
  warptape::add_simulate_command(app);
  warptape::add_collect_command(app);
  warptape::add_features_command(app);
  warptape::add_metrics_command(app);
  warptape::add_bench_command(app);
  warptape::add_config_command(app);
  warptape::add_info_command(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e);
  } catch (const warptape::Error& e) {
    fmt::print(stderr, "warptape: {}\n", e.what());
    return kUserError;
  } catch (const warptape::Bug& e) {
    fmt::print(stderr, "warptape: this is a bug, please report it: {}\n", e.what());
    return kBug;
  } catch (const std::exception& e) {
    fmt::print(stderr, "warptape: {}\n", e.what());
    return kUserError;
  }
  return 0;
}
