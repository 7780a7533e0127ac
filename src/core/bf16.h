// bfloat16: a float32's upper half.
#pragma once

#include "core/hd.h"

namespace warptape {

/// The bits of the nearest bfloat16, of two equally near the even one; a NaN stays one.
HD u16 bf16_bits(u32 float_bits) {
  const bool is_nan = (float_bits & 0x7FFFFFFFu) > 0x7F800000u;
  if (is_nan) return static_cast<u16>((float_bits >> 16) | 0x40u);
  return static_cast<u16>((float_bits + 0x7FFFu + ((float_bits >> 16) & 1u)) >> 16);
}

}  // namespace warptape
