#include "train/run_log.h"

#include <fcntl.h>

#include <cerrno>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <system_error>

#include "io/atomic_file.h"
#include "io/checksum.h"
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

/// What the mark covers. Throws Error where the log is shorter or other than that.
std::string marked_part(const std::filesystem::path& file, const LogMark& mark) {
  std::string text = read_file(file);
  const bool whole =
      text.size() >= mark.bytes && xxh3_128_hex(std::as_bytes(std::span(text.data(), mark.bytes))) == mark.xxh3_128;
  if (!whole) {
    fail(
        "'{}' was changed since the checkpoint was written: its first {} bytes are not those that were logged until "
        "then; put the file back, or remove it to go on with a log that begins at the checkpoint",
        file.string(), mark.bytes);
  }
  text.resize(mark.bytes);
  return text;
}

bool goes_on(const std::filesystem::path& file, const LogMark& mark) {
  std::error_code ignored;
  return !mark.xxh3_128.empty() && std::filesystem::exists(file, ignored);
}

}  // namespace

void check_log(const std::filesystem::path& file, const LogMark& mark) {
  if (goes_on(file, mark)) marked_part(file, mark);
}

RunLog::RunLog(const std::filesystem::path& file, const LogMark& mark) : file_(file) {
  write_file_atomically(file, goes_on(file, mark) ? marked_part(file, mark) : "");
}

void RunLog::append(const RoundReport& report) {
  const Descriptor out(::open(file_.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666));
  if (!out.valid()) fail_system("write", file_, errno);
  const std::string line = to_line(report);
  if (const int failed = write_all(out.get(), line.data(), line.size())) fail_system("write", file_, failed);
}

LogMark RunLog::mark() const {
  const Descriptor log(::open(file_.c_str(), O_WRONLY | O_CLOEXEC));
  if (!log.valid()) fail_system("write", file_, errno);
  if (const int failed = sync_descriptor(log.get())) fail_system("write", file_, failed);
  const std::string text = read_file(file_);
  return {text.size(), xxh3_128_hex(std::as_bytes(std::span(text)))};
}

}  // namespace warptape
