#include "train/run_log.h"

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "io/atomic_file.h"
#include "warptape/error.h"

namespace warptape {

namespace {

using nlohmann::ordered_json;

std::string to_line(const RoundReport& r) {
  ordered_json j = {{"round", r.round},
                    {"steps", r.steps},
                    {"updates", r.updates},
                    {"epsilon", r.epsilon},
                    {"learning_rate", r.learning_rate},
                    {"reward", r.reward},
                    {"step_return", r.step_return},
                    {"largest_reward", r.largest_reward},
                    {"episodes", r.episodes},
                    {"ruins", r.ruins},
                    {"loss", r.loss},
                    {"q", r.q},
                    {"abs_q", r.abs_q},
                    {"gradient_norm", r.gradient_norm}};
  if (r.curiosity_loss) j["curiosity_loss"] = *r.curiosity_loss;
  if (r.validation_return) j["validation_return"] = *r.validation_return;
  if (r.best_return) j["best_return"] = *r.best_return;
  if (r.top_exposure) j["top_exposure"] = *r.top_exposure;
  if (r.top_share) j["top_share"] = *r.top_share;
  for (const Alarm& alarm : r.alarms) j["alarms"][alarm.name] = alarm.text;
  if (!r.stop.empty()) j["stop"] = r.stop;
  return j.dump() + "\n";
}

/// The lines of `text` up to the round, whole lines only: a killed process may have left half a line.
std::string lines_until(const std::string& text, std::int64_t last_round) {
  std::size_t kept = 0;
  while (true) {
    const std::size_t end = text.find('\n', kept);
    if (end == std::string::npos) break;
    const auto line = nlohmann::json::parse(text.substr(kept, end - kept), nullptr, false);
    if (!line.is_object() || line.value("round", std::int64_t{0}) > last_round) break;
    kept = end + 1;
  }
  return text.substr(0, kept);
}

}  // namespace

RunLog::RunLog(const std::filesystem::path& file, std::int64_t last_round) : file_(file) {
  const bool goes_on = last_round > 0 && std::filesystem::exists(file);
  write_file_atomically(file, goes_on ? lines_until(read_file(file), last_round) : "");
}

void RunLog::append(const RoundReport& report) {
  std::ofstream out(file_, std::ios::binary | std::ios::app);
  out << to_line(report);
  out.flush();
  if (!out) fail("{}: cannot be written (is the disk full?); the last checkpoint stands", file_.string());
}

}  // namespace warptape
