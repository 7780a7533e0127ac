// Reading files whole or piece by piece, with errors that name the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>

#include "io/posix.h"

namespace warptape {

/// A file open for reading from front to back. Throws Error where it cannot be opened or read, or is a folder.
class InputFile {
 public:
  explicit InputFile(std::filesystem::path file);

  const std::filesystem::path& path() const { return path_; }
  /// A plain file, so that size() means something; pipes and devices are not.
  bool is_regular() const { return regular_; }
  std::uint64_t size() const { return size_; }  ///< bytes, when the file was opened; 0 unless it is a plain file

  /// Up to `size` bytes; 0 only at the end of the file.
  std::size_t read_some(void* data, std::size_t size);
  /// Exactly `size` bytes; throws Error when the file ends before.
  void read_exactly(void* data, std::size_t size);

 private:
  std::filesystem::path path_;
  Descriptor descriptor_;
  bool regular_ = false;
  std::uint64_t size_ = 0;
};

/// The whole content of a file, a pipe or a device; throws Error naming it and the system's reason.
std::string read_file(const std::filesystem::path& file);

}  // namespace warptape
