#include "train/run_folder.h"

#include <algorithm>
#include <system_error>
#include <vector>

#include "config/keys.h"
#include "io/atomic_file.h"
#include "io/partial.h"
#include "train/run_log.h"
#include "warptape/error.h"

namespace warptape {

namespace {

// In the order in which they are worth going on from.
constexpr const char* kCheckpoints[] = {kLast, kPrevious, kBest};

bool is_there(const std::filesystem::path& path) {
  std::error_code error;
  const bool there = std::filesystem::exists(path, error);
  if (error) fail("cannot read '{}': {}", path.string(), system_reason(error.value()));
  return there;
}

/// config.toml's, or none where there is no such file.
std::optional<Config> written_config(const std::filesystem::path& out) {
  const std::filesystem::path file = out / kConfigName;
  if (!is_there(file)) return std::nullopt;
  try {
    return load_config(file, {});
  } catch (const Error& e) {
    if (!holds_checkpoint(out)) throw;
    fail("{}; to go on with the configuration that the run's checkpoint holds, remove the file", e.what());
  }
}

/// The first key in which they differ, or none.
const Key* differing_key(const Config& one, const Config& other) {
  const Config a = deciding_config(one), b = deciding_config(other);
  const std::vector<Key>& keys = all_keys();
  const auto found = std::find_if(keys.begin(), keys.end(), [&](const Key& key) { return key.get(a) != key.get(b); });
  return found == keys.end() ? nullptr : &*found;
}

CheckpointInfo usable_checkpoint(const std::filesystem::path& out, const std::string& name,
                                 const CheckpointCheck& check) {
  const std::filesystem::path folder = out / name;
  CheckpointInfo info = read_checkpoint_info(folder);
  if (const std::optional<Config> own = written_config(out)) {
    if (const Key* key = differing_key(*own, info.config)) {
      fail("{}: is not of this run: {} is {} in it, but {} in {}; put back the one that was changed", folder.string(),
           key->name, value_text(key->get(info.config)), value_text(key->get(*own)), (out / kConfigName).string());
    }
  }
  check_log(out / kLogName, info.log);
  check(info, folder.string());
  return info;
}

}  // namespace

bool holds_checkpoint(const std::filesystem::path& out) {
  return std::any_of(std::begin(kCheckpoints), std::end(kCheckpoints),
                     [&](const char* name) { return is_there(out / name); });
}

std::optional<Config> run_config(const std::filesystem::path& out) {
  if (std::optional<Config> written = written_config(out)) return written;
  std::optional<Error> refused;
  for (const char* name : kCheckpoints) {
    if (!is_there(out / name)) continue;
    try {
      return read_checkpoint_info(out / name).config;
    } catch (const Error& e) {
      if (!refused) refused = e;
    }
  }
  if (refused) throw *refused;
  return std::nullopt;
}

void require_run_config(const Config& wanted, const std::filesystem::path& out) {
  const std::optional<Config> own = run_config(out);
  if (!own) return;
  const Key* key = differing_key(*own, wanted);
  if (!key) return;
  fail("{}: --resume goes on with the run's own configuration, in which {} is {}, not {}; only threads may be changed",
       (out / kConfigName).string(), key->name, value_text(key->get(*own)), value_text(key->get(wanted)));
}

std::optional<CheckpointInfo> find_checkpoint(const std::filesystem::path& out, const std::string& name,
                                              const CheckpointCheck& check) {
  // Before its first `last`, a run may have a best: it is made again on the way.
  if (name == kLast && !is_there(out / kLast) && !is_there(out / kPrevious)) return std::nullopt;
  std::string refusal;
  try {
    return usable_checkpoint(out, name, check);
  } catch (const Error& e) {
    refusal = e.what();
  }
  for (const std::string other : kCheckpoints) {
    if (other == name || !is_there(out / other)) continue;
    std::int64_t round = 0;
    try {
      round = usable_checkpoint(out, other, check).round;
    } catch (const Error&) {
      continue;
    }
    fail("{}. The checkpoint {} (round {}) is intact: go on from it with --resume{}", refusal, (out / other).string(),
         round, other == kLast ? "" : " --from " + other);
  }
  fail("{}", refusal);
}

void tidy_run_folder(const std::filesystem::path& out) {
  finish_interrupted_swap(out / kLast, out / kPrevious);
  finish_interrupted_swap(out / kBest);
  remove_stale_partials(out / kConfigName);
  remove_stale_partials(out / kLogName);
}

void make_last(const std::filesystem::path& out, const std::string& name) {
  if (name == kLast) return;
  if (name == kPrevious) return replace_folder(out / kPrevious, out / kLast);
  AtomicFolder copy(out / kLast);
  std::error_code error;
  std::filesystem::copy(out / name, copy.path(), error);
  if (error) fail("cannot write '{}': {}", (out / kLast).string(), system_reason(error.value()));
  copy.commit();
}

}  // namespace warptape
