#include "net/safetensors.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <random>

#include "core/check.h"
#include "paths.h"
#include "unit/io/temp_folder.h"
#include "warptape/error.h"

namespace warptape {
namespace {

using testing::content_of;
using testing::message_of;
using testing::names_in;
using testing::put;
using testing::TempFolder;

const std::string kReference = std::string(kGoldenDir) + "/reference.safetensors";

template <typename T>
std::vector<T> values_of(std::span<const T> span) {
  return {span.begin(), span.end()};
}

// The format by hand: 134 bytes of header, padded with spaces to 136 = 0x88, then 1.0f, -2.0f (IEEE 754, little-endian)
// and three bytes. The larger elements come first, though 'a' sorts before 'w'.
std::string file_by_hand() {
  return std::string("\x88\0\0\0\0\0\0\0", 8) +
         R"({"__metadata__":{"k":"v"},"w":{"dtype":"F32","shape":[1,2],"data_offsets":[0,8]},)"
         R"("a":{"dtype":"U8","shape":[3],"data_offsets":[8,11]}})"
         "  " +
         std::string("\x00\x00\x80\x3f\x00\x00\x00\xc0\x01\x02\x03", 11);
}

TEST(Safetensors, WritesTheFormatByteForByte) {
  const TempFolder folder;
  TensorMap tensors;
  tensors.set<std::uint8_t>("a", {3}, std::vector<std::uint8_t>{1, 2, 3});
  tensors.set<float>("w", {1, 2}, std::vector<float>{1, -2});
  write_safetensors(folder / "x", tensors, {{"k", "v"}});
  EXPECT_EQ(content_of(folder / "x"), file_by_hand());
  EXPECT_EQ(names_in(folder.path()), std::vector<std::string>{"x"});
}

TEST(Safetensors, ReadsTheFormatByteForByte) {
  const TempFolder folder;
  put(folder / "x", file_by_hand());
  const TensorMap tensors = read_safetensors(folder / "x");
  EXPECT_EQ(tensors.size(), 2u);
  EXPECT_EQ(values_of(tensors.get<float>("w", {1, 2})), (std::vector<float>{1, -2}));
  EXPECT_EQ(values_of(tensors.get<std::uint8_t>("a", {3})), (std::vector<std::uint8_t>{1, 2, 3}));
  EXPECT_EQ(tensors.metadata(), (Metadata{{"k", "v"}}));
}

// The values are those that tests/golden/README.md has NumPy save.
TEST(Safetensors, ReadsWhatTheReferenceImplementationWrote) {
  const TensorMap tensors = read_safetensors(kReference);
  EXPECT_EQ(tensors.size(), 14u);
  EXPECT_EQ(values_of(tensors.get<float>("shared_0.weight", {2, 3})),
            (std::vector<float>{-0.5f, -0.25f, 0, 0.25f, 0.5f, 0.75f}));
  EXPECT_EQ(values_of(tensors.get<float>("shared_0.bias", {2})), (std::vector<float>{1.5f, -2}));
  EXPECT_EQ(tensors.get<float>("empty", {0, 4}).size(), 0u);
  EXPECT_EQ(tensors.get<double>("scalar", {})[0], 0.1);
  EXPECT_EQ(values_of(tensors.get<std::int8_t>("i8")), (std::vector<std::int8_t>{-128, 127}));
  EXPECT_EQ(values_of(tensors.get<std::int16_t>("i16")), (std::vector<std::int16_t>{-32768, 32767}));
  EXPECT_EQ(values_of(tensors.get<std::int32_t>("i32")), (std::vector<std::int32_t>{INT32_MIN, INT32_MAX}));
  EXPECT_EQ(values_of(tensors.get<std::int64_t>("i64")), (std::vector<std::int64_t>{INT64_MIN, INT64_MAX}));
  EXPECT_EQ(values_of(tensors.get<std::uint8_t>("u8")), (std::vector<std::uint8_t>{0, 255, 7}));
  EXPECT_EQ(tensors.get<std::uint16_t>("u16")[0], UINT16_MAX);
  EXPECT_EQ(tensors.get<std::uint32_t>("u32")[0], UINT32_MAX);
  EXPECT_EQ(tensors.get<std::uint64_t>("u64")[0], UINT64_MAX);
  EXPECT_EQ(values_of(tensors.get<bool>("flags")), (std::vector<bool>{true, false, true}));
  const std::uint8_t half[] = {0x00, 0x3c, 0x00, 0xc0};  // 1 and -2 in IEEE 754 binary16, little-endian
  EXPECT_EQ(tensors.at("half").dtype, "F16");
  EXPECT_EQ(std::vector(tensors.at("half").data().begin(), tensors.at("half").data().end()),
            std::vector(std::as_bytes(std::span(half)).begin(), std::as_bytes(std::span(half)).end()));
  EXPECT_EQ(tensors.metadata(), (Metadata{{"made_by", "safetensors for Python"}}));
}

TEST(Safetensors, WritesTheSameBytesAsTheReferenceImplementation) {
  const TempFolder folder;
  write_safetensors(folder / "x", read_safetensors(kReference));
  EXPECT_EQ(content_of(folder / "x"), content_of(kReference));
}

TEST(Safetensors, WritesBorrowedTensorsAsItWritesItsOwn) {
  const TempFolder folder;
  const std::vector<float> weights = {1, -2};
  const std::vector<std::uint8_t> bytes = {1, 2, 3};
  TensorMap tensors;
  tensors.set_view<float>("w", {1, 2}, weights);
  tensors.set_view<std::uint8_t>("a", {3}, bytes);
  EXPECT_EQ(tensors.get<float>("w").data(), weights.data());
  write_safetensors(folder / "x", tensors, {{"k", "v"}});
  EXPECT_EQ(content_of(folder / "x"), file_by_hand());
}

TEST(Safetensors, AMapWithoutTensorsIsAFileWithoutData) {
  const TempFolder folder;
  write_safetensors(folder / "x", TensorMap());
  EXPECT_EQ(content_of(folder / "x"), std::string("\x08\0\0\0\0\0\0\0{}      ", 16));
  EXPECT_EQ(read_safetensors(folder / "x").size(), 0u);
}

// Property: what is written is read, bit for bit, and every tensor begins at a multiple of its element's size.
TEST(Safetensors, RoundTripsAnyTensors) {
  const TempFolder folder;
  std::mt19937 random(7);
  constexpr const char* kDtypes[] = {"F64", "I64", "U8", "F16", "BOOL", "I32", "BF16", "I16", "U64"};
  for (int trial = 0; trial < 20; ++trial) {
    TensorMap tensors;
    tensors.metadata()["trial \"\\\n\xc3\xa9"] = std::to_string(trial);
    const unsigned count = random() % 8;
    for (unsigned t = 0; t < count; ++t) {
      Tensor tensor{kDtypes[random() % std::size(kDtypes)], {}, {}, {}};
      std::size_t bytes = dtype_bytes(tensor.dtype);
      for (unsigned d = random() % 4; d > 0; --d) tensor.shape.push_back(random() % 6);
      for (const std::int64_t dimension : tensor.shape) bytes *= dimension;
      for (std::size_t i = 0; i < bytes; ++i) tensor.bytes.push_back(static_cast<std::byte>(random()));
      tensors.add("\xe2\x82\xac \"" + std::to_string(random()) + std::to_string(t), std::move(tensor));
    }
    write_safetensors(folder / "x", tensors);
    const TensorMap read = read_safetensors(folder / "x");
    EXPECT_EQ(read.metadata(), tensors.metadata());
    ASSERT_EQ(read.size(), tensors.size());
    for (const auto& [name, tensor] : tensors.tensors()) {
      EXPECT_EQ(read.at(name).dtype, tensor.dtype);
      EXPECT_EQ(read.at(name).shape, tensor.shape);
      EXPECT_EQ(read.at(name).bytes, tensor.bytes);
    }
  }
}

TEST(Safetensors, FailsWithoutLeavingAFile) {
  const TempFolder folder;
  TensorMap tensors;
  tensors.set<float>("\xff", {1}, std::vector<float>{1});
  EXPECT_NE(message_of<Error>([&] { write_safetensors(folder / "x", tensors); }).find("not UTF-8"), std::string::npos);
  EXPECT_THROW(write_safetensors(folder / "none/x", TensorMap()), Error);
  EXPECT_EQ(names_in(folder.path()), std::vector<std::string>{});
}

// A file with the given header, its length in front, and so many bytes of data; and the message of reading it.
std::string message_for(const std::string& header, std::size_t data_bytes, std::uint64_t length) {
  const TempFolder folder;
  std::string content;
  for (int i = 0; i < 8; ++i) content += static_cast<char>(length >> (8 * i));
  put(folder / "bad", content + header + std::string(data_bytes, '\1'));
  const std::string message = message_of<Error>([&] { read_safetensors(folder / "bad"); });
  const std::string named = "'" + (folder / "bad").string() + "'";
  EXPECT_EQ(message.substr(0, named.size()), named) << message;
  return message.substr(std::min(message.size(), named.size()));
}

std::string message_for(const std::string& header, std::size_t data_bytes) {
  return message_for(header, data_bytes, header.size());
}

struct HostileCase {
  const char* name;
  std::string header;
  std::size_t data_bytes;
  std::string message;
};
void PrintTo(const HostileCase& hostile, std::ostream* out) {
  *out << hostile.name;
}

class HostileFile : public ::testing::TestWithParam<HostileCase> {};

TEST_P(HostileFile, IsRefusedWithItsOwnMessage) {
  const HostileCase& c = GetParam();
  const std::string message = message_for(c.header, c.data_bytes);
  EXPECT_NE(message.find(c.message), std::string::npos) << message;
}

const HostileCase kHostileCases[] = {
    {"NotJson", "{\"a\":", 0, "header: not valid JSON: parse error"},
    {"NotAnObject", "[]", 0, "does not begin with '{'"},
    {"LeadingSpace", " {}", 0, "does not begin with '{'"},
    {"TrailingText", "{}{}", 0, "not valid JSON"},
    {"NotUtf8", "{\"\xff\":{}}", 0, "not valid JSON"},
    {"DeepNesting", R"({"a":[[[[]]]]})", 0, "nested deeper than 3"},
    {"DuplicateName",
     R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})", 1,
     "the name 'a' stands twice"},
    {"NotATensor", R"({"a":3})", 0, R"(tensor 'a' has no "dtype")"},
    {"NoShape", R"({"a":{"dtype":"U8","data_offsets":[0,1]}})", 1, R"(tensor 'a' has no "shape")"},
    {"NoOffsets", R"({"a":{"dtype":"U8","shape":[1]}})", 1, R"(tensor 'a' has no "data_offsets")"},
    {"UnknownDtype", R"({"a":{"dtype":"F8_E4M3","shape":[1],"data_offsets":[0,1]}})", 1,
     "dtype F8_E4M3, which warptape does not read"},
    {"DtypeNotAString", R"({"a":{"dtype":7,"shape":[1],"data_offsets":[0,1]}})", 1, "dtype 7, which"},
    {"NegativeDimension", R"({"a":{"dtype":"U8","shape":[-1],"data_offsets":[0,1]}})", 1,
     "shape is [-1], not a list of whole numbers"},
    {"FractionalDimension", R"({"a":{"dtype":"U8","shape":[1.0],"data_offsets":[0,1]}})", 1, "shape is [1.0], not"},
    {"HugeDimension", R"({"a":{"dtype":"U8","shape":[9223372036854775808],"data_offsets":[0,1]}})", 1, "shape is ["},
    {"ShapeNotAList", R"({"a":{"dtype":"U8","shape":{},"data_offsets":[0,1]}})", 1, "shape is {}, not"},
    // 2³² · 2³² · 1 byte wraps to 0 in 64 bits.
    {"OverflowingShape", R"({"a":{"dtype":"U8","shape":[4294967296,4294967296],"data_offsets":[0,0]}})", 0,
     "its shape [4294967296,4294967296] is larger than any memory"},
    {"OverflowingBytes", R"({"a":{"dtype":"F64","shape":[2305843009213693952],"data_offsets":[0,0]}})", 0,
     "larger than any memory"},
    {"OffsetsPastTheEnd", R"({"a":{"dtype":"U8","shape":[9],"data_offsets":[0,9]}})", 8,
     "truncated: tensor 'a' ends at byte 9 of the data, which has 8"},
    {"OffsetsReversed", R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[1,0]}})", 1, "data_offsets are [1, 0], not"},
    {"ThreeOffsets", R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1,1]}})", 1, "data_offsets are [0, 1, 1]"},
    {"SizeIsNotThatOfTheShape", R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,7]}})", 7,
     "has 7 bytes, but F32 [2] takes 8"},
    {"Overlap",
     R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},"b":{"dtype":"U8","shape":[4],"data_offsets":[3,7]}})", 7,
     "tensor 'b' begins at byte 3 of the data, inside the one before it"},
    {"SameBytesTwice",
     R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},"b":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}})", 4,
     "tensor 'b' begins at byte 0"},
    {"HoleInFront", R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}})", 2,
     "a hole of 1 bytes before tensor 'a'"},
    {"HoleBetween",
     R"({"b":{"dtype":"U8","shape":[1],"data_offsets":[5,6]},"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}})", 6,
     "a hole of 1 bytes before tensor 'b'"},
    {"BytesBehind", R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})", 3, "2 bytes follow the last tensor"},
    {"MetadataNotAnObject", R"({"__metadata__":[]})", 0, "__metadata__ is not a JSON object"},
    {"MetadataNotText", R"({"__metadata__":{"epoch":3}})", 0, "__metadata__ 'epoch' is 3, not a string"},
};

