// Per-column standardisation of features, fitted on training rows only (docs/domain.md, section 1).
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "warptape/dataset.h"

namespace warptape {

/// Mean and population deviation of every column, in float64 over two passes in order of rows: the same rows give the
/// same bits. A deviation of at most 1e-12 of the column's largest magnitude is rounding: the column doesn't vary.
/// `clip` > 0, in deviations.
Normaliser fit_normaliser(const Dataset& train, double clip);

/// Replaces the dataset's features by (x - mean)/deviation cut to +-clip, and columns that don't vary by 0.
void apply_normaliser(const Normaliser& normaliser, Dataset& dataset);

/// {"mean": [M], "deviation": [M], "clip": x}. Numbers are written so that they are read back to the same bits.
nlohmann::json normaliser_to_json(const Normaliser& normaliser);

/// The inverse. `origin` names the file in messages. Throws Error: missing or mistyped members, mean and deviation of
/// different length, numbers that are not finite, a negative deviation, a clip that is not positive.
Normaliser normaliser_from_json(const nlohmann::json& json, const std::string& origin);

}  // namespace warptape
