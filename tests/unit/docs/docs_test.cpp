// The pages under docs/ against the program: what they name exists, and what exists is named.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "backtest/metrics/metrics.h"
#include "config/markdown.h"
#include "market/csv.h"
#include "market/features.h"
#include "market/time.h"
#include "net/shapes.h"
#include "net/tensors.h"
#include "paths.h"
#include "unit/io/temp_folder.h"
#include "warptape/config.h"

namespace warptape {
namespace {

const std::filesystem::path kRoot = kSourceDir;
constexpr std::array kPages = {"README.md", "CONTRIBUTING.md", "docs/domain.md", "docs/guide.md", "data/README.md"};

std::string page(const std::filesystem::path& name) {
  std::ifstream in(kRoot / name, std::ios::binary);
  EXPECT_TRUE(in) << name << " is missing";
  return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

/// Section `number` of docs/domain.md, its heading included.
std::string domain_section(int number) {
  const std::string text = page("docs/domain.md");
  const std::size_t begin = text.find("\n## " + std::to_string(number) + ". ");
  EXPECT_NE(begin, std::string::npos) << "no section " << number;
  const std::size_t end = text.find("\n## ", begin + 1);
  return text.substr(begin, end == std::string::npos ? end : end - begin);
}

/// What stands between single backticks, in order.
std::vector<std::string> quoted(const std::string& text) {
  static const std::regex kQuoted("`([^`\n]+)`");
  std::vector<std::string> found;
  for (std::sregex_iterator i(text.begin(), text.end(), kQuoted), end; i != end; ++i) found.push_back((*i)[1]);
  return found;
}

std::string without_blanks(std::string text) {
  text.erase(std::remove_if(text.begin(), text.end(), [](unsigned char c) { return std::isspace(c) != 0; }),
             text.end());
  return text;
}

TEST(Docs, DomainHasItsNineSectionsInOrder) {
  std::vector<std::string> headings;
  for (const std::string& line : lines_of(page("docs/domain.md"))) {
    if (line.rfind("## ", 0) == 0) headings.push_back(line.substr(3));
  }
  const std::vector<std::string> expected = {
      "1. Data",          "2. Actions",
      "3. State [M + 3]", "4. One step at bar b, price p = close[b], next price p' = close[b+1]",
      "5. Networks",      "6. Collection and training",
      "7. Two rule sets", "8. Bad input",
      "9. Names"};
  EXPECT_EQ(headings, expected);
}

TEST(Docs, DomainNamesTheWorldsKeysWithBothDefaultsAndNoOthers) {
  const std::string section = domain_section(9);
  std::size_t keys = 0;
  for (const KeyDoc& key : config_keys()) {
    if (key.name.rfind("env.", 0) != 0) continue;
    ++keys;
    const std::string row = fmt::format("\n| `{}` | `{}` | `{}` |", key.name, key.default_classic, key.default_market);
    EXPECT_NE(section.find(row), std::string::npos) << "no row" << row;
  }
  std::size_t rows = 0;
  for (const std::string& line : lines_of(section)) rows += line.rfind("| `env.", 0) == 0 ? 1 : 0;
  EXPECT_EQ(rows, keys);
}

TEST(Docs, DomainNamesEveryFeatureInOrder) {
  const std::vector<std::string>& names = builtin_feature_names();
  ASSERT_EQ(names.size(), 51u);
  std::vector<std::string> listed;
  for (const std::string& line : lines_of(domain_section(1))) {
    if (line.rfind("| `", 0) != 0) continue;
    for (const std::string& name : quoted(line.substr(0, line.find('|', 1)))) listed.push_back(name);
  }
  EXPECT_EQ(listed, names);
}

/// "| `shared_0.weight`, `shared_0.bias` | [256, S], [256] |", S and A standing for the default shape's 54 and 45.
std::string tensor_row(const TensorSpec& weight, const TensorSpec& bias) {
  const std::string in = weight.shape[1] == 54 ? "S" : std::to_string(weight.shape[1]);
  const std::string out = weight.shape[0] == 45 ? "A" : std::to_string(weight.shape[0]);
  return fmt::format("| `{}`, `{}` | [{}, {}], [{}] |", weight.name, bias.name, out, in, out);
}

TEST(Docs, DomainNamesEveryTensorWithItsShape) {
  const std::string section = domain_section(5);
  const Config config;
  for (const auto& specs :
       {dueling_tensors(dueling_shape(config, 51)), curiosity_tensors(curiosity_shape(config, 51))}) {
    for (std::size_t i = 0; i < specs.size(); i += 2) {
      const std::string row = tensor_row(specs[i], specs[i + 1]);
      EXPECT_NE(section.find(row), std::string::npos) << "no row " << row;
    }
  }
}

TEST(Docs, DomainListsTheColumnsThatSimulateWrites) {
  const testing::TempFolder folder;
  testing::put(folder / "bars.csv", "time,close\n2024-01-01,100\n2024-01-02,101\n");
  testing::put(folder / "actions.csv", "0\n");
  const std::string command =
      fmt::format("'{}' simulate --data '{}' --actions '{}' --out '{}' > /dev/null", kBinary,
                  (folder / "bars.csv").string(), (folder / "actions.csv").string(), (folder / "steps.csv").string());
  ASSERT_EQ(std::system(command.c_str()), 0);
  std::string header;
  std::ifstream steps(folder / "steps.csv");
  ASSERT_TRUE(std::getline(steps, header));
  EXPECT_NE(without_blanks(domain_section(9)).find("columns:" + header + "Position"), std::string::npos) << header;
}

TEST(Docs, ConfigPageIsWhatTheProgramPrints) {
  EXPECT_EQ(page("docs/config.md"), config_markdown()) << "run: build/warptape config --markdown > docs/config.md";
}

TEST(Docs, EveryConfigurationKeyInThePagesExists) {
  static const std::regex kKey("(env|data|features|split|net|collect|replay|learn|curiosity|train)\\.[a-z_0-9]+");
  std::set<std::string> known = {"learn.n_step", "replay.prioritised"};  // said to be reserved, section 9
  for (const KeyDoc& key : config_keys()) known.insert(key.name);
  known.insert("env.leverag");  // what the guide misspells on purpose
  std::size_t found = 0;
  for (const char* name : kPages) {
    const std::string text = page(name);
    for (std::sregex_iterator i(text.begin(), text.end(), kKey), end; i != end; ++i) {
      // Part of a longer name, such as a file's (features.csv), is not a key.
      const std::string before = i->position() > 0 ? text.substr(i->position() - 1, 1) : "`";
      if (before != "`" && before != " " && before != "'") continue;
      const std::string word = i->str();
      if (std::regex_search(word, std::regex("\\.(csv|h|cpp|toml|jsonl|md)$"))) continue;
      EXPECT_TRUE(known.count(word)) << name << " names " << word;
      ++found;
    }
  }
  EXPECT_GT(found, 60u);  // the env table alone has 28 rows; a pattern that matches nothing would pass otherwise
}

TEST(Docs, GuideNamesEveryMetric) {
  const std::vector<std::string> names = quoted(page("docs/guide.md"));
  for (const Metric& metric : all_metrics()) {
    EXPECT_NE(std::find(names.begin(), names.end(), metric.name), names.end()) << metric.name;
  }
}

TEST(Docs, ReadmeOpensWithTheTwoCommands) {
  const std::string text = page("README.md");
  const std::size_t demo = text.find("./demo");
  const std::size_t test = text.find("./test");
  const std::size_t second_heading = text.find("\n## ");
  ASSERT_NE(second_heading, std::string::npos);
  EXPECT_LT(demo, second_heading);
  EXPECT_LT(test, second_heading);
  for (const char* command : {"demo", "test", ".ci/run"}) {
    const auto owner_may = std::filesystem::status(kRoot / command).permissions() & std::filesystem::perms::owner_exec;
    EXPECT_NE(owner_may, std::filesystem::perms::none) << command << " is not executable";
  }
}

TEST(Docs, LinksToFilesLeadSomewhere) {
  static const std::regex kLink("\\]\\(([^)#:]+)\\)");
  std::size_t found = 0;
  for (const char* name : kPages) {
    const std::string text = page(name);
    for (std::sregex_iterator i(text.begin(), text.end(), kLink), end; i != end; ++i) {
      const std::filesystem::path target = (kRoot / name).parent_path() / (*i)[1].str();
      EXPECT_TRUE(std::filesystem::exists(target)) << name << " links to " << (*i)[1];
      ++found;
    }
  }
  EXPECT_GT(found, 10u);  // a pattern that matches nothing would pass otherwise
}

TEST(Docs, BundledSeriesIsWhatItsPageSays) {
  const Bars bars = read_bars(kRoot / "data" / "sp500_daily_1999-2018.csv", {});
  EXPECT_EQ(bars.size(), 5031);
  EXPECT_EQ(format_time(bars.ts_ns.front()), "1999-01-04T00:00:00Z");
  EXPECT_EQ(format_time(bars.ts_ns.back()), "2018-12-31T00:00:00Z");
  EXPECT_EQ(bars.close.front(), 1228.099976);
  EXPECT_EQ(bars.volume.back(), 3442870000);
  const std::string text = page("data/README.md");
  EXPECT_NE(text.find("`" + hash_bars(bars) + "`"), std::string::npos);
  EXPECT_NE(text.find("| 5,031 | 1999-01-04 | 2018-12-31 |"), std::string::npos);
  EXPECT_NE(page("data/LICENSE.arch").find("Copyright (c) 2017 Kevin Sheppard"), std::string::npos);
}

TEST(Docs, DemoConfigurationIsValidAndSetsBarriers) {
  const Config config = load_config(kRoot / "data" / "demo.toml", {});
  EXPECT_GT(config.env.barrier_profit_bps, 0);
  EXPECT_GT(config.env.barrier_stop_bps, 0);
  EXPECT_EQ(config.env.rules, RuleSet::kMarket);
}

}  // namespace
}  // namespace warptape
