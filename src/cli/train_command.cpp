#include <fmt/core.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <system_error>

#include "cli/commands.h"
#include "cli/options.h"
#include "train/run_folder.h"
#include "warptape/error.h"
#include "warptape/trainer.h"

namespace warptape {

namespace {

constexpr int kInterrupted = 130;  // what shells report for a program that Ctrl-C ended

struct TrainCommand {
  std::vector<std::filesystem::path> data, features;
  std::filesystem::path out;
  std::string backend = "auto";
  bool resume = false;
  std::optional<double> time_limit_s;
  std::string from = "last";
  ConfigOptions config;
};

std::atomic<bool> stop_asked{false};

constexpr int kStopSignals[] = {SIGINT, SIGTERM, SIGHUP};

/// Ctrl-C ends the training after the running round; a second signal, whichever it is, at once.
void ask_to_stop(int) {
  stop_asked = true;
  for (const int signal : kStopSignals) std::signal(signal, SIG_DFL);
}

void handle_signals() {
  for (const int signal : kStopSignals) {
    // What the shell or nohup had ignored stays ignored.
    if (std::signal(signal, ask_to_stop) == SIG_IGN) std::signal(signal, SIG_IGN);
  }
  std::signal(SIGXFSZ, SIG_IGN);  // a file over ulimit -f is an error to report, like a full disk
}

std::string time_left(double seconds) {
  const int whole = static_cast<int>(seconds);
  if (whole >= 3600) return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
  return fmt::format("{}:{:02}", whole / 60, whole % 60);
}

std::string progress_line(const RoundReport& r) {
  const std::string best = r.best_return ? fmt::format("{:+.2f} %", 100 * *r.best_return) : "-";
  return fmt::format("round {}/{}  {:.0f}k steps/s  left {}  best {}  ε {:.2f}  loss {:.3g}  |Q| {:.3g}", r.round,
                     r.rounds, r.steps_per_second / 1000, time_left(r.seconds_left), best, r.epsilon, r.loss, r.abs_q);
}

/// On a terminal one line that is written over, and a line kept for each evaluation; in a pipe nothing but alarms.
class Progress {
 public:
  void show(const RoundReport& r) {
    for (const Alarm& alarm : r.alarms) {
      fmt::print(stderr, "{}warptape: warning: {}\n", terminal_ ? kClearLine : "", alarm.text);
    }
    if (!terminal_) return;
    try {
      print(r);
    } catch (const std::system_error&) {
      terminal_ = false;  // it was closed: no reason to stop, and none to lose the round
    }
  }
  void end() const {
    if (terminal_) fmt::print(stderr, "{}", kClearLine);
  }

 private:
  static constexpr const char* kClearLine = "\r\x1b[2K";

