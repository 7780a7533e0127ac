// The networks' parameters as named tensors (docs/domain.md, section 5): the bridge between a flat array and a file.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "net/curiosity.h"
#include "net/dueling.h"
#include "net/tensor_map.h"

namespace warptape {

/// One tensor of a network.
struct TensorSpec {
  std::string name;         ///< "shared_0.weight"
  Shape shape;              ///< [out, in], or [out] for a bias
  std::int64_t offset = 0;  ///< of its first float in the network's flat array
  std::int64_t count = 0;   ///< floats
  int fan_in = 0;           ///< inputs of its layer
};

/// Weight and bias of each layer, in the order of the flat array and without holes.
std::vector<TensorSpec> dueling_tensors(const DuelingShape& shape);
std::vector<TensorSpec> curiosity_tensors(const CuriosityShape& shape);

/// Floats of the whole network.
std::int64_t parameter_count(const std::vector<TensorSpec>& specs);

/// Copies a network's parameters into `tensors` under `prefix` ("", "target.", "curiosity.").
void put_network(TensorMap& tensors, std::string_view prefix, const std::vector<TensorSpec>& specs,
                 std::span<const float> flat);

/// Copies them back. Throws one Error that lists all tensors that are missing, of another shape (expected, found) or
/// not F32, or else the first number that is not finite; then `flat` is as it was. Other tensors are ignored.
/// `origin` names the source in messages, in quotes where it is a file.
void take_network(const TensorMap& tensors, std::string_view prefix, const std::vector<TensorSpec>& specs,
                  std::span<float> flat, std::string_view origin);

}  // namespace warptape
