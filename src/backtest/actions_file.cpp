#include "backtest/actions_file.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>

#include "env/make_params.h"
#include "warptape/error.h"

namespace warptape {

namespace {

std::string_view trim(std::string_view s) {
  const std::size_t first = s.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return s.substr(first, s.find_last_not_of(" \t\r") - first + 1);
}

std::vector<std::string> split(std::string_view line) {
  std::vector<std::string> fields;
  while (true) {
    const std::size_t comma = line.find(',');
    fields.emplace_back(trim(line.substr(0, comma)));
    if (comma == std::string_view::npos) return fields;
    line.remove_prefix(comma + 1);
  }
}

template <typename T>
std::optional<T> parse(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// One of the three lists an action is made of: where its column stands, and which entry a field names.
struct Factor {
  std::string name;
  std::vector<std::string> entries;
  std::vector<double> values;  // exposures compare as numbers: 0.50 is 0.5
  std::optional<std::size_t> column;

  std::size_t index_of(const std::string& field, const std::string& where) const {
    const std::optional<double> number = parse<double>(field);
    for (std::size_t i = 0; i < entries.size(); ++i) {
      if (values.empty() ? entries[i] == field : number && *number == values[i]) return i;
    }
    fail("{}, column {}: \"{}\" is not one of {}", where, name, field, fmt::join(entries, ", "));
  }
};

std::vector<Factor> make_factors(const EnvConfig& env) {
  std::vector<Factor> factors(3);
  factors[0].name = "exposure";
  factors[0].values = env.exposures;
  for (const double exposure : env.exposures) factors[0].entries.push_back(fmt::format("{}", exposure));
  factors[1].name = "order";
  factors[1].entries = env.order_types;
  factors[2].name = "urgency";
  for (std::size_t i = 0; i < env.urgency_cost.size(); ++i) factors[2].entries.push_back(urgency_name(env, i));
  return factors;
}

void find_columns(std::vector<Factor>& factors, const std::vector<std::string>& header, const std::string& where) {
  for (Factor& factor : factors) {
    const auto found = std::find(header.begin(), header.end(), factor.name);
    if (found != header.end()) {
      factor.column = static_cast<std::size_t>(found - header.begin());
    } else if (factor.entries.size() > 1) {
      fail("{}: the header has no column {}; write one action index a line, or a header exposure,order,urgency", where,
           factor.name);
    }
  }
}

int named_action(const std::vector<Factor>& factors, const std::vector<std::string>& fields, const std::string& where) {
  std::size_t action = 0;
  for (const Factor& factor : factors) {
    std::size_t index = 0;
    if (factor.column) {
      if (*factor.column >= fields.size())
        fail("{}: {} fields, column {} is missing", where, fields.size(), factor.name);
      index = factor.index_of(fields[*factor.column], where);
    }
    action = action * factor.entries.size() + index;
  }
  return static_cast<int>(action);
}

}  // namespace

std::vector<int> read_actions(const std::filesystem::path& file, const EnvConfig& env) {
  std::ifstream in(file, std::ios::binary);
  if (!in || std::filesystem::is_directory(file)) fail("{}: cannot be read as a file of actions", file.string());
  const int count = static_cast<int>(env.exposures.size() * env.order_types.size() * env.urgency_cost.size());
  std::vector<Factor> factors = make_factors(env);
  bool named = false;
  std::vector<int> actions;
  std::string line;
  for (int number = 1; std::getline(in, line); ++number) {
    if (number == 1 && line.starts_with("\xEF\xBB\xBF")) line.erase(0, 3);  // the byte order mark of spreadsheets
    const std::string_view text = trim(line);
    if (text.empty()) continue;
    const std::string where = fmt::format("{}:{}", file.string(), number);
    if (actions.empty() && !named && !parse<double>(text)) {
      find_columns(factors, split(text), where);
      named = true;
    } else if (named) {
      actions.push_back(named_action(factors, split(text), where));
    } else {
      const std::optional<int> action = parse<int>(text);
      if (!action) fail("{}: \"{}\" is not an action index", where, text);
      if (*action < 0 || *action >= count) fail("{}: action {} is not in 0 … {}", where, *action, count - 1);
      actions.push_back(*action);
    }
  }
  if (actions.empty()) fail("{}: no actions in it", file.string());
  return actions;
}

}  // namespace warptape