INSTANTIATE_TEST_SUITE_P(Safetensors, HostileFile, ::testing::ValuesIn(kHostileCases),
                         [](const auto& hostile) { return std::string(hostile.param.name); });

TEST(Safetensors, RefusesAnImpossibleHeaderLength) {
  EXPECT_NE(message_for("{}", 0, 3).find("its header has 3 bytes, but only 2 follow"), std::string::npos);
  EXPECT_NE(message_for("{}", 0, 100'000'000).find("but only 2 follow"), std::string::npos);
  EXPECT_NE(message_for("{}", 0, 100'000'001).find("more than the 100000000"), std::string::npos);
  EXPECT_NE(message_for("{}", 0, UINT64_MAX).find("more than the 100000000"), std::string::npos);
}

TEST(Safetensors, RefusesEveryTruncation) {
  const TempFolder folder;
  const std::string whole = content_of(kReference);
  for (std::size_t bytes = 0; bytes < whole.size(); ++bytes) {
    const std::string name = std::to_string(bytes);  // a new file each: overwriting one waits for the disk
    put(folder / name, whole.substr(0, bytes));
    EXPECT_THROW(read_safetensors(folder / name), Error) << bytes;
  }
}

// Whatever byte is damaged: an Error or tensors, never a crash (run it under the sanitizers) nor another exception.
TEST(Safetensors, SurvivesDamageAnywhere) {
  const TempFolder folder;
  std::mt19937 random(11);
  const std::string whole = content_of(kReference);
  for (int trial = 0; trial < 500; ++trial) {
    std::string damaged = whole;
    damaged[random() % damaged.size()] = static_cast<char>(random());
    const std::string name = std::to_string(trial);
    put(folder / name, damaged);
    try {
      read_safetensors(folder / name);
    } catch (const Error&) {
    }
  }
}

