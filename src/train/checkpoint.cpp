#include "train/checkpoint.h"

#include <nlohmann/json.hpp>

#include "core/build_info.h"
#include "env/make_params.h"
#include "io/atomic_file.h"
#include "io/checksum.h"
#include "market/normaliser.h"
#include "net/safetensors.h"
#include "net/shapes.h"
#include "net/tensors.h"
#include "warptape/error.h"

namespace warptape {

namespace {

using nlohmann::json;

constexpr int kFormat = 1;
constexpr const char* kInfoName = "checkpoint.json";
constexpr const char* kWeightsName = "weights.safetensors";
constexpr const char* kStateName = "state.safetensors";

json optional_number(const std::optional<double>& x) {
  return x ? json(*x) : json(nullptr);
}

std::string recorded_config(const CheckpointInfo& info) {
  return to_toml(deciding_config(info.config));
}

json to_json(const CheckpointInfo& info) {
  json series = json::array();
  for (const SeriesIdentity& s : info.recipe.series) {
    series.push_back(
        {{"name", s.name}, {"bars", s.bars}, {"xxh3_128", s.hash}, {"features_xxh3_128", s.features_hash}});
  }
  const SplitBounds& b = info.recipe.bounds;
  return {{"format", kFormat},
          {"version", info.version},
          {"build", info.build},
          {"backend", info.backend},
          {"seed", info.config.seed},
          {"round", info.round},
          {"updates", info.updates},
          {"best_return", optional_number(info.best_return)},
          {"best_round", info.best_round},
          {"alarms",
           {{"largest_reward", info.alarms.largest_reward},
            {"abs_q", info.alarms.abs_q},
            {"exploding", info.alarms.exploding},
            {"collapsed", info.alarms.collapsed}}},
          {"log", {{"bytes", info.log.bytes}, {"xxh3_128", info.log.xxh3_128}}},
          {"config", recorded_config(info)},
          {"data", series},
          {"split",
           {{"train_end_ns", b.train_end_ns},
            {"validation_begin_ns", b.validation_begin_ns},
            {"validation_end_ns", b.validation_end_ns},
            {"test_begin_ns", b.test_begin_ns},
            {"embargo", b.embargo}}},
          {"features", info.recipe.feature_names},
          {"normaliser", info.recipe.normaliser.empty() ? json(nullptr) : normaliser_to_json(info.recipe.normaliser)}};
}

CheckpointInfo from_json(const json& j, const std::string& origin) {
  if (j.at("format").get<int>() != kFormat) {
    fail("{}: format {} is not one that this version of warptape reads ({})", origin, j.at("format").get<int>(),
         kFormat);
  }
  CheckpointInfo info;
  info.version = j.at("version").get<std::string>();
  info.build = j.at("build").get<std::string>();
  info.backend = j.at("backend").get<std::string>();
  info.round = j.at("round").get<std::int64_t>();
  info.updates = j.at("updates").get<std::int64_t>();
  if (!j.at("best_return").is_null()) info.best_return = j.at("best_return").get<double>();
  info.best_round = j.at("best_round").get<std::int64_t>();
  if (j.contains("alarms")) {  // runs from before there were any can still be back-tested
    const json& a = j.at("alarms");
    info.alarms = {a.at("largest_reward").get<double>(), a.at("abs_q").get<double>(), a.at("exploding").get<bool>(),
                   a.at("collapsed").get<bool>()};
  }
  if (j.contains("log")) {
    info.log = {j.at("log").at("bytes").get<std::uint64_t>(), j.at("log").at("xxh3_128").get<std::string>()};
  }
  info.config = parse_config(j.at("config").get<std::string>(), origin);
  for (const json& s : j.at("data")) {
    info.recipe.series.push_back({s.at("name").get<std::string>(), s.at("bars").get<std::int64_t>(),
                                  s.at("xxh3_128").get<std::string>(), s.at("features_xxh3_128").get<std::string>()});
  }
  const json& split = j.at("split");
  info.recipe.bounds = {split.at("train_end_ns").get<std::int64_t>(),
                        split.at("validation_begin_ns").get<std::int64_t>(),
                        split.at("validation_end_ns").get<std::int64_t>(),
                        split.at("test_begin_ns").get<std::int64_t>(), split.at("embargo").get<std::int64_t>()};
  info.recipe.feature_names = j.at("features").get<std::vector<std::string>>();
  if (!j.at("normaliser").is_null()) info.recipe.normaliser = normaliser_from_json(j.at("normaliser"), origin);
  return info;
}

TensorMap network_tensors(const CheckpointInfo& info, const Backend& backend) {
  TensorMap tensors;
  const int features = static_cast<int>(info.recipe.feature_names.size());
  const auto dueling = dueling_tensors(dueling_shape(info.config, features));
  const auto curiosity = curiosity_tensors(curiosity_shape(info.config, features));
  put_network(tensors, network_prefix(Network::kOnline), dueling, backend.weights(Network::kOnline));
  put_network(tensors, network_prefix(Network::kTarget), dueling, backend.weights(Network::kTarget));
  put_network(tensors, network_prefix(Network::kCuriosity), curiosity, backend.weights(Network::kCuriosity));
  const json j = to_json(info);
  tensors.metadata() = {{"warptape.version", info.version},
                        {"warptape.config", recorded_config(info)},
                        {"warptape.features", j.at("features").dump()},
                        {"warptape.normaliser", j.at("normaliser").dump()}};
  return tensors;
}

}  // namespace

Config deciding_config(Config config) {
  config.threads = Config{}.threads;
  return config;
}

void write_checkpoint(const std::filesystem::path& folder, const CheckpointInfo& info, const Backend& backend,
                      const std::filesystem::path& previous) {
  AtomicFolder whole(folder, previous);
  write_safetensors(whole.path() / kWeightsName, network_tensors(info, backend));
  TensorMap state;
  backend.save_state(state);
  write_safetensors(whole.path() / kStateName, state);
  write_file_atomically(whole.path() / kInfoName, to_json(info).dump(1) + "\n");
  write_manifest(whole.path());
  whole.commit();
}

CheckpointInfo read_checkpoint_info(const std::filesystem::path& folder) {
  restore_interrupted_swap(folder);
  std::error_code error;
  if (!std::filesystem::is_directory(folder, error)) fail("{}: there is no checkpoint", folder.string());
  verify_manifest(folder);
  const std::string origin = (folder / kInfoName).string();
  try {
    return from_json(json::parse(read_file(folder / kInfoName)), origin);
  } catch (const json::exception& e) {
    fail("{}: not a checkpoint of warptape: {}", origin, e.what());
  }
}

TensorMap read_checkpoint_weights(const std::filesystem::path& folder) {
  return read_safetensors(folder / kWeightsName);
}

TensorMap read_checkpoint_state(const std::filesystem::path& folder) {
  return read_safetensors(folder / kStateName);
}

}  // namespace warptape
