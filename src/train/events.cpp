#include "train/events.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "io/crc32c.h"
#include "train/event.pb.h"
#include "warptape/error.h"

namespace warptape {

namespace {

constexpr std::string_view kPrefix = "events.out.tfevents.";
constexpr int kStart = 1;       // SessionLog.START
constexpr int kStringType = 7;  // DT_STRING

using Number = std::optional<double>;

struct Scalar {
  const char* tag;
  Number (*value)(const RoundReport&);
};

constexpr Scalar kScalars[] = {
    {"collect/reward", [](const RoundReport& r) { return Number(r.reward); }},
    {"collect/return", [](const RoundReport& r) { return Number(r.step_return); }},
    {"collect/largest_reward", [](const RoundReport& r) { return Number(r.largest_reward); }},
    {"collect/epsilon", [](const RoundReport& r) { return Number(r.epsilon); }},
    {"collect/steps", [](const RoundReport& r) { return Number(static_cast<double>(r.steps)); }},
    {"collect/episodes", [](const RoundReport& r) { return Number(static_cast<double>(r.episodes)); }},
    {"collect/ruins", [](const RoundReport& r) { return Number(static_cast<double>(r.ruins)); }},
    {"learn/loss", [](const RoundReport& r) { return Number(r.loss); }},
    {"learn/q", [](const RoundReport& r) { return Number(r.q); }},
    {"learn/abs_q", [](const RoundReport& r) { return Number(r.abs_q); }},
    {"learn/gradient_norm", [](const RoundReport& r) { return Number(r.gradient_norm); }},
    {"learn/learning_rate", [](const RoundReport& r) { return Number(r.learning_rate); }},
    {"learn/updates", [](const RoundReport& r) { return Number(static_cast<double>(r.updates)); }},
    {"learn/curiosity_loss", [](const RoundReport& r) { return r.curiosity_loss; }},
    {"evaluate/validation_return", [](const RoundReport& r) { return r.validation_return; }},
    {"evaluate/best_return", [](const RoundReport& r) { return r.best_return; }},
    {"evaluate/top_exposure", [](const RoundReport& r) { return r.top_exposure; }},
    {"evaluate/top_share", [](const RoundReport& r) { return r.top_share; }},
    {"speed/steps_per_second", [](const RoundReport& r) { return Number(r.steps_per_second); }},
};

double now() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

void put_little_endian(std::string& out, std::uint64_t number, int bytes) {
  for (int i = 0; i < bytes; ++i) out.push_back(static_cast<char>(number >> (8 * i) & 0xFF));
}

/// TFRecord's checksum: rotated and shifted, since a CRC over data that holds its own CRC is weak.
std::uint32_t masked_crc(std::string_view bytes) {
  const std::uint32_t crc = crc32c(bytes);
  return (crc >> 15 | crc << 17) + 0xA282EAD8u;
}

/// length (8 bytes), its checksum (4), data, its checksum (4).
std::string record_of(const events::Event& event) {
  const std::string data = event.SerializeAsString();
  std::string record;
  put_little_endian(record, data.size(), 8);
  put_little_endian(record, masked_crc(record), 4);
  record += data;
  put_little_endian(record, masked_crc(data), 4);
  return record;
}

/// The seconds in the name of an event file; -1 for another file.
std::int64_t seconds_in(const std::filesystem::path& file) {
  const std::string name = file.filename().string();
  if (!name.starts_with(kPrefix)) return -1;
  std::int64_t seconds = -1;
  std::from_chars(name.data() + kPrefix.size(), name.data() + name.size(), seconds);
  return seconds;
}

std::vector<std::filesystem::path> event_files(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (seconds_in(entry.path()) >= 0) files.push_back(entry.path());
  }
  return files;
}

/// TensorBoard reads a folder's files in the order of their names, so a new one must sort last, even when two processes
/// begin within a second or the clock was set back.
std::filesystem::path next_name(const std::filesystem::path& folder) {
  std::int64_t seconds = static_cast<std::int64_t>(now());
  for (const auto& file : event_files(folder)) seconds = std::max(seconds, seconds_in(file) + 1);
  std::array<char, 256> host{};
  if (gethostname(host.data(), host.size() - 1) != 0 || host[0] == '\0') host = {"localhost"};
  return folder / fmt::format("{}{:010}.{}.{}", kPrefix, seconds, host.data(), getpid());
}

void add_text(events::Summary& summary, const std::string& tag, const std::string& text) {
  events::Summary::Value& value = *summary.add_value();
  value.set_tag(tag);
  value.mutable_metadata()->mutable_plugin_data()->set_plugin_name("text");
  value.mutable_tensor()->set_dtype(kStringType);
  value.mutable_tensor()->mutable_tensor_shape();  // present and without dimensions: a scalar
  value.mutable_tensor()->add_string_val(text);
}

}  // namespace

EventFile::EventFile(const std::filesystem::path& folder, std::int64_t last_round) {
  try {
    std::filesystem::create_directories(folder);
    if (last_round == 0) {
      for (const auto& file : event_files(folder)) std::filesystem::remove(file);
    }
    file_ = next_name(folder);
  } catch (const std::filesystem::filesystem_error& e) {
    fail_system("write event files into", folder, e.code().value());
  }
  descriptor_ = Descriptor(::open(file_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666));
  if (!descriptor_.valid()) fail_system("create", file_, errno);
  events::Event version;
  version.set_wall_time(now());
  version.set_file_version("brain.Event:2");
  // A second START makes TensorBoard drop everything at or after its step: rounds that a killed process logged after
  // the checkpoint are played again. The first one it only takes note of, so every file has one.
  events::Event start;
  start.set_wall_time(now());
  start.set_step(last_round + 1);
  start.mutable_session_log()->set_status(kStart);
  write(record_of(version) + record_of(start));
}

void EventFile::append(const RoundReport& report) {
  events::Event event;
  event.set_wall_time(now());
  event.set_step(report.round);
  events::Summary& summary = *event.mutable_summary();
  for (const Scalar& scalar : kScalars) {
    const Number number = scalar.value(report);
    if (!number) continue;
    events::Summary::Value& value = *summary.add_value();
    value.set_tag(scalar.tag);
    value.set_simple_value(static_cast<float>(*number));
  }
  for (const Alarm& alarm : report.alarms) add_text(summary, "alarm/" + alarm.name, alarm.text);
  write(record_of(event));
}

void EventFile::write(std::string_view bytes) {
  const int error = write_all(descriptor_.get(), bytes.data(), bytes.size());
  if (error != 0) fail_system("write", file_, error);
}

}  // namespace warptape
