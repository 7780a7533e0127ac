#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "warptape/error.h"

namespace warptape {
namespace {

/// One blank for each run of blanks: what is printed, without how it is aligned.
std::string squeezed(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c != ' ' || out.empty() || out.back() != ' ') out += c;
  }
  return out;
}

class MetricsCommand : public testing::Test {
 protected:
  void SetUp() override {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    file_ = std::filesystem::path(testing::TempDir()) / (std::string("warptape_metrics_") + test->name() + ".csv");
  }
  void TearDown() override { std::filesystem::remove(file_); }

  /// What `warptape metrics --equity FILE <arguments>` prints for a file of that content.
  std::string run(const std::string& content, const std::vector<std::string>& arguments = {}) {
    std::ofstream(file_) << content;
    CLI::App app;
    add_metrics_command(app);
    std::vector<std::string> words = {"metrics", "--equity", file_.string()};
    words.insert(words.end(), arguments.begin(), arguments.end());
    testing::internal::CaptureStdout();
    try {
      app.parse(std::vector<std::string>(words.rbegin(), words.rend()));  // CLI11 takes them last first
    } catch (...) {
      testing::internal::GetCapturedStdout();
      throw;
    }
    std::fflush(stdout);
    return squeezed(testing::internal::GetCapturedStdout());
  }

  /// The message of the Error, without the folder of the file.
  std::string error(const std::string& content, const std::vector<std::string>& arguments = {}) {
    try {
      run(content, arguments);
    } catch (const Error& e) {
      std::string message = e.what();
      const std::size_t at = message.find(file_.string());
      return at == std::string::npos ? message : message.replace(at, file_.string().size(), "FILE");
    }
    return "no error";
  }

  std::filesystem::path file_;
};

void expect_contains(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << "wanted: " << part << "\nin: " << text;
}

constexpr const char* kGolden = "equity\n1000\n1020\n1009.8\n1029.996\n1019.69604\n";  // +2, -1, +2, -1 %

TEST_F(MetricsCommand, PrintsValueFormulaAndWhatItDependsOn) {
  const std::string out = run(kGolden, {"--bars-per-year", "252"});
  expect_contains(out, "bars per year: 252 (given)\n");
  expect_contains(out, "total return +1.9696 % E_n/E_0 - 1\n");
  expect_contains(out, "sharpe 4.5826 mean(r - rf)/std(r)*sqrt(N) (N 252, ddof 1, rf 0)\n");
  expect_contains(out, "sortino 11.2250 mean(r - rf)/sqrt(mean(min(r - rf, 0)^2))*sqrt(N)");
  expect_contains(out, "maximum drawdown -1.0000 %");
}

TEST_F(MetricsCommand, JsonHoldsNumbersAndNull) {
  const auto json = nlohmann::json::parse(run("equity\n100\n101\n103\n", {"--bars-per-year", "252", "--json"}));
  EXPECT_EQ(json["bars"], 2);
  EXPECT_NEAR(json["metrics"]["total_return"]["value"].get<double>(), 0.03, 1e-15);
  EXPECT_TRUE(json["metrics"]["calmar"]["value"].is_null());
}

TEST_F(MetricsCommand, BarsPerYearComeFromTheTimes) {
  const char* daily = "time,equity\n2020-01-01,100\n2020-01-02,102\n2020-01-03,101\n";
  expect_contains(run(daily), "bars per year: 365.25 (from the data");
  expect_contains(run("equity\n100\n102\n"), "bars per year: unknown (no times");
}

TEST_F(MetricsCommand, TakesTheOnlyColumnOfNumbers) {
  expect_contains(run("note,value\nstart,100\nend,110\n"), "total return +10.0000 %");
  expect_contains(error("a,b\n1,2\n3,4\n"), "FILE: no column 'equity', and 2 columns with numbers");
  expect_contains(error("100\n110\n120\n"), "FILE, line 1: a number, '100', where the header should be");
}

TEST_F(MetricsCommand, NamesLineColumnAndValueOfWhatIsWrong) {
  expect_contains(error("equity\n100\nabc\n"), "FILE, line 3, column 'equity': 'abc'");
  expect_contains(error("equity\n100\nnan\n"), "FILE, line 3, column 'equity': 'nan'");
  expect_contains(error("time,equity\n2020-01-01,100\n2020-01-02,\n"), "FILE, line 3, column 'equity': is empty");
  expect_contains(error("equity\n0\n100\n"), "FILE, line 2, column 'equity': the first equity is '0'");
  expect_contains(error("equity\n100\n"), "FILE: 1 rows of equity; at least 2");
  expect_contains(error("time,equity\n2020-01-02,100\n2020-01-01,101\n"), "FILE, line 3: time 2020-01-01");
  expect_contains(error("segment,equity\na,100\nb,101\n"), "FILE, line 3, column 'segment': 'b' follows 'a'");
}

TEST_F(MetricsCommand, RefusesOptionsOutOfRange) {
  expect_contains(error(kGolden, {"--bars-per-year", "0"}), "--bars-per-year 0");
  expect_contains(error(kGolden, {"--bars-per-year", "252", "--rf", "-1"}), "--rf -1");
}

}  // namespace
}  // namespace warptape