TEST(Safetensors, RefusesWhatIsNoPlainFile) {
  EXPECT_NE(message_of<Error>([] { read_safetensors("/dev/null"); }).find("'/dev/null' is not a plain file"),
            std::string::npos);
  const TempFolder folder;
  EXPECT_NE(message_of<Error>([&] { read_safetensors(folder.path()); }).find("Is a directory"), std::string::npos);
  EXPECT_NE(message_of<Error>([&] { read_safetensors(folder / "none"); }).find("No such file"), std::string::npos);
}

TEST(TensorMap, GettersNameFileTensorExpectedAndFound) {
  const TempFolder folder;
  put(folder / "x", file_by_hand());
  const TensorMap tensors = read_safetensors(folder / "x");
  const std::string file = "'" + (folder / "x").string() + "'";
  EXPECT_EQ(message_of<Error>([&] {
              tensors.get<float>("w", {2, 1});
            }),
            file + ": tensor 'w' is F32 [1, 2], expected F32 [2, 1]");
  EXPECT_EQ(message_of<Error>([&] {
              tensors.get<double>("w", {1, 2});
            }),
            file + ": tensor 'w' is F32 [1, 2], expected F64 [1, 2]");
  EXPECT_EQ(message_of<Error>([&] { tensors.get<std::int32_t>("w"); }),
            file + ": tensor 'w' is F32 [1, 2], expected I32");
  EXPECT_EQ(message_of<Error>([&] { tensors.get<float>("v", {1}); }),
            file + ": there is no tensor 'v'; it holds: a, w");
  EXPECT_EQ(message_of<Error>([] { TensorMap().at("v"); }), "the tensors: there is no tensor 'v'; it holds: none");
}

