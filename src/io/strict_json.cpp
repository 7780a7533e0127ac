#include "io/strict_json.h"

#include <set>
#include <string>
#include <vector>

#include "warptape/error.h"

namespace warptape {
namespace {

// "[json.exception.parse_error.101] parse error at ..." without the library's own number.
std::string plain_message(const nlohmann::json::exception& error) {
  const std::string_view text = error.what();
  const std::size_t end = text.find("] ");
  return std::string(end == std::string_view::npos ? text : text.substr(end + 2));
}

}  // namespace

nlohmann::json parse_strict_json(std::string_view text, std::string_view origin, int max_depth) {
  using Event = nlohmann::json::parse_event_t;
  std::vector<std::set<std::string>> keys_of_open_objects;
  const auto inspect = [&](int depth, Event event, nlohmann::json& parsed) {
    if ((event == Event::object_start || event == Event::array_start) && depth >= max_depth) {
      fail("{}: the JSON is nested deeper than {} levels", origin, max_depth);
    }
    if (event == Event::object_start) keys_of_open_objects.emplace_back();
    if (event == Event::object_end) keys_of_open_objects.pop_back();
    if (event == Event::key && !keys_of_open_objects.back().insert(parsed.get<std::string>()).second) {
      fail("{}: the name '{}' stands twice in one JSON object", origin, parsed.get<std::string>());
    }
    return true;
  };
  try {
    return nlohmann::json::parse(text, inspect);
  } catch (const nlohmann::json::exception& error) {
    fail("{}: not valid JSON: {}", origin, plain_message(error));
  }
}

}  // namespace warptape
