#include "io/checksum.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <string_view>
#include <system_error>
#include <vector>

#define XXH_INLINE_ALL
#include <fmt/format.h>
#include <xxhash.h>

#include "io/atomic_file.h"
#include "io/strict_json.h"
#include "warptape/error.h"

namespace warptape {
namespace {

constexpr int kFormat = 1;
constexpr const char* kRemedy = "go back to an intact copy of this folder, or use another checkpoint";

struct FileFacts {
  std::uint64_t bytes = 0;
  std::string xxh3_128;
};

std::string hex(XXH128_hash_t hash) {
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

std::string manifest_text(const nlohmann::json& manifest) {
  return manifest.dump(2) + "\n";
}

// Relative names with '/' of every file but the manifest, in order.
std::vector<std::string> files_of(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (std::filesystem::recursive_directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().lexically_relative(folder).generic_string();
    if (entry->is_directory(error) && !entry->is_symlink(error)) continue;
    if (!entry->is_regular_file(error)) fail("'{}' is neither a file nor a folder; remove it", entry->path().string());
    if (name != kManifestName) names.push_back(name);
  }
  if (error) fail_system("read the folder", folder, error.value());
  std::sort(names.begin(), names.end());
  return names;
}

FileFacts facts_of(const std::string& file, const nlohmann::json& entry, const std::string& manifest) {
  const bool whole = entry.is_object() && entry.contains("bytes") && entry["bytes"].is_number_unsigned() &&
                     entry.contains("xxh3_128") && entry["xxh3_128"].is_string();
  if (!whole) fail("{}: the entry of '{}' lacks \"bytes\" or \"xxh3_128\"; {}", manifest, file, kRemedy);
  return {entry["bytes"].get<std::uint64_t>(), entry["xxh3_128"].get<std::string>()};
}

std::map<std::string, FileFacts> read_manifest(const std::filesystem::path& folder) {
  const std::filesystem::path path = folder / kManifestName;
  const std::string origin = fmt::format("'{}'", path.string());
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) {
    fail("{} is missing: '{}' is not a checkpoint, or was not copied whole; {}", origin, folder.string(), kRemedy);
  }
  const std::string text = read_file(path);
  const nlohmann::json json = parse_strict_json(text, origin, 3);
  if (!json.is_object() || !json.contains("format") || !json.contains("files") || !json["files"].is_object()) {
    fail("{} is not a manifest: it lacks \"format\" or \"files\"; {}", origin, kRemedy);
  }
  if (json["format"] != kFormat) {
    fail("{} has format {}, this program reads format {}; use the version of warptape that wrote it", origin,
         json["format"].dump(), kFormat);
  }
  std::map<std::string, FileFacts> files;
  for (const auto& [name, entry] : json["files"].items()) files[name] = facts_of(name, entry, origin);
  // Nothing vouches for the manifest but its form: a lost last byte, a space more, would mean the same to a parser.
  if (text != manifest_text(json)) fail("{} was changed since it was written; {}", origin, kRemedy);
  return files;
}

void verify_file(const std::filesystem::path& file, const FileFacts& expected) {
  const std::uint64_t bytes = InputFile(file).size();
  if (bytes < expected.bytes) {
    fail("'{}' is truncated: it has {} bytes, {} were written; {}", file.string(), bytes, expected.bytes, kRemedy);
  }
  if (bytes > expected.bytes) {
    fail("'{}' has grown: it has {} bytes, {} were written; {}", file.string(), bytes, expected.bytes, kRemedy);
  }
  const std::string found = xxh3_128_hex_of_file(file);
  if (found != expected.xxh3_128) {
    fail("'{}' was changed since it was written: its checksum is {}, the manifest says {}; {}", file.string(), found,
         expected.xxh3_128, kRemedy);
  }
}

}  // namespace

std::string xxh3_128_hex(std::span<const std::byte> bytes) {
  return hex(XXH3_128bits(bytes.data(), bytes.size()));
}

std::string xxh3_128_hex_of_file(const std::filesystem::path& file) {
  InputFile input(file);
  const auto state = std::make_unique<XXH3_state_t>();  // 64-byte aligned, as its type demands
  XXH3_128bits_reset(state.get());
  std::vector<char> piece(1 << 20);
  while (const std::size_t got = input.read_some(piece.data(), piece.size())) {
    XXH3_128bits_update(state.get(), piece.data(), got);
  }
  return hex(XXH3_128bits_digest(state.get()));
}

void write_manifest(const std::filesystem::path& folder) {
  nlohmann::json files = nlohmann::json::object();
  for (const std::string& name : files_of(folder)) {
    const std::filesystem::path file = folder / name;
    files[name] = {{"bytes", InputFile(file).size()}, {"xxh3_128", xxh3_128_hex_of_file(file)}};
  }
  try {
    write_file_atomically(folder / kManifestName, manifest_text({{"format", kFormat}, {"files", files}}));
  } catch (const nlohmann::json::exception&) {
    fail("'{}' holds a file whose name is not UTF-8; rename it", folder.string());
  }
}

void verify_manifest(const std::filesystem::path& folder) {
  const std::map<std::string, FileFacts> expected = read_manifest(folder);
  const std::vector<std::string> found = files_of(folder);
  for (const auto& [name, facts] : expected) {
    if (!std::binary_search(found.begin(), found.end(), name)) {
      fail("'{}' is missing, though the manifest lists it; {}", (folder / name).string(), kRemedy);
    }
    verify_file(folder / name, facts);
  }
  for (const std::string& name : found) {
    if (!expected.contains(name)) {
      fail("'{}' is not in the manifest: something put it there later; remove it, or {}", (folder / name).string(),
           kRemedy);
    }
  }
}

}  // namespace warptape
