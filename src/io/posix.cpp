#include "io/posix.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "warptape/error.h"

namespace warptape {

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  if (this != &other) {
    reset();
    fd_ = other.release();
  }
  return *this;
}

void Descriptor::reset() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

int Descriptor::release() {
  return std::exchange(fd_, -1);
}

namespace {

const char* advice(int error) {
  switch (error) {
    case ENOSPC:
    case EDQUOT:
      return "; free some space, or write to another disk";
    case EFBIG:
      return "; raise the limit on file sizes (ulimit -f), or write to another disk";
    case EACCES:
    case EPERM:
      return "; change its permissions, or choose another place";
    case EROFS:
      return "; choose a place that is not read-only";
    case EMFILE:
      return "; raise the limit on open files (ulimit -n)";
    case ENAMETOOLONG:
      return "; choose a shorter name";
    case EIO:
      return "; the disk may be failing";
    default:
      return "";
  }
}

}  // namespace

std::string system_reason(int error) {
  return std::generic_category().message(error) + advice(error);
}

void fail_system(std::string_view action, const std::filesystem::path& file, int error) {
  fail("cannot {} '{}': {}", action, file.string(), system_reason(error));
}

std::filesystem::path folder_of(const std::filesystem::path& file) {
  return file.has_parent_path() ? file.parent_path() : std::filesystem::path(".");
}

int write_all(int fd, const void* data, std::size_t size) {
  const auto* next = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t written = ::write(fd, next, size);
    if (written < 0) {
      if (errno == EINTR) continue;
      return errno;
    }
    next += written;
    size -= static_cast<std::size_t>(written);
  }
  return 0;
}

int sync_descriptor(int fd) {
  while (::fsync(fd) != 0) {
    if (errno == EINTR) continue;
    return errno == EINVAL || errno == ENOTSUP || errno == EROFS ? 0 : errno;
  }
  return 0;
}

int sync_folder(const std::filesystem::path& folder) {
  const Descriptor descriptor(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!descriptor.valid()) return errno == EACCES ? 0 : errno;
  return sync_descriptor(descriptor.get());
}

}  // namespace warptape
