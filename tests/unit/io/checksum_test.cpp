#include "io/checksum.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <functional>
#include <nlohmann/json.hpp>

#include "io/strict_json.h"
#include "unit/io/temp_folder.h"
#include "warptape/error.h"

namespace warptape {
namespace {

using testing::content_of;
using testing::message_of;
using testing::names_in;
using testing::put;
using testing::TempFolder;

std::string hex_of(const std::string& text) {
  return xxh3_128_hex(std::as_bytes(std::span(text)));
}

// (i·7) mod 251: three times the piece in which files are read.
std::string long_text() {
  std::string text(3000001, '\0');
  for (std::size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>(i * 7 % 251);
  return text;
}

// Digests from the Python package xxhash, xxh3_128_hexdigest.
TEST(Checksum, AgreesWithTheReferenceDigests) {
  EXPECT_EQ(hex_of(""), "99aa06d3014798d86001c324468d497f");
  EXPECT_EQ(hex_of("a"), "a96faf705af16834e6c632b61e964e1f");
  EXPECT_EQ(hex_of("warptape"), "cfdd5ddbc864c72f14492d261eafb8b8");
  EXPECT_EQ(hex_of(long_text()), "3f0feb1ade505c945e88ba2a8baec4a8");
}

TEST(Checksum, OfAFileIsThatOfItsBytes) {
  const TempFolder folder;
  put(folder / "long", long_text());
  EXPECT_EQ(xxh3_128_hex_of_file(folder / "long"), "3f0feb1ade505c945e88ba2a8baec4a8");
  put(folder / "empty", "");
  EXPECT_EQ(xxh3_128_hex_of_file(folder / "empty"), "99aa06d3014798d86001c324468d497f");
  EXPECT_THROW(xxh3_128_hex_of_file(folder / "none"), Error);
}

class Manifest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directory(folder_ / "state");
    put(folder_ / "weights", "warptape");
    put(folder_ / "state/empty", "");
    write_manifest(folder_.path());
  }

  // `damage`, then the message of the check.
  std::string after(const std::function<void()>& damage) {
    damage();
    return message_of<Error>([&] { verify_manifest(folder_.path()); });
  }

  void expect(const std::string& message, const std::string& file, const std::string& fault) {
    EXPECT_NE(message.find("'" + (folder_ / file).string() + "'"), std::string::npos) << message;
    EXPECT_NE(message.find(fault), std::string::npos) << message;
    EXPECT_NE(message.find("intact copy"), std::string::npos) << message;
  }

  TempFolder folder_;
};

TEST_F(Manifest, ListsEveryOtherFile) {
  EXPECT_EQ(nlohmann::json::parse(content_of(folder_ / "manifest.json")),
            nlohmann::json::parse(R"({"format": 1, "files": {
      "weights": {"bytes": 8, "xxh3_128": "cfdd5ddbc864c72f14492d261eafb8b8"},
      "state/empty": {"bytes": 0, "xxh3_128": "99aa06d3014798d86001c324468d497f"}}})"));
}

TEST_F(Manifest, AcceptsTheFolderAsItWasWritten) {
  verify_manifest(folder_.path());
  write_manifest(folder_.path());  // does not list itself
  verify_manifest(folder_.path());
}

TEST_F(Manifest, FindsATruncatedFile) {
  expect(after([&] { put(folder_ / "weights", "warpta"); }), "weights", "truncated: it has 6 bytes, 8 were written");
}

TEST_F(Manifest, FindsAGrownFile) {
  expect(after([&] { put(folder_ / "state/empty", "x"); }), "state/empty", "grown: it has 1 bytes, 0 were written");
}

TEST_F(Manifest, FindsAChangedFile) {
  expect(after([&] { put(folder_ / "weights", "warptapf"); }), "weights", "changed since it was written");
}

TEST_F(Manifest, FindsAMissingFile) {
  expect(after([&] { std::filesystem::remove(folder_ / "weights"); }), "weights", "is missing");
}

TEST_F(Manifest, FindsAnUnlistedFile) {
  expect(after([&] { put(folder_ / "state/more", ""); }), "state/more", "not in the manifest");
}

TEST_F(Manifest, FindsThatItIsMissingItself) {
  expect(after([&] { std::filesystem::remove(folder_ / "manifest.json"); }), "manifest.json", "is missing");
}

TEST_F(Manifest, FindsThatItIsDamagedItself) {
  const auto with = [&](const std::string& json) { return after([&] { put(folder_ / "manifest.json", json); }); };
  EXPECT_NE(with(R"({"format": 1, "fil)").find("not valid JSON: parse error at line 1"), std::string::npos);
  expect(with("[]"), "manifest.json", "is not a manifest");
  expect(with(R"({"files": {}})"), "manifest.json", "is not a manifest");
  EXPECT_NE(with(R"({"format": 2, "files": {}})").find("has format 2, this program reads format 1"), std::string::npos);
  expect(with(R"({"format": 1, "files": {"weights": {"bytes": -1, "xxh3_128": ""}}})"), "manifest.json",
         "the entry of 'weights' lacks");
  expect(with(R"({"format": 1, "files": {"weights": 3}})"), "manifest.json", "the entry of 'weights' lacks");
}

TEST_F(Manifest, DoesNotLookOutsideTheFolder) {
  // As a manifest is written, to the byte.
  const std::string outside = R"({
  "files": {
    "../x": {
      "bytes": 0,
      "xxh3_128": ""
    }
  },
  "format": 1
}
)";
  EXPECT_NE(after([&] { put(folder_ / "manifest.json", outside); }).find("is missing"), std::string::npos);
}

TEST_F(Manifest, RefusesWhatIsNoFile) {
  EXPECT_NE(after([&] { ::mkfifo((folder_ / "pipe").c_str(), 0600); }).find("neither a file nor a folder"),
            std::string::npos);
  EXPECT_THROW(write_manifest(folder_.path()), Error);
}

TEST_F(Manifest, RefusesANameThatIsNotUtf8) {
  put(folder_ / "\xff", "");
  EXPECT_NE(message_of<Error>([&] { write_manifest(folder_.path()); }).find("not UTF-8"), std::string::npos);
}

TEST(StrictJson, RefusesWhatALenientParserLetsPass) {
  const auto parse = [](const char* text) {
    return message_of<Error>([&] { parse_strict_json(text, "'x.json'", 2); });
  };
  EXPECT_EQ(parse(R"({"a": {"b": 1}, "c": {"b": 1}})"), "");
  EXPECT_EQ(parse(R"({"a": {"b": 1, "b": 1}})"), "'x.json': the name 'b' stands twice in one JSON object");
  EXPECT_EQ(parse(R"({"a": 1, "b": {}, "a": 1})"), "'x.json': the name 'a' stands twice in one JSON object");
  EXPECT_EQ(parse("[[[]]]"), "'x.json': the JSON is nested deeper than 2 levels");
  EXPECT_EQ(parse(R"({"a": [{}]})"), "'x.json': the JSON is nested deeper than 2 levels");
  EXPECT_EQ(parse("{} x").substr(0, 41), "'x.json': not valid JSON: parse error at ");
  EXPECT_NE(parse("{\"\xff\": 1}"), "");
}

}  // namespace
}  // namespace warptape
