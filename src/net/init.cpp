#include "net/init.h"

#include <cmath>
#include <cstddef>

#include "core/check.h"

namespace warptape {

void init_linear(std::span<float> weight, std::span<float> bias, int fan_in, const Uniform01& uniform01) {
  CHECK_LT(0, fan_in);
  const float bound = static_cast<float>(1.0 / std::sqrt(static_cast<double>(fan_in)));
  for (float& w : weight) w = (2.0f * uniform01() - 1.0f) * bound;
  for (float& b : bias) b = (2.0f * uniform01() - 1.0f) * bound;
}

void init_network(const std::vector<TensorSpec>& specs, std::span<float> flat, const Uniform01& uniform01) {
  CHECK_EQ(static_cast<std::int64_t>(flat.size()), parameter_count(specs));
  CHECK_EQ(specs.size() % 2, std::size_t{0});
  for (std::size_t i = 0; i < specs.size(); i += 2) {
    const TensorSpec& weight = specs[i];
    const TensorSpec& bias = specs[i + 1];
    init_linear(flat.subspan(weight.offset, weight.count), flat.subspan(bias.offset, bias.count), weight.fan_in,
                uniform01);
  }
}

}  // namespace warptape
