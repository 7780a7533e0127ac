#include "io/atomic_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <system_error>

#include "core/check.h"
#include "io/partial.h"
#include "warptape/error.h"

namespace warptape {
namespace {

constexpr std::size_t kBufferBytes = 1 << 16;

// Through symbolic links: renaming over a link would replace the link and leave the file it names as it was.
std::filesystem::path through_links(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::is_symlink(path, error)) return path;
  std::filesystem::path real = std::filesystem::canonical(path, error);
  return error ? path : real;
}

std::filesystem::path without_trailing_slash(const std::filesystem::path& path) {
  return path.has_filename() ? path : path.parent_path();
}

std::filesystem::path previous_of(const std::filesystem::path& folder) {
  std::filesystem::path previous = folder;
  previous += ".partial-previous";
  return previous;
}

int rename_path(const std::filesystem::path& from, const std::filesystem::path& to) {
  return std::rename(from.c_str(), to.c_str()) == 0 ? 0 : errno;
}

// Files first, then the folder that names them. 0, or the errno with the path in `culprit`.
int sync_tree(const std::filesystem::path& folder, std::filesystem::path& culprit) {
  std::error_code error;
  for (std::filesystem::recursive_directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    culprit = entry->path();
    const std::filesystem::file_status status = entry->symlink_status(error);
    if (error) break;
    if (status.type() != std::filesystem::file_type::regular &&
        status.type() != std::filesystem::file_type::directory) {
      continue;
    }
    const Descriptor descriptor(::open(culprit.c_str(), O_RDONLY | O_CLOEXEC));
    if (!descriptor.valid()) return errno;
    if (const int failed = sync_descriptor(descriptor.get())) return failed;
  }
  if (error) return error.value();
  culprit = folder;
  return sync_folder(folder);
}

bool exchange_unsupported(int error) {
  return error == EINVAL || error == ENOSYS || error == ENOTSUP;
}

int exchange_paths(const std::filesystem::path& one, const std::filesystem::path& other) {
  return ::renameat2(AT_FDCWD, one.c_str(), AT_FDCWD, other.c_str(), RENAME_EXCHANGE) == 0 ? 0 : errno;
}

// The new folder under the name, the old one (if any) removed. 0, or the errno; then `folder` is as it was.
int swap_in(const std::filesystem::path& fresh, const std::filesystem::path& folder) {
  const int refused = exchange_paths(fresh, folder);
  if (refused == 0) {
    const int failed = sync_folder(folder_of(folder));
    // What cannot be removed now is a stale partial: no reason to call the new folder unsaved.
    std::error_code ignored;
    std::filesystem::remove_all(fresh, ignored);
    return failed;
  }
  if (exchange_unsupported(refused)) return detail::swap_by_two_renames(fresh, folder);
  if (refused != ENOENT) return refused;
  if (const int failed = rename_path(fresh, folder)) return failed;
  return sync_folder(folder_of(folder));
}

// What stands under `old` takes the name `previous`; what stood there is removed. Killed in the middle, `old` stands
// still, so that doing it again is all that there is to mend. 0, or the errno.
int keep_as_previous(const std::filesystem::path& old, const std::filesystem::path& previous) {
  remove_stale_partials(previous);
  std::filesystem::path discarded = previous;
  discarded += ".partial-" + std::to_string(::getpid());  // stale from the beginning: nobody locks it
  const int moved = rename_path(previous, discarded);
  if (moved != 0 && moved != ENOENT) return moved;
  const int renamed = rename_path(old, previous);
  std::error_code ignored;
  if (renamed == EXDEV) {
    std::filesystem::remove_all(old, ignored);  // `folder` is a link to another disk: there is no keeping by a rename
  } else if (renamed != 0) {
    return renamed;
  }
  const int failed = sync_folder(folder_of(previous));
  std::filesystem::remove_all(discarded, ignored);
  return failed;
}

// The new folder under the name, the old one under `previous`. Every step of it leaves `folder` whole, and what
// finish_interrupted_swap() makes of it is right without knowing which step it was: under NAME.partial-previous lies
// either the old folder or, before the exchange, the new one, and either may be kept as the previous one.
int rotate_in(const std::filesystem::path& fresh, const std::filesystem::path& folder,
              const std::filesystem::path& previous) {
  const std::filesystem::path old = previous_of(folder);
  if (const int failed = rename_path(fresh, old)) return failed;
  if (const int refused = exchange_paths(old, folder)) {
    if (const int failed = rename_path(old, fresh)) return failed;
    if (!exchange_unsupported(refused)) return refused;
    if (const int failed = rename_path(folder, old)) return failed;
    if (const int failed = rename_path(fresh, folder)) {
      rename_path(old, folder);
      return failed;
    }
  }
  if (const int failed = sync_folder(folder_of(folder))) return failed;
  return keep_as_previous(old, previous);
}

}  // namespace

void write_file_atomically(const std::filesystem::path& file, std::string_view content) {
  AtomicFile output(file);
  output.write(content);
  output.commit();
}

