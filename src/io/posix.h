// What the file code needs of POSIX: descriptors that close themselves, and errno as an Error that a user can act on.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace warptape {

/// A file descriptor that is closed when it goes out of scope; -1 is none.
class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(other.release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor() { reset(); }

  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }
  void reset();

 private:
  int release();
  int fd_;
};

/// The system's reason for an errno value and what a user can do about it.
std::string system_reason(int error);

/// Throws the Error "cannot ACTION 'FILE': REASON".
[[noreturn]] void fail_system(std::string_view action, const std::filesystem::path& file, int error);

/// The folder that holds `file`: "." for a bare name.
std::filesystem::path folder_of(const std::filesystem::path& file);

/// Writes all bytes, over as many calls as it takes; 0, or the errno of the failure.
int write_all(int fd, const void* data, std::size_t size);

/// Flushes a file or folder to the disk; 0, or the errno. What cannot be flushed (a pipe, some network folders) is 0.
int sync_descriptor(int fd);

/// Makes a rename inside `folder` survive a power failure. A folder that may be written but not read counts as synced.
int sync_folder(const std::filesystem::path& folder);

}  // namespace warptape
