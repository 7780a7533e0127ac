#include "warptape/trainer.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "backtest/policies.h"
#include "core/build_info.h"
#include "io/atomic_file.h"
#include "io/folder_lock.h"
#include "learn/schedule.h"
#include "market/csv.h"
#include "market/series.h"
#include "net/shapes.h"
#include "train/alarms.h"
#include "train/checkpoint.h"
#include "train/early_stop.h"
#include "train/events.h"
#include "train/experiment.h"
#include "train/run_folder.h"
#include "train/run_log.h"
#include "warptape/backend.h"
#include "warptape/error.h"

namespace warptape {

namespace {

using Clock = std::chrono::steady_clock;

constexpr const char* kEventsName = "tensorboard";

void require_empty_run(const std::filesystem::path& out) {
  std::error_code ignored;
  if (std::filesystem::exists(out, ignored) && !std::filesystem::is_directory(out, ignored)) {
    fail("{}: is a file; --out takes a folder", out.string());
  }
  // A run that was killed before its first checkpoint leaves nothing to go on from, so a new one may take its place.
  if (holds_checkpoint(out)) {
    fail("{}: already holds a run; go on with --resume, or name another folder with --out", out.string());
  }
}

void make_folder(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) fail("{}: cannot be made: {}", folder.string(), system_reason(error.value()));
  // Without a slash at the end, which would make the folder its own parent.
  const std::filesystem::path parent = folder_of(folder.has_filename() ? folder : folder.parent_path());
  if (const int failed = sync_folder(parent)) fail_system("write", parent, failed);
}

std::string resolve_backend(const std::string& wanted) {
  if (wanted == "auto" || wanted == "cpu") return "cpu";
  if (wanted == "cuda") fail("--backend cuda: this build has no GPU backend; use cpu or auto");
  fail("--backend {}: choose cpu, cuda or auto", wanted);
}

/// A resumed run must give the numbers of one that never stopped: same data, backend, program.
void check_resumable(const CheckpointInfo& info, const RawData& raw, const std::string& backend,
                     const std::string& origin) {
  if (info.backend != backend) fail("{}: was written by backend {}, not {}", origin, info.backend, backend);
  if (info.version != version() || info.build != build()) {
    fail("{}: was written by warptape {} ({}), this is {} ({}); resuming would not give the same numbers", origin,
         info.version, info.build, version(), build());
  }
  check_features(raw, info.recipe, origin);
  if (info.recipe.series == raw.series) return;
  if (info.recipe.series.size() != raw.series.size()) {
    fail("{}: was trained on {} files of bars, {} were given", origin, info.recipe.series.size(), raw.series.size());
  }
  for (std::size_t i = 0; i < raw.series.size(); ++i) {
    const SeriesIdentity& had = info.recipe.series[i];
    const SeriesIdentity& has = raw.series[i];
    if (had == has) continue;
    if (had.hash == has.hash && had.name == has.name) {
      fail(
          "{}: the features of {} are not those that the run was trained on (checksum {}, given {}); resume needs the "
          "same --features-file",
          origin, had.name, had.features_hash, has.features_hash);
    }
    fail(
        "{}: was trained on {} ({} bars, checksum {}), given were {} ({} bars, checksum {}); resume needs the same "
        "bars",
        origin, had.name, had.bars, had.hash, has.name, has.bars, has.hash);
  }
}

class Training {
 public:
  Training(const TrainOptions& options, const std::function<void(const RoundReport&)>& progress)
      : options_(options), progress_(progress) {
    info_.config = options.config;
    info_.backend = resolve_backend(options.backend);
    info_.version = version();
    info_.build = build();
    if (!options.resume) require_empty_run(options.out);
    const RawData raw = make_raw_data(read_series(options.data, options.config.data), options.features);
    const bool goes_on = options.resume && resume_info(raw);
    if (!goes_on) info_.recipe = make_recipe(raw, info_.config);
    validation_ = prepared_split(raw, info_.recipe, Split::kValidation);
    backend_ = make_cpu_backend(info_.config, prepared_split(raw, info_.recipe, Split::kTrain));
    if (goes_on) resume_backend();
    make_folder(options.out);
    if (!lock_.valid()) take_folder();
    if (!options.resume) require_empty_run(options.out);  // again: another process may have been faster
    if (goes_on) make_last(options.out, options.resume_from);
    write_config();
  }

