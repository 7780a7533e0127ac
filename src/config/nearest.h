// What a mistyped name was meant to be.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace warptape {

/// Insertions, deletions, substitutions and swaps of neighbours that make b out of a (optimal string alignment).
std::size_t edit_distance(std::string_view a, std::string_view b);

/// The name that `typed` is most likely to mean; `names` is not empty. Case counts nothing, "-" is "_". A dotted name
/// is near when it is spelled nearly so as a whole; when its last part is, under another group or none; or when the
/// last part typed is some of its words ("learn.rate" of "learn.learning_rate").
const std::string& nearest_name(std::string_view typed, std::span<const std::string> names);

}  // namespace warptape
