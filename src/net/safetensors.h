// The safetensors format (https://huggingface.co/docs/safetensors): the length of a JSON header in eight little-endian
// bytes, the header, then the tensors' bytes without holes. PyTorch, Candle and NumPy read and write the same files.
#pragma once

#include <filesystem>

#include "net/tensor_map.h"

namespace warptape {

/// Writes the file whole or not at all, without copying the tensors. Order and padding are those of the format's own
/// writer, so that equal tensors and metadata give equal bytes. Throws Error when it cannot be written.
void write_safetensors(const std::filesystem::path& file, const TensorMap& tensors, const Metadata& metadata);

/// The same with the map's own metadata.
inline void write_safetensors(const std::filesystem::path& file, const TensorMap& tensors) {
  write_safetensors(file, tensors, tensors.metadata());
}

/// Reads a file that anyone may have written: throws Error naming the file and what is wrong before it allocates more
/// than the file holds. Metadata and origin are set in the map.
TensorMap read_safetensors(const std::filesystem::path& file);

}  // namespace warptape