AtomicFile::AtomicFile(const std::filesystem::path& file) : target_(file) {
  struct stat status {};
  const bool exists = ::stat(file.c_str(), &status) == 0;
  if (!file.has_filename() || (exists && S_ISDIR(status.st_mode))) fail_system("write", file, EISDIR);
  if (exists && !S_ISREG(status.st_mode)) {  // renaming over /dev/null would take it from the whole machine
    descriptor_ = Descriptor(::open(file.c_str(), O_WRONLY | O_CLOEXEC));
    if (!descriptor_.valid()) fail_system("write", file, errno);
    return;
  }
  target_ = through_links(file);
  remove_stale_partials(target_);
  Partial partial = create_partial(target_, PartialKind::kFile);
  partial_ = std::move(partial.path);
  descriptor_ = std::move(partial.descriptor);
  // Where the mode cannot be kept (a foreign file system), the default one is no reason to fail.
  if (exists) static_cast<void>(::fchmod(descriptor_.get(), status.st_mode & 07777));
}

AtomicFile::~AtomicFile() {
  discard();
}

void AtomicFile::discard() {
  if (!partial_.empty()) ::unlink(partial_.c_str());
  partial_.clear();
  descriptor_.reset();
}

void AtomicFile::fail_and_discard(int error) {
  discard();
  fail_system("write", target_, error);
}

void AtomicFile::flush() {
  if (const int failed = write_all(descriptor_.get(), buffer_.data(), buffer_.size())) fail_and_discard(failed);
  buffer_.clear();
}

void AtomicFile::write(const void* data, std::size_t size) {
  CHECK(descriptor_.valid());
  if (buffer_.size() + size > kBufferBytes) flush();
  if (size < kBufferBytes) {
    buffer_.append(static_cast<const char*>(data), size);
  } else if (const int failed = write_all(descriptor_.get(), data, size)) {
    fail_and_discard(failed);
  }
}

void AtomicFile::commit() {
  CHECK(descriptor_.valid());
  flush();
  if (const int failed = sync_descriptor(descriptor_.get())) fail_and_discard(failed);
  if (!partial_.empty()) {
    // Still open, thus locked: nobody takes the partial for a stale one before it has its name.
    if (const int failed = rename_path(partial_, target_)) fail_and_discard(failed);
    partial_.clear();
    if (const int failed = sync_folder(folder_of(target_))) fail_and_discard(failed);
  }
  descriptor_.reset();
}

AtomicFolder::AtomicFolder(const std::filesystem::path& folder, const std::filesystem::path& previous)
    : target_(through_links(without_trailing_slash(folder))), previous_(previous) {
  const std::filesystem::path name = target_.filename();
  if (name.empty() || name == "." || name == "..") {
    fail("cannot write the folder '{}': give it a name of its own", folder.string());
  }
  std::error_code ignored;
  const std::filesystem::file_status status = std::filesystem::symlink_status(target_, ignored);
  if (std::filesystem::exists(status) && !std::filesystem::is_directory(status)) {
    fail("cannot write the folder '{}': a file of that name is in the way; remove it or choose another name",
         folder.string());
  }
  finish_interrupted_swap(target_, previous_);
  Partial partial = create_partial(target_, PartialKind::kFolder);
  partial_ = std::move(partial.path);
  lock_ = std::move(partial.descriptor);
}

AtomicFolder::~AtomicFolder() {
  std::error_code ignored;
  if (!committed_) std::filesystem::remove_all(partial_, ignored);
}

void AtomicFolder::commit() {
  CHECK(!committed_);
  std::filesystem::path culprit;
  if (const int failed = sync_tree(partial_, culprit)) fail_system("write", culprit, failed);
  std::error_code ignored;
  const bool keeps = !previous_.empty() && std::filesystem::exists(target_, ignored);
  if (const int failed = keeps ? rotate_in(partial_, target_, previous_) : swap_in(partial_, target_)) {
    fail_system("write", target_, failed);
  }
  committed_ = true;
}

void restore_interrupted_swap(const std::filesystem::path& folder) {
  const std::filesystem::path target = through_links(without_trailing_slash(folder));
  const std::filesystem::path previous = previous_of(target);
  std::error_code error;
  if (std::filesystem::exists(target, error) || !std::filesystem::exists(previous, error)) return;
  if (const int failed = rename_path(previous, target)) fail_system("restore", target, failed);
}

void finish_interrupted_swap(const std::filesystem::path& folder, const std::filesystem::path& previous) {
  restore_interrupted_swap(folder);
  const std::filesystem::path target = through_links(without_trailing_slash(folder));
  const std::filesystem::path old = previous_of(target);
  std::error_code error;
  if (std::filesystem::exists(old, error)) {  // what followed the swap was not done
    if (previous.empty()) {
      std::filesystem::remove_all(old, error);
    } else if (const int failed = keep_as_previous(old, previous)) {
      fail_system("write", previous, failed);
    }
  }
  remove_stale_partials(target);
  if (!previous.empty()) remove_stale_partials(previous);
}

void replace_folder(const std::filesystem::path& fresh, const std::filesystem::path& folder) {
  const std::filesystem::path target = through_links(without_trailing_slash(folder));
  if (const int failed = swap_in(fresh, target)) fail_system("write", target, failed);
}

int detail::swap_by_two_renames(const std::filesystem::path& fresh, const std::filesystem::path& folder) {
  const std::filesystem::path previous = previous_of(folder);
  const int moved = rename_path(folder, previous);
  if (moved != 0 && moved != ENOENT) return moved;  // a kernel without renameat2 does not say that there is no folder
  if (const int failed = rename_path(fresh, folder)) {
    if (moved == 0) rename_path(previous, folder);
    return failed;
  }
  const int failed = sync_folder(folder_of(folder));
  std::error_code ignored;
  std::filesystem::remove_all(previous, ignored);
  return failed;
}

}  // namespace warptape