TEST(TensorMap, ABoolIsZeroOrOne) {
  TensorMap tensors;
  tensors.add("b", {"BOOL", {3}, {std::byte{0}, std::byte{1}, std::byte{2}}, {}});
  EXPECT_NE(message_of<Error>([&] { tensors.get<bool>("b"); }).find("tensor 'b' is BOOL, but element 2 is 2"),
            std::string::npos);
}

TEST(TensorMap, SettersTakeOnlyWhatFits) {
  TensorMap tensors;
  const std::vector<float> six(6);
  tensors.set<float>("w", {2, 3}, six);
  EXPECT_THROW(tensors.set<float>("w", {2, 3}, six), Bug);
  EXPECT_THROW(tensors.set<float>("v", {2, 2}, six), Bug);
  EXPECT_THROW(tensors.set<float>("u", {-2, -3}, six), Bug);
  EXPECT_THROW(tensors.set<float>("__metadata__", {6}, six), Bug);
  EXPECT_THROW(tensors.add("t", {"F8_E4M3", {0}, {}, {}}), Bug);
}

TEST(TensorMap, NamesTypesBySizeAndSign) {
  // long and long long are different types of the same width.
  EXPECT_EQ(dtype_of<long>(), "I64");
  EXPECT_EQ(dtype_of<long long>(), "I64");
  EXPECT_EQ(dtype_of<unsigned long long>(), "U64");
  EXPECT_EQ(dtype_of<signed char>(), "I8");
  EXPECT_EQ(dtype_of<unsigned short>(), "U16");
  EXPECT_EQ(dtype_of<bool>(), "BOOL");
  EXPECT_EQ(dtype_of<float>(), "F32");
  EXPECT_EQ(dtype_of<double>(), "F64");
}

}  // namespace
}  // namespace warptape
