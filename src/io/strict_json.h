// JSON out of files that anyone may have written: what a lenient parser lets pass silently is an Error here.
#pragma once

#include <nlohmann/json.hpp>
#include <string_view>

namespace warptape {

/// Parses JSON text, refusing repeated keys and nesting deeper than `max_depth` objects and arrays. Throws Error that
/// begins with `origin` and says what is wrong and where.
nlohmann::json parse_strict_json(std::string_view text, std::string_view origin, int max_depth);

}  // namespace warptape