  TrainResult run(const std::function<bool()>& stop) {
    RunLog log(options_.out / kLogName, info_.log);
    const Clock::time_point start = Clock::now();
    const std::int64_t first = info_.round;
    const std::int64_t rounds = info_.config.train.rounds;
    std::optional<EventFile> events;
    if (info_.config.train.tensorboard && !ended()) events.emplace(options_.out / kEventsName, info_.round);
    TrainResult result;
    while (!ended()) {
      RoundReport report = play_round();
      const double seconds = seconds_since(start);
      const double done = static_cast<double>(info_.round - first);
      report.seconds_left = seconds / done * static_cast<double>(rounds - info_.round);
      if (options_.time_limit_s) {
        report.seconds_left = std::clamp(*options_.time_limit_s - seconds_since(begun_), 0.0, report.seconds_left);
      }
      report.steps_per_second = done * static_cast<double>(steps_a_round()) / seconds;
      saving([&] { log.append(report); });
      if (events) events->append(report);
      if (progress_) progress_(report);
      const bool last = ended();
      result.interrupted = !last && stop && stop();
      result.out_of_time = !last && !result.interrupted && out_of_time();
      const bool stops = last || result.interrupted || result.out_of_time;
      // Everything of the round is in the log before a checkpoint of it stands: resuming cuts the log back to its mark.
      const bool best = info_.best_round == info_.round;
      saving([&] { save(log, best, stops || info_.round % info_.config.train.checkpoint_every == 0); });
      if (stops) break;
    }
    result.rounds = info_.round;
    result.rounds_here = info_.round - first;
    result.stopped_early = stops_early(info_.config.train, info_.round, info_.best_round);
    result.best_return = info_.best_return;
    result.best_round = info_.best_round;
    return result;
  }

 private:
  void write_config() const {
    try {
      write_file_atomically(options_.out / kConfigName, to_toml(info_.config));
    } catch (const Error&) {
      std::error_code ignored;
      std::filesystem::remove(options_.out, ignored);  // only a folder that is empty, so one that was just made
      throw;
    }
  }

  /// From here on no other process writes the folder, and nothing that a killed one left lies about.
  void take_folder() {
    lock_ = lock_folder(options_.out, "training");
    tidy_run_folder(options_.out);
  }

  /// Takes the run's own configuration, and what its checkpoint says; false where it has none to go on from yet.
  bool resume_info(const RawData& raw) {
    std::error_code ignored;
    if (std::filesystem::is_directory(options_.out, ignored)) take_folder();
    const std::int64_t threads = info_.config.threads;
    const auto check = [&](const CheckpointInfo& info, const std::string& origin) {
      check_resumable(info, raw, info_.backend, origin);
    };
    std::optional<CheckpointInfo> found = find_checkpoint(options_.out, options_.resume_from, check);
    if (found) {
      info_ = std::move(*found);
      saved_ = info_.round;
    } else if (const std::optional<Config> own = run_config(options_.out)) {
      info_.config = *own;
    }
    info_.config.threads = threads;
    return found.has_value();
  }

  void resume_backend() {
    const std::filesystem::path folder = options_.out / options_.resume_from;
    const TensorMap weights = read_checkpoint_weights(folder);
    for (const Network network : {Network::kOnline, Network::kTarget, Network::kCuriosity}) {
      backend_->sync(network, weights, network_prefix(network), weights.origin());
    }
    const TensorMap state = read_checkpoint_state(folder);
    backend_->load_state(state, state.origin());
  }

  static double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
  }

  /// Whether there is nothing more to do, however often the run is resumed.
  bool ended() const {
    const TrainConfig& c = info_.config.train;
    return info_.round >= c.rounds || stops_early(c, info_.round, info_.best_round);
  }

  /// The checkpoint is to be written within the limit too.
  bool out_of_time() const {
    return options_.time_limit_s && seconds_since(begun_) + longest_save_s_ >= *options_.time_limit_s;
  }

  void save(const RunLog& log, bool best, bool last) {
    if (!best && !last) return;
    const Clock::time_point start = Clock::now();
    info_.log = log.mark();
    if (best) write_checkpoint(options_.out / kBest, info_, *backend_);
    if (last) {
      // A checkpoint that an interruption wrote gives way to the next one: what a run leaves does not tell that it was
      // interrupted.
      const bool keep = saved_ % info_.config.train.checkpoint_every == 0;
      write_checkpoint(options_.out / kLast, info_, *backend_, keep ? options_.out / kPrevious : "");
      saved_ = info_.round;
    }
    longest_save_s_ = std::max(longest_save_s_, seconds_since(start));
  }

