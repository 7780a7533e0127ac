#include "net/tensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/check.h"
#include "warptape/error.h"

namespace warptape {
namespace {

void append_layer(std::vector<TensorSpec>& specs, const char* name, const Layer& layer) {
  const std::int64_t out = layer.out, in = layer.in;
  specs.push_back({fmt::format("{}.weight", name), {out, in}, layer.weight, out * in, layer.in});
  specs.push_back({fmt::format("{}.bias", name), {out}, layer.bias, out, layer.in});
}

std::string faults_of(const TensorMap& tensors, std::string_view prefix, const std::vector<TensorSpec>& specs) {
  std::string faults;
  for (const TensorSpec& spec : specs) {
    const std::string name = fmt::format("{}{}", prefix, spec.name);
    if (!tensors.contains(name)) {
      faults += fmt::format("\n  {}: missing, expected {}", name, describe("F32", spec.shape));
      continue;
    }
    const Tensor& found = tensors.at(name);
    if (found.shape != spec.shape || found.dtype != "F32") {
      faults += fmt::format("\n  {}: expected {}, found {}", name, describe("F32", spec.shape),
                            describe(found.dtype, found.shape));
    }
  }
  return faults;
}

void check_finite(std::span<const float> values, const std::string& name, std::string_view origin) {
  const auto bad = std::find_if(values.begin(), values.end(), [](float value) { return !std::isfinite(value); });
  if (bad == values.end()) return;
  fail("{}: tensor '{}': element {} is {}: the network it was saved from had diverged; use an earlier checkpoint",
       origin, name, bad - values.begin(), *bad);
}

}  // namespace

std::vector<TensorSpec> dueling_tensors(const DuelingShape& shape) {
  static constexpr std::array<const char*, kDuelingLayers> kNames = {"shared_0",  "shared_1",     "value_fc",
                                                                     "value_out", "advantage_fc", "advantage_out"};
  std::vector<TensorSpec> specs;
  for (int i = 0; i < kDuelingLayers; ++i) append_layer(specs, kNames[i], dueling_layer(shape, i));
  return specs;
}

std::vector<TensorSpec> curiosity_tensors(const CuriosityShape& shape) {
  static constexpr std::array<const char*, kCuriosityLayers> kNames = {"fc1", "fc2"};
  std::vector<TensorSpec> specs;
  for (int i = 0; i < kCuriosityLayers; ++i) append_layer(specs, kNames[i], curiosity_layer(shape, i));
  return specs;
}

std::int64_t parameter_count(const std::vector<TensorSpec>& specs) {
  return specs.empty() ? 0 : specs.back().offset + specs.back().count;
}

void put_network(TensorMap& tensors, std::string_view prefix, const std::vector<TensorSpec>& specs,
                 std::span<const float> flat) {
  CHECK_EQ(static_cast<std::int64_t>(flat.size()), parameter_count(specs));
  for (const TensorSpec& spec : specs) {
    tensors.set<float>(fmt::format("{}{}", prefix, spec.name), spec.shape, flat.subspan(spec.offset, spec.count));
  }
}

void take_network(const TensorMap& tensors, std::string_view prefix, const std::vector<TensorSpec>& specs,
                  std::span<float> flat, std::string_view origin) {
  CHECK_EQ(static_cast<std::int64_t>(flat.size()), parameter_count(specs));
  if (const std::string faults = faults_of(tensors, prefix, specs); !faults.empty()) {
    fail(
        "{}: the weights do not fit the network:{}\nuse weights of this network in float32, or set the net.* keys and "
        "the features to those that the weights were trained with",
        origin, faults);
  }
  for (const TensorSpec& spec : specs) {
    const std::string name = fmt::format("{}{}", prefix, spec.name);
    check_finite(tensors.get<float>(name, spec.shape), name, origin);
  }
  for (const TensorSpec& spec : specs) {
    const std::span<const float> values = tensors.get<float>(fmt::format("{}{}", prefix, spec.name), spec.shape);
    std::copy(values.begin(), values.end(), flat.begin() + spec.offset);
  }
}

}  // namespace warptape
