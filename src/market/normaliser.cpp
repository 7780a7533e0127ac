#include "market/normaliser.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "core/check.h"
#include "warptape/error.h"

namespace warptape {
namespace {

constexpr double kRounding = 1e-12;

/// Calls visit(column, value) for all features, row by row.
template <typename Visit>
void for_each_value(const Dataset& dataset, Visit visit) {
  const auto width = static_cast<std::size_t>(dataset.features);
  for (std::size_t i = 0; i < dataset.market.size(); i += width) {
    for (std::size_t column = 0; column < width; ++column) {
      visit(column, static_cast<double>(dataset.market[i + column]));
    }
  }
}

std::vector<double> numbers_of(const nlohmann::json& json, const char* name, const std::string& origin) {
  const auto member = json.find(name);
  if (member == json.end() || !member->is_array()) fail("{}: the normaliser has no list '{}'", origin, name);
  std::vector<double> numbers;
  for (const nlohmann::json& item : *member) {
    if (!item.is_number() || !std::isfinite(item.get<double>())) {
      fail("{}: the normaliser's '{}'[{}] is not a finite number: {}", origin, name, numbers.size(), item.dump());
    }
    numbers.push_back(item.get<double>());
  }
  return numbers;
}

}  // namespace

Normaliser fit_normaliser(const Dataset& train, double clip) {
  CHECK_LT(0, clip);
  CHECK_LT(0, train.bars());
  const auto width = static_cast<std::size_t>(train.features);
  const auto rows = static_cast<double>(train.bars());
  CHECK_EQ(train.market.size(), width * train.close.size());
  Normaliser normaliser{std::vector<double>(width), std::vector<double>(width), clip};
  std::vector<double> largest(width);
  for_each_value(train, [&](std::size_t column, double x) {
    normaliser.mean[column] += x;
    largest[column] = std::max(largest[column], std::fabs(x));
  });
  for (double& mean : normaliser.mean) mean /= rows;
  for_each_value(train, [&](std::size_t column, double x) {
    const double difference = x - normaliser.mean[column];
    normaliser.deviation[column] += difference * difference;
  });
  for (std::size_t column = 0; column < width; ++column) {
    double& deviation = normaliser.deviation[column];
    deviation = std::sqrt(deviation / rows);
    if (deviation <= kRounding * largest[column]) deviation = 0;
  }
  return normaliser;
}

void apply_normaliser(const Normaliser& normaliser, Dataset& dataset) {
  const auto width = static_cast<std::size_t>(dataset.features);
  CHECK_EQ(normaliser.mean.size(), width);
  CHECK_EQ(normaliser.deviation.size(), width);
  for (std::size_t i = 0; i < dataset.market.size(); ++i) {
    const std::size_t column = i % width;
    const double deviation = normaliser.deviation[column];
    const double scaled =
        deviation == 0 ? 0 : (static_cast<double>(dataset.market[i]) - normaliser.mean[column]) / deviation;
    dataset.market[i] = static_cast<float>(std::clamp(scaled, -normaliser.clip, normaliser.clip));
  }
}

nlohmann::json normaliser_to_json(const Normaliser& normaliser) {
  return {{"mean", normaliser.mean}, {"deviation", normaliser.deviation}, {"clip", normaliser.clip}};
}

Normaliser normaliser_from_json(const nlohmann::json& json, const std::string& origin) {
  if (!json.is_object()) fail("{}: the normaliser is not an object", origin);
  Normaliser normaliser;
  normaliser.mean = numbers_of(json, "mean", origin);
  normaliser.deviation = numbers_of(json, "deviation", origin);
  if (normaliser.mean.size() != normaliser.deviation.size()) {
    fail("{}: the normaliser has {} means and {} deviations", origin, normaliser.mean.size(),
         normaliser.deviation.size());
  }
  for (std::size_t column = 0; column < normaliser.deviation.size(); ++column) {
    if (normaliser.deviation[column] < 0) {
      fail("{}: the normaliser's 'deviation'[{}] is negative: {}", origin, column, normaliser.deviation[column]);
    }
  }
  const auto clip = json.find("clip");
  if (clip == json.end() || !clip->is_number() || !(clip->get<double>() > 0) || !std::isfinite(clip->get<double>())) {
    fail("{}: the normaliser's 'clip' is not a number above 0", origin);
  }
  normaliser.clip = clip->get<double>();
  return normaliser;
}

}  // namespace warptape
