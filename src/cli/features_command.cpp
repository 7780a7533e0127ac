#include <fmt/format.h>

#include <memory>

#include "cli/commands.h"
#include "io/atomic_file.h"
#include "market/dataset.h"
#include "market/series.h"
#include "market/time.h"
#include "warptape/config.h"

namespace warptape {

namespace {

struct FeaturesCommand {
  std::filesystem::path data, out;
  DataConfig reading;
};

void run_features(const FeaturesCommand& command) {
  const Dataset dataset = make_dataset(read_series({command.data}, command.reading), nullptr);
  AtomicFile file(command.out);
  fmt::memory_buffer line;
  line.append(std::string_view("time"));
  for (const std::string& name : dataset.feature_names) fmt::format_to(std::back_inserter(line), ",{}", name);
  line.push_back('\n');
  const std::size_t features = static_cast<std::size_t>(dataset.features);
  for (std::size_t bar = 0; bar < static_cast<std::size_t>(dataset.bars()); ++bar) {
    fmt::format_to(std::back_inserter(line), "{}", format_time(dataset.ts_ns[bar]));
    for (std::size_t f = 0; f < features; ++f) {
      fmt::format_to(std::back_inserter(line), ",{}", dataset.market[bar * features + f]);
    }
    line.push_back('\n');
    file.write({line.data(), line.size()});
    line.clear();
  }
  file.commit();
  fmt::print("{} bars, {} features, not normalised: {}\n", dataset.bars(), dataset.features, command.out.string());
}

}  // namespace

void add_features_command(CLI::App& app) {
  auto options = std::make_shared<FeaturesCommand>();
  CLI::App* command =
      app.add_subcommand("features", "Write the built-in 51 features of a file of bars, before normalisation.");
  command->add_option("--data", options->data, "bars (CSV with a header)")->required();
  command->add_option("--out", options->out, "features, one row a bar after the warm-up (CSV)")->required();
  command->add_flag("--sort", options->reading.sort, "put rows in time order");
  command->add_option("--on-duplicate", options->reading.on_duplicate, "refuse or keep-last")
      ->check(CLI::IsMember({"refuse", "keep-last"}));
  command->footer("Example:\n  warptape features --data bars.csv --out features.csv");
  command->callback([options] { run_features(*options); });
}

}  // namespace warptape
