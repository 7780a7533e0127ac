// Host-side checks of what must hold if the program is right. They read aloud and print both values.
#pragma once

#include <fmt/format.h>

#include <stdexcept>

namespace warptape {

/// A broken invariant: a bug in warptape, never the user's fault.
class Bug : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

namespace detail {
template <typename A, typename B>
[[noreturn]] void check_failed(const char* expression, const A& a, const B& b, const char* file, int line) {
  throw Bug(fmt::format("{}:{}: check failed: {} ({} against {})", file, line, expression, a, b));
}
[[noreturn]] inline void check_failed(const char* expression, const char* file, int line) {
  throw Bug(fmt::format("{}:{}: check failed: {}", file, line, expression));
}
}  // namespace detail

#define CHECK(condition) ((condition) ? void(0) : ::warptape::detail::check_failed(#condition, __FILE__, __LINE__))
#define CHECK_OP_(a, op, b) \
  (((a)op(b)) ? void(0) : ::warptape::detail::check_failed(#a " " #op " " #b, (a), (b), __FILE__, __LINE__))
#define CHECK_EQ(a, b) CHECK_OP_(a, ==, b)
#define CHECK_LT(a, b) CHECK_OP_(a, <, b)
#define CHECK_LE(a, b) CHECK_OP_(a, <=, b)
#define CHECK_GE(a, b) CHECK_OP_(a, >=, b)

}  // namespace warptape
