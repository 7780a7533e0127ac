// Files and folders that appear whole or not at all, even when the process is killed or the disk fills up.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

#include "io/input_file.h"  // read_file, the other half
#include "io/posix.h"

namespace warptape {

/// Writes `content` under `file`, which afterwards holds either all of it or what it held before. Throws Error naming
/// the file and the system's reason; no temporary stays behind.
void write_file_atomically(const std::filesystem::path& file, std::string_view content);

/// The same, piece by piece: nothing stands under `file` until commit(); the destructor discards what was not
/// committed. Symbolic links are followed, permissions of a replaced file are kept. A device or a pipe (/dev/stdout)
/// is written as the pieces come, since it cannot be replaced.
class AtomicFile {
 public:
  explicit AtomicFile(const std::filesystem::path& file);
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  ~AtomicFile();

  /// Throws Error (a full disk); then the temporary is gone and the object is of no further use.
  void write(const void* data, std::size_t size);
  void write(std::string_view text) { write(text.data(), text.size()); }
  /// Flushes to the disk and takes the name. Throws Error; then the file is as it was, unless it was only the flush of
  /// the folder, after the renaming, that failed.
  void commit();

 private:
  [[noreturn]] void fail_and_discard(int error);
  void discard();
  void flush();

  std::filesystem::path target_;
  std::filesystem::path partial_;  // empty: nothing to rename or discard
  Descriptor descriptor_;          // invalid once committed or discarded
  std::string buffer_;
};

/// A folder that is built beside its final name and then swapped in: at every instant either the old or the new one
/// stands whole under `folder`.
///
/// The swap is Linux's renameat2(RENAME_EXCHANGE). File systems without it (some network and FUSE ones) get two
/// renames: killed between them, the old folder stands under NAME.partial-previous, and the next construction or
/// restore_interrupted_swap puts it back; there, no second process may write or restore the same folder meanwhile.
/// What an earlier, killed process left behind is put in order at construction.
class AtomicFolder {
 public:
  /// `previous`, a name beside `folder`, is where the old folder goes instead of being removed: renamed, not copied.
  /// Throws Error when the parent is missing or not writable, or `folder` is a file.
  explicit AtomicFolder(const std::filesystem::path& folder, const std::filesystem::path& previous = {});
  AtomicFolder(const AtomicFolder&) = delete;
  AtomicFolder& operator=(const AtomicFolder&) = delete;
  ~AtomicFolder();

  /// Where to write the new content.
  const std::filesystem::path& path() const { return partial_; }
  /// Flushes all files to the disk, takes the name and removes (or keeps, as `previous`) the old folder. Throws Error;
  /// then `folder` is as it was, unless it was what follows the swap, the flush of the parent or the keeping of the old
  /// folder, that failed.
  void commit();

 private:
  std::filesystem::path target_;
  std::filesystem::path previous_;  // empty: the old folder is removed
  std::filesystem::path partial_;
  Descriptor lock_;
  bool committed_ = false;
};

/// Puts back the old folder after a swap by two renames was cut short; else does nothing. Readers of folders that an
/// AtomicFolder writes call it first.
void restore_interrupted_swap(const std::filesystem::path& folder);

/// Puts in order whatever a killed AtomicFolder(folder, previous) left behind, at whichever step: `folder` stands, what
/// was on its way to `previous` is there, nothing else remains. Only for the one process that may write `folder`: it
/// would take the work of a live one for left-overs.
void finish_interrupted_swap(const std::filesystem::path& folder, const std::filesystem::path& previous = {});

/// `folder` becomes what stands under `fresh`, at once; what it held before is removed, and so is the name `fresh`.
/// Throws Error; then both are as they were.
void replace_folder(const std::filesystem::path& fresh, const std::filesystem::path& folder);

namespace detail {
/// The swap for file systems without RENAME_EXCHANGE; `fresh` takes the name, the old folder is removed.
/// 0, or the errno; then `folder` is as it was.
int swap_by_two_renames(const std::filesystem::path& fresh, const std::filesystem::path& folder);
}  // namespace detail

}  // namespace warptape
