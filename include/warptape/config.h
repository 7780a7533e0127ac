// Every number a user may set, as plain structs. Each key's name, range, unit and line of help is declared once, in
// src/config/keys.cpp; the parser, --help and docs/config.md come from that declaration.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace warptape {

/// Which rules of section 7 of docs/domain.md the world follows.
enum class RuleSet : std::uint8_t { kClassic, kMarket };

struct EnvConfig {
  RuleSet rules = RuleSet::kMarket;
  double initial_capital = 100000;
  double max_exposure = 1.0;
  std::optional<double> max_position;  ///< units; when set it is the cap, and max_exposure is not used
  double leverage = 1.0;
  double reserve_pct = 0;
  double lot_size = 0;
  double spread = 0.0001;
  double cost_market = 0.0001;
  double cost_limit_maker = 0.00005;
  double cost_ioc = 0.00015;
  std::vector<std::string> order_types = {"market", "limit_maker", "ioc"};
  std::vector<double> urgency_cost = {1, 1, 1};
  std::vector<double> exposures = {-1, -0.5, 0, 0.5, 1};
  std::int64_t episode_length = 500;
  double barrier_profit_bps = 0;
  double barrier_stop_bps = 0;
  std::int64_t barrier_max_bars = 500;
  bool barrier_ends_episode = false;
  double barrier_reward_scale = 0;
  std::int64_t diversity_window = 100;
  double diversity_min_bits = 1.0;
  double diversity_penalty = 0;
  double risk_threshold = 0.8;
  double risk_weight = 0;
  double curiosity_cap = 0.1;
  double curiosity_weight = 0;
  double reward_scale = 1.0;
};

struct DataConfig {
  bool sort = false;                    ///< put rows in time order instead of refusing the file
  std::string on_duplicate = "refuse";  ///< or "keep-last"
};

struct FeaturesConfig {
  bool normalise = true;
  double clip = 5.0;
};

struct SplitConfig {
  double train = 0.7;
  double validation = 0.15;
  std::int64_t embargo = 100;
};

struct NetConfig {
  std::int64_t shared_0 = 256, shared_1 = 256, value = 128, advantage = 128, curiosity = 64;
};

struct CollectConfig {
  std::int64_t episodes = 128;
  std::int64_t steps = 500;
  double epsilon_start = 1.0;
  double epsilon_end = 0.05;
  double epsilon_decay = 0.5;         ///< fraction of train.rounds over which epsilon falls
  std::string precision = "float32";  ///< of the networks' products while collecting; or "bfloat16"
};

struct ReplayConfig {
  std::int64_t capacity = 1000000;
  bool prioritised = false;
  double alpha = 0.6;
  double beta_start = 0.4;
  double beta_end = 1.0;
  double epsilon = 1e-6;  ///< added to |TD error|
};

struct LearnConfig {
  std::int64_t batch = 256;
  double gamma = 0.99;
  std::int64_t n_step = 1;
  double learning_rate = 1e-3;
  double learning_rate_end = 1e-4;
  std::string optimiser = "adamw";  ///< or "adam"
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;
  double weight_decay = 1.0;  ///< adamw only
  double clip_norm = 10.0;
  double huber_delta = 1.0;
  std::string target_sync = "polyak";  ///< or "hard"
  std::int64_t target_every = 500;
  double tau = 0.005;
};

struct CuriosityConfig {
  std::int64_t every = 1;
  std::int64_t batches = 10;
  std::int64_t batch = 1024;
  double learning_rate = 1e-3;
};

struct TrainConfig {
  std::int64_t rounds = 200;
  std::int64_t updates_per_round = 100;
  std::int64_t evaluate_every = 10;
  std::int64_t checkpoint_every = 10;
  double divergence_q = 1e4;
  std::int64_t early_stop = 0;
  bool alarms = true;
  bool tensorboard = true;
};

struct Config {
  EnvConfig env;
  DataConfig data;
  FeaturesConfig features;
  SplitConfig split;
  NetConfig net;
  CollectConfig collect;
  ReplayConfig replay;
  LearnConfig learn;
  CuriosityConfig curiosity;
  TrainConfig train;
  std::uint64_t seed = 1;
  std::int64_t threads = 0;  ///< 0: one per processor

  /// The defaults under a rule set (section 9 of docs/domain.md).
  static Config defaults(RuleSet rules);
};

/// One key as docs and --help show it.
struct KeyDoc {
  std::string name, type, default_classic, default_market, range, unit, help;
};

/// All keys in the order of declaration.
std::vector<KeyDoc> config_keys();

/// A named set of values, as "key=value", to begin with.
struct Preset {
  std::string name, help;
  std::vector<std::string> settings;  ///< its rule set among them
};

/// All presets in the order in which they are documented.
const std::vector<Preset>& presets();

/// Reads a configuration: the defaults of the rule set that preset, file or settings name, then the preset's values,
/// then the file's keys, then each "key=value" (TOML value; a bare word counts as a string). Throws Error naming file,
/// line, key, value: an unknown key or preset (with the nearest known), a wrong type, a value out of range, keys that
/// contradict each other, a rule set other than the preset's.
Config load_config(const std::optional<std::filesystem::path>& file, const std::vector<std::string>& settings,
                   const std::optional<std::string>& preset = {});

/// The same from TOML text; `origin` names it in messages.
Config parse_config(std::string_view toml_text, const std::string& origin,
                    const std::vector<std::string>& settings = {}, const std::optional<std::string>& preset = {});

/// TOML text with every key, which parse_config reads back to an equal configuration.
std::string to_toml(const Config& config);

/// Whether the file or the settings name a key, whatever its value.
bool names_key(const std::optional<std::filesystem::path>& file, const std::vector<std::string>& settings,
               std::string_view key);

const char* rule_set_name(RuleSet rules);

}  // namespace warptape
