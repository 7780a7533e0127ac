#include "io/input_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "warptape/error.h"

namespace warptape {

InputFile::InputFile(std::filesystem::path file) : path_(std::move(file)) {
  descriptor_ = Descriptor(::open(path_.c_str(), O_RDONLY | O_CLOEXEC));
  if (!descriptor_.valid()) fail_system("read", path_, errno);
  struct stat status {};
  if (::fstat(descriptor_.get(), &status) != 0) fail_system("read", path_, errno);
  if (S_ISDIR(status.st_mode)) fail_system("read", path_, EISDIR);
  regular_ = S_ISREG(status.st_mode);
  if (regular_) size_ = static_cast<std::uint64_t>(status.st_size);
}

std::size_t InputFile::read_some(void* data, std::size_t size) {
  for (;;) {
    const ssize_t got = ::read(descriptor_.get(), data, size);
    if (got >= 0) return static_cast<std::size_t>(got);
    if (errno != EINTR) fail_system("read", path_, errno);
  }
}

void InputFile::read_exactly(void* data, std::size_t size) {
  auto* next = static_cast<char*>(data);
  while (size > 0) {
    const std::size_t got = read_some(next, size);
    if (got == 0) fail("'{}' ends {} bytes early: something shortened it while it was read", path_.string(), size);
    next += got;
    size -= got;
  }
}

std::string read_file(const std::filesystem::path& file) {
  InputFile input(file);
  std::string content;
  content.reserve(input.size());
  char piece[1 << 16];
  while (const std::size_t got = input.read_some(piece, sizeof piece)) content.append(piece, got);
  return content;
}

}  // namespace warptape
