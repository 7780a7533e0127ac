// Named, typed, shaped arrays in host memory: what a safetensors file holds.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace warptape {

using Shape = std::vector<std::int64_t>;
using Metadata = std::map<std::string, std::string>;

/// Row-major array. `data()` is what it holds, whether it owns that or not.
struct Tensor {
  std::string dtype;  ///< as safetensors names it: "F32", "I64", "BOOL", ...
  Shape shape;        ///< empty: one number
  std::vector<std::byte> bytes;
  std::span<const std::byte> borrowed;  ///< when set, used instead of `bytes`; whoever lent it keeps it alive

  std::span<const std::byte> data() const { return borrowed.data() ? borrowed : std::span<const std::byte>(bytes); }
};

/// Bytes of one element; 0 for a dtype that warptape doesn't know.
std::size_t dtype_bytes(std::string_view dtype);

/// "F32 [256, 54]"
std::string describe(std::string_view dtype, const Shape& shape);
/// "[256, 54]"
std::string describe(const Shape& shape);

template <typename T>
concept TensorElement = std::is_arithmetic_v<T> && !std::same_as<T, long double> && !std::same_as<T, char>;

/// The safetensors name of a C++ type.
template <TensorElement T>
constexpr std::string_view dtype_of() {
  constexpr std::string_view kUnsigned[] = {"U8", "U16", "", "U32", "", "", "", "U64"};
  constexpr std::string_view kSigned[] = {"I8", "I16", "", "I32", "", "", "", "I64"};
  if constexpr (std::same_as<T, bool>) {
    return "BOOL";
  } else if constexpr (std::is_floating_point_v<T>) {
    return sizeof(T) == 4 ? "F32" : "F64";
  } else {
    return std::is_signed_v<T> ? kSigned[sizeof(T) - 1] : kUnsigned[sizeof(T) - 1];
  }
}

/// Tensors in the order of their names. Getters throw Error, since what they read came out of a file; setters CHECK,
/// since what they are given comes out of the program.
class TensorMap {
 public:
  /// Copies `values`, row-major; their number is the product of the shape. The name must be new.
  template <TensorElement T>
  void set(const std::string& name, Shape shape, std::span<const T> values) {
    const std::span<const std::byte> bytes = std::as_bytes(values);
    add(name, {std::string(dtype_of<T>()), std::move(shape), {bytes.begin(), bytes.end()}, {}});
  }

  /// The same without a copy: `values` must live and keep their place until this map is gone or written.
  template <TensorElement T>
  void set_view(const std::string& name, Shape shape, std::span<const T> values) {
    add(name, {std::string(dtype_of<T>()), std::move(shape), {}, std::as_bytes(values)});
  }

  /// Any dtype, as bytes.
  void add(const std::string& name, Tensor tensor);

  /// The elements of a tensor of exactly this dtype and shape; throws Error naming the file, the tensor, what was
  /// expected and what was found. The span lives as long as the map.
  template <TensorElement T>
  std::span<const T> get(std::string_view name, const Shape& shape) const {
    return elements<T>(checked(name, dtype_of<T>(), &shape));
  }

  /// The same, whatever the shape.
  template <TensorElement T>
  std::span<const T> get(std::string_view name) const {
    return elements<T>(checked(name, dtype_of<T>(), nullptr));
  }

  bool contains(std::string_view name) const { return tensors_.find(name) != tensors_.end(); }
  /// Throws Error when there is none of that name.
  const Tensor& at(std::string_view name) const;
  const std::map<std::string, Tensor, std::less<>>& tensors() const { return tensors_; }
  std::size_t size() const { return tensors_.size(); }

  Metadata& metadata() { return metadata_; }
  const Metadata& metadata() const { return metadata_; }

  /// What messages call this map: the file it was read from, in quotes.
  const std::string& origin() const { return origin_; }
  void set_origin(std::string origin) { origin_ = std::move(origin); }

 private:
  template <TensorElement T>
  static std::span<const T> elements(const Tensor& tensor) {
    const std::span<const std::byte> data = tensor.data();
    return {reinterpret_cast<const T*>(data.data()), data.size() / sizeof(T)};
  }

  /// `shape` may be null: any. BOOL bytes are checked to be 0 or 1: any other would not be a bool.
  const Tensor& checked(std::string_view name, std::string_view dtype, const Shape* shape) const;

  std::map<std::string, Tensor, std::less<>> tensors_;
  Metadata metadata_;
  std::string origin_ = "the tensors";
};

}  // namespace warptape
