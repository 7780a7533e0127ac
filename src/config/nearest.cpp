#include "config/nearest.h"

#include <algorithm>
#include <cctype>
#include <utility>
#include <vector>

#include "core/check.h"

namespace warptape {

namespace {

constexpr std::size_t kFar = 1000;

std::string fold(std::string_view text) {
  std::string folded(text);
  for (char& c : folded) c = c == '-' ? '_' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return folded;
}

struct Parts {
  std::string group, last;
};

Parts parts_of(const std::string& name) {
  const std::size_t dot = name.rfind('.');
  return dot == std::string::npos ? Parts{"", name} : Parts{name.substr(0, dot), name.substr(dot + 1)};
}

std::vector<std::string> words_of(const std::string& part) {
  std::vector<std::string> words;
  for (std::size_t begin = 0; begin <= part.size();) {
    const std::size_t end = std::min(part.find('_', begin), part.size());
    words.push_back(part.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

/// What a right last part under this group costs: a group left out is likelier than one confused.
std::size_t group_cost(const std::string& typed, const std::string& known) {
  if (typed == known) return 0;
  return typed.empty() ? 1 : std::min(std::size_t{2}, edit_distance(typed, known));
}

std::size_t last_part_cost(const std::string& typed, const std::string& known) {
  std::size_t cost = kFar;
  const std::size_t edits = edit_distance(typed, known);
  if (3 * edits <= typed.size()) cost = edits;  // further apart it is another word
  const std::vector<std::string> had = words_of(typed), all = words_of(known);
  const bool some_of_them = std::all_of(
      had.begin(), had.end(), [&](const auto& w) { return std::find(all.begin(), all.end(), w) != all.end(); });
  if (some_of_them && had.size() < all.size()) cost = std::min(cost, all.size() - had.size());
  return cost;
}

std::pair<std::size_t, std::size_t> cost_of(const std::string& typed, const std::string& known) {
  const std::size_t whole = edit_distance(typed, known);
  const Parts t = parts_of(typed), k = parts_of(known);
  return {std::min(whole, group_cost(t.group, k.group) + last_part_cost(t.last, k.last)), whole};
}

}  // namespace

std::size_t edit_distance(std::string_view a, std::string_view b) {
  // Row i: distances of a's first i characters from each beginning of b; a swap looks two rows back.
  std::vector<std::size_t> before(b.size() + 1), above(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::swap(before, above);
    std::swap(above, row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row[b.size()];
}

const std::string& nearest_name(std::string_view typed, std::span<const std::string> names) {
  CHECK(!names.empty());
  const std::string folded = fold(typed);
  return *std::min_element(names.begin(), names.end(), [&](const std::string& a, const std::string& b) {
    return cost_of(folded, fold(a)) < cost_of(folded, fold(b));
  });
}

}  // namespace warptape
