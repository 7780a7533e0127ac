// Arrays of floats that begin where a cache line does, so that no vector of the kernels straddles two.
#pragma once

#include <cstddef>
#include <new>
#include <vector>

namespace warptape::cpu {

template <typename T>
struct CacheAligned {
  using value_type = T;
  static constexpr std::align_val_t kLine{64};

  CacheAligned() = default;
  template <typename U>
  CacheAligned(const CacheAligned<U>&) {}

  T* allocate(std::size_t n) { return static_cast<T*>(::operator new(n * sizeof(T), kLine)); }
  void deallocate(T* p, std::size_t) { ::operator delete(p, kLine); }
  template <typename U>
  bool operator==(const CacheAligned<U>&) const {
    return true;
  }
};

using Floats = std::vector<float, CacheAligned<float>>;

}  // namespace warptape::cpu
