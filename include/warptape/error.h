// The one exception of warptape: what is wrong, where, and what to do about it.
#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace warptape {

/// A mistake of the user's (bad input, a bad option, a full disk): its message is printed as it is, so it names
/// file, row or line, column and value, and says what to do. Bugs are CHECKs, not Errors.
class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& message) : std::runtime_error(message) {}
};

/// Throws an Error with a formatted message.
template <typename... Args>
[[noreturn]] void fail(fmt::format_string<Args...> format, Args&&... args) {
  throw Error(fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace warptape