  static void print(const RoundReport& r) {
    if (r.validation_return) {
      fmt::print(stderr, "{}round {:>5}  validation return {:+.2f} %  step reward {:.3g}  loss {:.3g}  mean Q {:.3g}\n",
                 kClearLine, r.round, 100 * *r.validation_return, r.reward, r.loss, r.q);
    }
    // A line that wraps could not be written over, so what a narrow terminal has no room for is cut off.
    fmt::print(stderr, "{}\x1b[?7l{}\x1b[?7h", kClearLine, progress_line(r));
    std::fflush(stderr);
  }
  bool terminal_ = isatty(fileno(stderr)) != 0;
};

/// A resumed run goes on with its own configuration: anything else would not be the same run. Repeating it is fine, so
/// that one command line, with --resume, both begins a run and goes on with it.
Config resumed_config(const TrainCommand& command) {
  const std::vector<std::string> settings = command.config.all_settings();
  const std::optional<Config> own = run_config(command.out);
  if (!own) {
    const bool names_no_config = !command.config.file && settings.empty();
    if (names_no_config || command.from != "last") {
      fail(
          "{}: there is no run to resume: nothing is written there yet; start it without --resume, or name its "
          "configuration (--config, --set) beside it",
          command.out.string());
    }
    fmt::print(stderr, "{}: there is no run yet to resume; this begins it\n", command.out.string());
    return command.config.load();
  }
  if (command.config.preset) fail("--resume goes on with the run's own configuration; leave --preset out");
  const Config given = command.config.file ? command.config.load() : parse_config(to_toml(*own), "", settings);
  require_run_config(given, command.out);
  return given;
}

void run_train(const TrainCommand& command) {
  TrainOptions options;
  options.config = command.resume ? resumed_config(command) : command.config.load();
  options.data = command.data;
  options.features = command.features;
  options.out = command.out;
  options.backend = command.backend;
  options.resume = command.resume;
  options.time_limit_s = command.time_limit_s;
  options.resume_from = command.from;

  handle_signals();
  Progress progress;
  const TrainResult result = train(
      options, [&](const RoundReport& r) { progress.show(r); }, [] { return stop_asked.load(); });
  progress.end();
  const std::string best =
      result.best_return ? fmt::format("best validation return {:+.2f} % in round {}: {}", 100 * *result.best_return,
                                       result.best_round, (options.out / "best").string())
                         : "no evaluation yet";
  if (result.interrupted) {
    fmt::print("stopped after round {}; {}; go on with --resume\n", result.rounds, best);
    throw CLI::RuntimeError(kInterrupted);
  }
  if (result.out_of_time) {
    fmt::print("time limit reached after round {} of {}; {}; go on with --resume\n", result.rounds,
               options.config.train.rounds, best);
    return;
  }
  if (result.stopped_early) {
    fmt::print("{} early after round {} of {}: {} evaluations without a new best validation return; {}\n",
               result.rounds_here > 0 ? "stopped" : "nothing to do: the run had stopped", result.rounds,
               options.config.train.rounds, options.config.train.early_stop, best);
    return;
  }
  fmt::print("{} rounds done; {}\n", result.rounds, best);
}

}  // namespace

void add_train_command(CLI::App& app) {
  auto options = std::make_shared<TrainCommand>();
  CLI::App* command = app.add_subcommand("train", "Train an agent on bars; evaluates, keeps the best, can be resumed.");
  command->add_option("--data", options->data, "bars (CSV with a header), one file an instrument")->required();
  command->add_option(
      "--features-file", options->features,
      "your own features (CSV, joined by time) instead of the built-in 51; one file for each of --data");
  command
      ->add_option("--out", options->out,
                   "folder of the run: config.toml, log.jsonl, tensorboard/, last/, previous/, best/")
      ->required();
  command->add_option("--backend", options->backend, "cpu, cuda or auto")->capture_default_str();
  CLI::Option* resume =
      command->add_flag("--resume", options->resume, "go on where the run in --out stopped, with the same numbers");
  command->add_option("--from", options->from, "checkpoint to resume from: last, previous (the one before it) or best")
      ->needs(resume)
      ->capture_default_str()
      ->check(CLI::IsMember({"last", "previous", "best"}));
  command
      ->add_option("--time-limit", options->time_limit_s,
                   "end after the round that passes it, with a checkpoint: 90s, 30m, 2h, 1d; a number alone is seconds")
      ->transform(CLI::AsNumberWithUnit(std::map<std::string, double>{{"s", 1}, {"m", 60}, {"h", 3600}, {"d", 86400}}))
      ->check(CLI::PositiveNumber);
  options->config.add_to(*command);
  command->footer(
      "Ctrl-C ends the training after the running round, with a checkpoint.\n"
      "Example: three exposures, a profit target of 2 % and a stop of 1 %\n"
      "  warptape train --data spy.csv --out runs/spy --set 'env.exposures=[-1,0,1]' \\\n"
      "    --set env.barrier_profit_bps=200 --set env.barrier_stop_bps=100");
  command->callback([options] { run_train(*options); });
}

}  // namespace warptape
