#include "net/safetensors.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "io/atomic_file.h"
#include "io/input_file.h"
#include "io/strict_json.h"
#include "warptape/error.h"

namespace warptape {
namespace {

static_assert(std::endian::native == std::endian::little, "tensors are stored little-endian, as they lie in memory");

constexpr std::size_t kLengthBytes = 8;
constexpr std::uint64_t kMostHeaderBytes = 100'000'000;  // the reference implementation's own limit
constexpr const char* kMetadataName = "__metadata__";

// The reference writer sorts by dtype in this order, then by name: larger elements first, so that all are aligned.
constexpr std::array<std::string_view, 13> kWriteOrder = {"U64", "I64", "F64", "F32", "U32", "I32", "BF16",
                                                          "F16", "U16", "I16", "I8",  "U8",  "BOOL"};

std::ptrdiff_t write_rank(std::string_view dtype) {
  return std::find(kWriteOrder.begin(), kWriteOrder.end(), dtype) - kWriteOrder.begin();
}

using NamedTensor = std::pair<const std::string, Tensor>;

std::vector<const NamedTensor*> in_write_order(const TensorMap& tensors) {
  std::vector<const NamedTensor*> order;
  for (const NamedTensor& entry : tensors.tensors()) order.push_back(&entry);
  std::stable_sort(order.begin(), order.end(), [](const NamedTensor* a, const NamedTensor* b) {
    return write_rank(a->second.dtype) < write_rank(b->second.dtype);
  });
  return order;
}

// By hand rather than from a JSON object, which would sort the tensors by name.
std::string header_of(const std::vector<const NamedTensor*>& order, const Metadata& metadata) {
  std::vector<std::string> members;
  if (!metadata.empty()) members.push_back(fmt::format("\"{}\":{}", kMetadataName, nlohmann::json(metadata).dump()));
  std::size_t begin = 0;
  for (const NamedTensor* entry : order) {
    const auto& [name, tensor] = *entry;
    const std::size_t end = begin + tensor.data().size();
    members.push_back(fmt::format(R"({}:{{"dtype":"{}","shape":[{}],"data_offsets":[{},{}]}})",
                                  nlohmann::json(name).dump(), tensor.dtype, fmt::join(tensor.shape, ","), begin, end));
    begin = end;
  }
  std::string header = fmt::format("{{{}}}", fmt::join(members, ","));
  header.resize((header.size() + 7) / 8 * 8, ' ');
  return header;
}

struct Extent {
  std::string name;
  std::string dtype;
  Shape shape;
  std::uint64_t begin = 0, end = 0;  // bytes, from the header's end
};

class Reader {
 public:
  explicit Reader(const std::filesystem::path& file) : input_(file), origin_(fmt::format("'{}'", file.string())) {}

  TensorMap read() {
    TensorMap tensors;
    tensors.set_origin(origin_);
    const nlohmann::json header = read_header();
    std::vector<Extent> extents;
    for (const auto& [name, entry] : header.items()) {
      if (name == kMetadataName) {
        tensors.metadata() = metadata_of(entry);
      } else {
        extents.push_back(extent_of(name, entry));
      }
    }
    check_gapless(extents);
    for (Extent& extent : extents) {  // in file order and without holes: one pass
      Tensor tensor{std::move(extent.dtype), std::move(extent.shape), {}, {}};
      tensor.bytes.resize(extent.end - extent.begin);
      input_.read_exactly(tensor.bytes.data(), tensor.bytes.size());
      tensors.add(extent.name, std::move(tensor));
    }
    return tensors;
  }

 private:
  nlohmann::json read_header() {
    if (!input_.is_regular()) fail("{} is not a plain file; copy it to one first", origin_);
    if (input_.size() < kLengthBytes) {
      fail("{} is not a safetensors file: it has {} bytes, too few for a header", origin_, input_.size());
    }
    std::array<unsigned char, kLengthBytes> little_endian{};
    input_.read_exactly(little_endian.data(), kLengthBytes);
    std::uint64_t length = 0;
    for (std::size_t i = 0; i < kLengthBytes; ++i) length |= std::uint64_t{little_endian[i]} << (8 * i);
    if (length > kMostHeaderBytes) {
      fail("{} is not a safetensors file: its header would have {} bytes, more than the {} that the format allows",
           origin_, length, kMostHeaderBytes);
    }
    if (length > input_.size() - kLengthBytes) {
      fail("{} is truncated or not a safetensors file: its header has {} bytes, but only {} follow; copy it again",
           origin_, length, input_.size() - kLengthBytes);
    }
    std::string text(length, '\0');
    input_.read_exactly(text.data(), text.size());
    if (!text.starts_with('{')) fail("{} is not a safetensors file: its header does not begin with '{{'", origin_);
    data_bytes_ = input_.size() - kLengthBytes - length;
    constexpr int kHeaderDepth = 3;  // the header, a tensor, its shape
    return parse_strict_json(text, fmt::format("{}: header", origin_), kHeaderDepth);
  }

