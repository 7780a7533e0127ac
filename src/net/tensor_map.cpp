#include "net/tensor_map.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "core/check.h"
#include "warptape/error.h"

namespace warptape {
namespace {

std::string list_names(const std::map<std::string, Tensor, std::less<>>& tensors) {
  constexpr std::size_t kMostNames = 20;
  std::vector<std::string_view> names;
  for (const auto& [name, tensor] : tensors) {
    if (names.size() < kMostNames) names.push_back(name);
  }
  return fmt::format("{}{}", fmt::join(names, ", "), tensors.size() > kMostNames ? ", ..." : "");
}

std::size_t element_count(const Shape& shape) {
  std::size_t count = 1;
  for (const std::int64_t dimension : shape) {
    CHECK_GE(dimension, 0);
    count *= static_cast<std::size_t>(dimension);
  }
  return count;
}

}  // namespace

std::size_t dtype_bytes(std::string_view dtype) {
  static constexpr std::pair<std::string_view, std::size_t> kBytes[] = {
      {"BOOL", 1}, {"U8", 1},  {"I8", 1},  {"I16", 2}, {"U16", 2}, {"F16", 2}, {"BF16", 2},
      {"I32", 4},  {"U32", 4}, {"F32", 4}, {"F64", 8}, {"I64", 8}, {"U64", 8}};
  for (const auto& [name, bytes] : kBytes) {
    if (name == dtype) return bytes;
  }
  return 0;
}

std::string describe(const Shape& shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

std::string describe(std::string_view dtype, const Shape& shape) {
  return fmt::format("{} {}", dtype, describe(shape));
}

void TensorMap::add(const std::string& name, Tensor tensor) {
  CHECK(name != "__metadata__");  // the format's own name
  CHECK(dtype_bytes(tensor.dtype) != 0);
  CHECK_EQ(tensor.data().size(), element_count(tensor.shape) * dtype_bytes(tensor.dtype));
  const bool is_new = tensors_.emplace(name, std::move(tensor)).second;
  CHECK(is_new);
}

const Tensor& TensorMap::at(std::string_view name) const {
  const auto found = tensors_.find(name);
  if (found == tensors_.end()) {
    fail("{}: there is no tensor '{}'; it holds: {}", origin_, name, tensors_.empty() ? "none" : list_names(tensors_));
  }
  return found->second;
}

const Tensor& TensorMap::checked(std::string_view name, std::string_view dtype, const Shape* shape) const {
  const Tensor& tensor = at(name);
  if (tensor.dtype != dtype || (shape && tensor.shape != *shape)) {
    fail("{}: tensor '{}' is {}, expected {}", origin_, name, describe(tensor.dtype, tensor.shape),
         shape ? describe(dtype, *shape) : std::string(dtype));
  }
  if (dtype == "BOOL") {
    const std::span<const std::byte> data = tensor.data();
    const auto bad = std::find_if(data.begin(), data.end(), [](std::byte b) { return b > std::byte{1}; });
    if (bad != data.end()) {
      fail("{}: tensor '{}' is BOOL, but element {} is {}: the file was not written as the format demands", origin_,
           name, bad - data.begin(), std::to_integer<int>(*bad));
    }
  }
  return tensor;
}

}  // namespace warptape
