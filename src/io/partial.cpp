#include "io/partial.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "warptape/error.h"

namespace warptape {
namespace {

constexpr std::string_view kSuffix = ".partial-";

bool all_digits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// "NAME.partial-123" or "NAME.partial-123-4": nothing else is ours to remove.
bool is_partial_of(std::string_view name, std::string_view target) {
  if (!name.starts_with(target) || !name.substr(target.size()).starts_with(kSuffix)) return false;
  const std::string_view number = name.substr(target.size() + kSuffix.size());
  const std::size_t dash = number.find('-');
  if (dash == std::string_view::npos) return all_digits(number);
  return all_digits(number.substr(0, dash)) && all_digits(number.substr(dash + 1));
}

bool names_descriptor(const std::filesystem::path& path, int fd) {
  struct stat by_name {
  }, by_descriptor{};
  return ::lstat(path.c_str(), &by_name) == 0 && ::fstat(fd, &by_descriptor) == 0 &&
         by_name.st_dev == by_descriptor.st_dev && by_name.st_ino == by_descriptor.st_ino;
}

// The new entry, or none with errno set.
Descriptor create_exclusively(const std::filesystem::path& path, PartialKind kind) {
  if (kind == PartialKind::kFile)
    return Descriptor(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (::mkdir(path.c_str(), 0777) != 0) return Descriptor();
  return Descriptor(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

[[noreturn]] void fail_to_create(const std::filesystem::path& target, int error) {
  std::error_code ignored;
  if (error == ENOENT && !std::filesystem::exists(folder_of(target), ignored)) {
    fail("cannot write '{}': there is no folder '{}'; create it first", target.string(), folder_of(target).string());
  }
  fail_system("write", target, error);
}

}  // namespace

Partial create_partial(const std::filesystem::path& target, PartialKind kind) {
  constexpr int kAttempts = 1000;
  int error = EEXIST;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    std::filesystem::path path = target;
    path +=
        attempt == 0 ? fmt::format("{}{}", kSuffix, ::getpid()) : fmt::format("{}{}-{}", kSuffix, ::getpid(), attempt);
    Descriptor descriptor = create_exclusively(path, kind);
    if (!descriptor.valid()) {
      error = errno;
      if (error == EEXIST) continue;  // another writer of the same target, here or in another container
      fail_to_create(target, error);
    }
    // Before it was locked it looked stale: whoever holds the lock, or unlinked the name, is removing it.
    const bool taken = ::flock(descriptor.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    if (!taken && names_descriptor(path, descriptor.get())) return {std::move(path), std::move(descriptor)};
  }
  fail_to_create(target, error);
}

void remove_stale_partials(const std::filesystem::path& target) {
  const std::string name = target.filename().string();
  std::vector<std::filesystem::path> found;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder_of(target), error), end; !error && entry != end;
       entry.increment(error)) {
    if (is_partial_of(entry->path().filename().string(), name)) found.push_back(entry->path());
  }
  for (const std::filesystem::path& path : found) {
    const Descriptor descriptor(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (!descriptor.valid() || ::flock(descriptor.get(), LOCK_EX | LOCK_NB) != 0) continue;
    if (names_descriptor(path, descriptor.get())) std::filesystem::remove_all(path, error);
  }
}

}  // namespace warptape