  Metadata metadata_of(const nlohmann::json& entry) const {
    if (!entry.is_object()) fail("{}: {} is not a JSON object", origin_, kMetadataName);
    Metadata metadata;
    for (const auto& [key, value] : entry.items()) {
      if (!value.is_string()) fail("{}: {} '{}' is {}, not a string", origin_, kMetadataName, key, value.dump());
      metadata[key] = value.get<std::string>();
    }
    return metadata;
  }

  const nlohmann::json& member(const std::string& name, const nlohmann::json& entry, const char* key) const {
    if (!entry.is_object() || !entry.contains(key)) fail("{}: tensor '{}' has no \"{}\"", origin_, name, key);
    return entry[key];
  }

  std::vector<std::uint64_t> whole_numbers(const std::string& name, const nlohmann::json& list, const char* key) const {
    std::vector<std::uint64_t> numbers;
    bool valid = list.is_array();
    for (std::size_t i = 0; valid && i < list.size(); ++i) {
      valid = list[i].is_number_unsigned() && list[i].get<std::uint64_t>() <= std::numeric_limits<std::int64_t>::max();
      if (valid) numbers.push_back(list[i].get<std::uint64_t>());
    }
    if (!valid) fail("{}: tensor '{}': {} is {}, not a list of whole numbers >= 0", origin_, name, key, list.dump());
    return numbers;
  }

  Extent extent_of(const std::string& name, const nlohmann::json& entry) const {
    Extent extent{.name = name, .dtype = {}, .shape = {}};
    const nlohmann::json& dtype = member(name, entry, "dtype");
    extent.dtype = dtype.is_string() ? dtype.get<std::string>() : dtype.dump();
    std::uint64_t expected = dtype_bytes(extent.dtype);
    if (expected == 0) {
      fail("{}: tensor '{}' has dtype {}, which warptape does not read; save it as one of {}", origin_, name,
           extent.dtype, fmt::join(kWriteOrder, ", "));
    }
    for (const std::uint64_t dimension : whole_numbers(name, member(name, entry, "shape"), "shape")) {
      extent.shape.push_back(static_cast<std::int64_t>(dimension));
      if (__builtin_mul_overflow(expected, dimension, &expected)) {
        fail("{}: tensor '{}': its shape {} is larger than any memory", origin_, name,
             member(name, entry, "shape").dump());
      }
    }
    const auto offsets = whole_numbers(name, member(name, entry, "data_offsets"), "data_offsets");
    if (offsets.size() != 2 || offsets[0] > offsets[1]) {
      fail("{}: tensor '{}': data_offsets are [{}], not a begin and an end", origin_, name, fmt::join(offsets, ", "));
    }
    extent.begin = offsets[0];
    extent.end = offsets[1];
    if (extent.end > data_bytes_) {
      fail("{} is truncated: tensor '{}' ends at byte {} of the data, which has {}; copy the file again", origin_, name,
           extent.end, data_bytes_);
    }
    if (extent.end - extent.begin != expected) {
      fail("{}: tensor '{}' has {} bytes, but {} takes {}", origin_, name, extent.end - extent.begin,
           describe(extent.dtype, extent.shape), expected);
    }
    return extent;
  }

  // Sorts them as they lie in the file.
  void check_gapless(std::vector<Extent>& extents) const {
    std::sort(extents.begin(), extents.end(),
              [](const Extent& a, const Extent& b) { return std::pair(a.begin, a.end) < std::pair(b.begin, b.end); });
    std::uint64_t end = 0;
    for (const Extent& extent : extents) {
      if (extent.begin < end) {
        fail("{}: tensor '{}' begins at byte {} of the data, inside the one before it, which ends at {}", origin_,
             extent.name, extent.begin, end);
      }
      if (extent.begin > end) {
        fail("{}: there is a hole of {} bytes before tensor '{}', at byte {} of the data", origin_, extent.begin - end,
             extent.name, end);
      }
      end = extent.end;
    }
    if (end != data_bytes_) {
      fail("{}: {} bytes follow the last tensor, which ends at byte {} of the data", origin_, data_bytes_ - end, end);
    }
  }

  InputFile input_;
  std::string origin_;
  std::uint64_t data_bytes_ = 0;
};

}  // namespace

void write_safetensors(const std::filesystem::path& file, const TensorMap& tensors, const Metadata& metadata) {
  const std::vector<const NamedTensor*> order = in_write_order(tensors);
  std::string header;
  try {
    header = header_of(order, metadata);
  } catch (const nlohmann::json::exception& error) {
    fail("cannot write '{}': a tensor's name or the metadata is not UTF-8 ({})", file.string(), error.what());
  }
  if (header.size() > kMostHeaderBytes) {
    fail("cannot write '{}': its header would have {} bytes, the format allows {}", file.string(), header.size(),
         kMostHeaderBytes);
  }
  AtomicFile output(file);
  const std::uint64_t length = header.size();
  output.write(&length, kLengthBytes);
  output.write(header);
  for (const NamedTensor* entry : order) output.write(entry->second.data().data(), entry->second.data().size());
  output.commit();
}

TensorMap read_safetensors(const std::filesystem::path& file) {
  return Reader(file).read();
}

}  // namespace warptape
