// CRC-32C (Castagnoli), the checksum of TFRecord files.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace warptape {

/// Polynomial 0x1EDC6F41 reflected, start and final xor of all ones: "123456789" has 0xE3069283 (RFC 3720, B.4).
inline std::uint32_t crc32c(std::string_view bytes) {
  static constexpr std::array<std::uint32_t, 256> kTable = [] {
    std::array<std::uint32_t, 256> table{};
    for (std::uint32_t byte = 0; byte < table.size(); ++byte) {
      std::uint32_t crc = byte;
      for (int bit = 0; bit < 8; ++bit) crc = crc & 1 ? crc >> 1 ^ 0x82F63B78u : crc >> 1;
      table[byte] = crc;
    }
    return table;
  }();
  std::uint32_t crc = 0xFFFFFFFFu;
  for (const char byte : bytes) crc = kTable[(crc ^ static_cast<unsigned char>(byte)) & 0xFF] ^ crc >> 8;
  return ~crc;
}

}  // namespace warptape
