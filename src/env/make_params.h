// From the user's configuration to the step's tables.
#pragma once

#include <string>

#include "env/params.h"
#include "warptape/config.h"

namespace warptape {

/// The step's view of a checked configuration. Cost rates are products of order type and urgency, in float64 under
/// market rules and in float32 under classic.
EnvParams make_params(const EnvConfig& config);

/// "exposure 0.5, market, patient": an action in words. Urgencies are patient, normal, aggressive when there are three,
/// otherwise their index.
std::string action_name(const EnvConfig& config, int action);

/// Name of an urgency by index.
std::string urgency_name(const EnvConfig& config, std::size_t urgency);

}  // namespace warptape
