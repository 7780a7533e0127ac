// A round allocates nothing once the first has made room.
#include <gtest/gtest.h>

#include "backend/cpu/collector.h"
#include "count_allocations.h"
#include "env/make_params.h"
#include "market/random_walk.h"

namespace warptape::cpu {

namespace {

class CpuAllocations : public ::testing::TestWithParam<RuleSet> {};

TEST_P(CpuAllocations, NoneInARoundAfterTheFirst) {
  if (!count_allocations()) GTEST_SKIP() << "a sanitizer has its own operator new";
  Config config = Config::defaults(GetParam());
  config.env.episode_length = 20;
  config.env.curiosity_weight = 1;
  const Dataset walk = random_walk(120, 5, 0.001, 1);
  CollectorSetup setup;
  setup.dataset = &walk;
  setup.params = make_params(config.env);
  setup.dueling = {8, 6, 5, 4, 3, setup.params.actions.count};
  setup.curiosity = curiosity_shape(5, 4);
  setup.episodes = 37;
  setup.steps = 30;
  setup.seed = 1;
  setup.gamma = 0.99f;
  const auto collector = make_collector(GetParam(), setup);
  const DuelingNet net(setup.dueling);
  const Floats weights(net.parameter_count(), 0.1f);
  const Floats curious(CuriosityNet(setup.curiosity).parameter_count(), 0.1f);
  RoundInputs inputs;
  inputs.online = inputs.target = weights.data();
  inputs.curiosity = curious.data();
  inputs.epsilon = 0.5;
  inputs.outputs = {true, true, true};
  RoundBuffers buffers;
  ThreadPool pool(2);
  collector->play_round(pool, inputs, buffers);
  const long before = *count_allocations();
  for (int round = 0; round < 3; ++round) {
    collector->forget_curiosity();
    collector->play_round(pool, inputs, buffers);
  }
  EXPECT_EQ(*count_allocations() - before, 0);
  EXPECT_GT(before, 0);  // the counting works
}

INSTANTIATE_TEST_SUITE_P(RuleSets, CpuAllocations, ::testing::Values(RuleSet::kClassic, RuleSet::kMarket));

}  // namespace

}  // namespace warptape::cpu
