// Checksums of files, and the manifest that tells a whole folder from a truncated or tampered one.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>

namespace warptape {

/// XXH3-128 (seed 0) as 32 lower-case hex digits, high half first: what `xxhsum -H2` prints. It finds accidents, not
/// forgeries.
std::string xxh3_128_hex(std::span<const std::byte> bytes);

/// The same of a file's content, read piece by piece; throws Error when it cannot be read.
std::string xxh3_128_hex_of_file(const std::filesystem::path& file);

inline constexpr const char* kManifestName = "manifest.json";

/// Writes manifest.json over all other files of the folder and its subfolders:
/// {"format": 1, "files": {NAME: {"bytes": n, "xxh3_128": hex}}}. Throws Error on what is neither file nor folder.
void write_manifest(const std::filesystem::path& folder);

/// Throws Error naming the first file that differs from the manifest (missing, truncated, grown, changed, unlisted) or
/// what is wrong with the manifest, and what to do.
void verify_manifest(const std::filesystem::path& folder);

}  // namespace warptape
