#include "io/folder_lock.h"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>
#include <chrono>
#include <thread>

#include "warptape/error.h"

namespace warptape {

Descriptor lock_folder(const std::filesystem::path& folder, std::string_view activity, int attempts) {
  constexpr std::chrono::milliseconds kPause{50};
  Descriptor descriptor(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!descriptor.valid()) fail_system("read", folder, errno);
  for (int attempt = 0; attempt < attempts; ++attempt) {
    if (::flock(descriptor.get(), LOCK_EX | LOCK_NB) == 0) return descriptor;
    if (errno != EWOULDBLOCK && errno != EINTR) return Descriptor();
    std::this_thread::sleep_for(kPause);
  }
  fail("{}: another process is {} there; wait for its end, or stop it", folder.string(), activity);
}

}  // namespace warptape