  /// A disk that is full, or gone, ends the training: says how to go on.
  void saving(const std::function<void()>& write) const {
    try {
      write();
    } catch (const Error& e) {
      fail("{}. The training ends in round {}; once that is put right, --resume goes on {}", e.what(), info_.round,
           saved_ > 0 ? fmt::format("after round {}, of which there is a checkpoint", saved_)
                      : std::string("from the beginning: there was no checkpoint yet"));
    }
  }

  std::int64_t steps_a_round() const { return info_.config.collect.episodes * info_.config.collect.steps; }

  /// One round; then info_.round counts it.
  RoundReport play_round() {
    const Config& c = info_.config;
    const double round = static_cast<double>(info_.round);
    const double rounds = static_cast<double>(c.train.rounds);
    RoundReport r;
    r.rounds = c.train.rounds;
    r.epsilon =
        linear_schedule(c.collect.epsilon_start, c.collect.epsilon_end, round, rounds * c.collect.epsilon_decay);
    r.learning_rate = linear_schedule(c.learn.learning_rate, c.learn.learning_rate_end, round, rounds);

    CollectRequest collect;
    collect.epsilon = r.epsilon;
    const CollectStats collected = backend_->collect(collect);
    const double beta = linear_schedule(c.replay.beta_start, c.replay.beta_end, round, rounds);
    const LearnStats learned = backend_->learn({c.train.updates_per_round, r.learning_rate, beta});
    if (c.env.curiosity_weight > 0 && info_.round % c.curiosity.every == 0) {
      r.curiosity_loss = backend_->train_curiosity().loss;
    }
    ++info_.round;
    info_.updates += c.train.updates_per_round;
    r.round = info_.round;
    r.steps = info_.round * steps_a_round();
    r.updates = info_.updates;
    r.reward = collected.mean_reward;
    r.step_return = collected.mean_return;
    r.episodes = collected.episodes;
    r.ruins = collected.ruins;
    r.largest_reward = collected.largest_reward;
    r.loss = learned.loss;
    r.q = learned.q;
    r.abs_q = learned.abs_q;
    r.gradient_norm = learned.gradient_norm;
    check_health(learned);
    if (info_.round % c.train.evaluate_every == 0 || info_.round == c.train.rounds) evaluate(r);
    r.best_return = info_.best_return;
    if (c.train.alarms) r.alarms = check_alarms(c, r, info_.alarms);
    if (stops_early(c.train, info_.round, info_.best_round)) {
      r.stop = fmt::format("train.early_stop: {} evaluations without a new best validation return",
                           evaluations_since_best(info_.round, info_.best_round, c.train.evaluate_every));
    }
    return r;
  }

  void check_health(const LearnStats& s) const {
    const bool finite = std::isfinite(s.loss) && std::isfinite(s.gradient_norm) && std::isfinite(s.abs_q);
    if (finite && s.abs_q <= info_.config.train.divergence_q) return;
    const bool kept = std::filesystem::exists(options_.out / kLast);
    fail(
        "training diverged in round {}: loss {}, mean |Q| {}, gradient norm {}; {}. What helps: a smaller "
        "learn.learning_rate or learn.gamma, a smaller env.reward_scale, a smaller learn.clip_norm",
        info_.round, s.loss, s.abs_q, s.gradient_norm,
        kept ? "the last checkpoint from before it is " + (options_.out / kLast).string()
             : std::string("there is no checkpoint from before it"));
  }

  /// Plays the greedy policy on the validation split.
  void evaluate(RoundReport& r) {
    const std::vector<float> weights = backend_->weights(Network::kOnline);
    const std::vector<Trace> traces = play_greedy(info_.config, weights, validation_);
    const double value = mean_total_return(traces);
    r.validation_return = value;
    const TopExposure top = top_exposure(info_.config, traces);
    r.validation_steps = top.steps;
    r.top_exposure = top.exposure;
    r.top_share = top.share;
    if (info_.best_return && !(value > *info_.best_return)) return;
    info_.best_return = value;
    info_.best_round = info_.round;
  }

  TrainOptions options_;
  std::function<void(const RoundReport&)> progress_;
  const Clock::time_point begun_ = Clock::now();
  double longest_save_s_ = 0;
  CheckpointInfo info_;
  std::int64_t saved_ = 0;  // round of the last checkpoint; 0: none yet
  Descriptor lock_;
  Dataset validation_;
  std::unique_ptr<Backend> backend_;
};

}  // namespace

TrainResult train(const TrainOptions& options, const std::function<void(const RoundReport&)>& progress,
                  const std::function<bool()>& stop) {
  return Training(options, progress).run(stop);
}

}  // namespace warptape
