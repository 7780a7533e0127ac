// The training of one agent: rounds of collecting and learning, evaluation, checkpoints.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "warptape/config.h"

namespace warptape {

struct TrainOptions {
  Config config;
  std::vector<std::filesystem::path> data;
  std::vector<std::filesystem::path> features;  ///< the user's own features, one file for each of data; or empty
  std::filesystem::path out;
  std::string backend = "auto";      ///< cpu, cuda or auto
  bool resume = false;               ///< go on with the run in `out`; where nothing was saved yet, begin it
  std::string resume_from = "last";  ///< last, previous or best: the checkpoint to go on from
  /// Ends the training after the round that passes it, counted from the call and less the time that a checkpoint takes.
  std::optional<double> time_limit_s;
};

/// A sign that a training goes wrong, in the round in which it begins.
struct Alarm {
  std::string name;  ///< "exploding_q" or "one_action"
  std::string text;  ///< what was seen and what to try
};

/// One round as the log and the progress line show it. Everything but the two times is the same on every run.
struct RoundReport {
  std::int64_t round = 0;  ///< counted from 1
  std::int64_t rounds = 0;
  std::int64_t steps = 0, updates = 0;  ///< so far
  double epsilon = 0, learning_rate = 0;
  double reward = 0;                     ///< mean of a step
  double step_return = 0;                ///< mean relative change of equity in a step
  std::int64_t episodes = 0, ruins = 0;  ///< ended in this round
  double largest_reward = 0;             ///< largest |reward| of a step
  double loss = 0, q = 0, abs_q = 0, gradient_norm = 0;
  std::optional<double> curiosity_loss;
  std::optional<double> validation_return;  ///< of the greedy policy, when this round evaluated it
  std::int64_t validation_steps = 0;        ///< steps of that evaluation
  std::optional<double> top_exposure;       ///< the exposure that its actions name most often
  std::optional<double> top_share;          ///< the part of its steps in which they do
  std::optional<double> best_return;        ///< the highest so far
  std::vector<Alarm> alarms;
  std::string stop;  ///< why the training ends before its last round; empty: it does not, or someone stopped it
  double seconds_left = 0;
  double steps_per_second = 0;
};

struct TrainResult {
  std::int64_t rounds = 0;       ///< done, those before a resume included
  std::int64_t rounds_here = 0;  ///< done by this call
  bool interrupted = false;      ///< `stop` said so
  bool out_of_time = false;      ///< options.time_limit_s is over
  bool stopped_early = false;    ///< train.early_stop; resuming does nothing more
  std::optional<double> best_return;
  std::int64_t best_round = 0;
};

/// Trains until train.rounds are done, train.early_stop or options.time_limit_s ends it or `stop` says so (asked
/// between rounds), and writes into options.out: config.toml, log.jsonl, tensorboard/, last/, previous/ (the checkpoint
/// before last) and best/. Throws Error on bad input (before anything is written), on a folder that already holds a run
/// unless options.resume, on a folder into which another process trains, and on divergence (the last checkpoint from
/// before it is kept).
///
/// A resumed run takes options.threads; everything else comes from the run. Killed at any moment and resumed as often
/// as need be, it leaves the bytes of a run that was never stopped (event files, which hold times, apart).
TrainResult train(const TrainOptions& options, const std::function<void(const RoundReport&)>& progress,
                  const std::function<bool()>& stop);

}  // namespace warptape
