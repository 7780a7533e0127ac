// The one declaration of every configuration key: name, where it lives, range, unit, one line.
#pragma once

#include <functional>
#include <limits>
#include <string>
#include <variant>
#include <vector>

#include "warptape/config.h"

namespace warptape {

/// A value as TOML knows it; monostate: unset.
using ConfigValue = std::variant<std::monostate, bool, std::int64_t, double, std::string, std::vector<double>,
                                 std::vector<std::string>>;

/// Bounds of a number (of each number in an array).
struct Range {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  bool above_low = false;  ///< low itself is out
};

struct Key {
  std::string name;
  std::string type;
  Range range;
  std::vector<std::string> choices;  ///< allowed strings, empty: any
  std::string unit;
  std::string help;
  std::function<ConfigValue(const Config&)> get;
  /// Stores a value of the key's own type; anything else is an Error without context (the caller adds it).
  std::function<void(Config&, const ConfigValue&)> set;
};

/// All keys in the order in which they are documented.
const std::vector<Key>& all_keys();

/// "an integer": a key's type in a sentence.
std::string with_article(const std::string& type);

/// "0.5", "[1, 2]", "\"market\"", "unset": a value as TOML writes it, shortest form that reads back equal.
std::string value_text(const ConfigValue& value);

/// "0 to 1", "> 0", "market | ioc", "any".
std::string range_text(const Key& key);

}  // namespace warptape
