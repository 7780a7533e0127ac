#include <fmt/core.h>

#include <thread>

#include "backend/cpu/kernels.h"
#include "cli/commands.h"
#include "core/build_info.h"

namespace warptape {

namespace {

void run_info() {
  fmt::print("warptape {}\n", version());
  fmt::print("build      {}\n", build());
  fmt::print("processors {}\n", std::thread::hardware_concurrency());
  fmt::print("backends   cpu (float32, {} kernels)\n", cpu::kernels().name);
}

}  // namespace

void add_info_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("info", "Version, build, processors and backends of this program.");
  command->footer("Example: what a bug report should begin with\n  warptape info");
  command->callback(run_info);
}

}  // namespace warptape
