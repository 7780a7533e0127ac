// The market's part of the first layer and the curiosity errors, kept in tables, have the bits of computing each anew.
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "backend/cpu/curiosity_table.h"
#include "backend/cpu/dueling_net.h"
#include "backend/cpu/market_layer.h"
#include "unit/backend/cpu/test_worlds.h"

namespace warptape::cpu {

namespace {

template <typename Container>
void fill(Container& x, std::uint64_t seed) {
  cpu_test::Uniform uniform(seed);
  for (float& value : x) value = static_cast<float>(uniform.around_zero(1));
}

TEST(CpuMarketLayer, HasTheBitsOfTheWholeLayer) {
  const DuelingShape shape = {54, 70, 8, 4, 4, 5};
  const int bars = 300, rows = 9;
  const DuelingNet net(shape);
  Floats parameters(net.parameter_count());
  const DenseLayer& layer = net.layers()[kShared0];
  std::vector<float> files(static_cast<std::size_t>(dueling_parameters(shape)));
  fill(files, 1);
  transpose_layers(net.layers(), false, files, parameters);
  std::vector<float> market(static_cast<std::size_t>(bars * 51)), numbers(static_cast<std::size_t>(rows * 3));
  fill(market, 2);
  fill(numbers, 3);
  std::vector<i32> bar = {0, 299, 128, 127, -1, 5, 5, 200, -1};
  for (int i = 0; i < 3; ++i) numbers[12 + i] = numbers[24 + i] = 0;  // rows of zeros

  const Market view{market.data(), 51};
  std::vector<float> state(static_cast<std::size_t>(rows * 54));
  for (int r = 0; r < rows; ++r)
    view.write_state(bar[static_cast<std::size_t>(r)], &numbers[static_cast<std::size_t>(r * 3)],
                     &state[static_cast<std::size_t>(r * 54)]);
  DuelingActivations whole(shape, rows), part(shape, rows);
  net.first_layer(parameters.data(), rows, state.data(), whole.at(0));
  ThreadPool pool(2);
  MarketLayer table;
  table.fill(pool, layer, parameters.data(), view, bars);
  table.finish(layer, parameters.data(), rows, bar.data(), numbers.data(), part.at(0).hidden_0);
  EXPECT_EQ(std::memcmp(whole.at(0).hidden_0, part.at(0).hidden_0,
                        static_cast<std::size_t>(rows * layer.stride) * sizeof(float)),
            0);
}

TEST(CpuMarketLayer, PaysWhereBarsAreVisitedTwice) {
  const DenseLayer layer = place_layer({54, 256, 0, 54 * 256}, nullptr);
  EXPECT_TRUE(MarketLayer::pays(layer, 32000, 64000));
  EXPECT_FALSE(MarketLayer::pays(layer, 32001, 64000));
  EXPECT_FALSE(MarketLayer::pays(layer, 1'000'000, 100'000'000));  // a gigabyte
}

TEST(CpuCuriosityTable, GivesWhatTheModelGivesUntilItIsCleared) {
  const CuriosityShape shape = curiosity_shape(4, 6);
  const CuriosityNet net(shape);
  std::vector<float> files(static_cast<std::size_t>(curiosity_parameters(shape)));
  Floats parameters(net.parameter_count());
  fill(files, 1);
  transpose_layers(net.layers(), false, files, parameters);
  std::vector<float> market(4 * 10);
  fill(market, 2);
  const Market view{market.data(), 4};
  CuriosityTable table(shape, view, 10);
  CuriosityTable::Scratch scratch(shape);
  const std::vector<CuriosityTable::Key> keys = {
      {3, Category::kLong}, {0, Category::kFlat}, {3, Category::kLong}, {8, Category::kShort}};
  const auto ask = [&] {
    std::vector<float> errors(keys.size());
    table.errors(parameters.data(), keys, scratch, errors.data());
    return errors;
  };
  const std::vector<float> first = ask();
  CuriosityActivations act(shape, 1);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    float error = 0;
    net.fill_row(view, keys[i].bar, keys[i].category, 0, act.at(0));
    net.forward(parameters.data(), 1, act.at(0), &error);
    EXPECT_EQ(first[i], error) << i;
  }
  for (float& w : parameters) w *= 2;
  EXPECT_EQ(ask(), first);  // kept
  table.clear();
  EXPECT_NE(ask(), first);
}

}  // namespace

}  // namespace warptape::cpu
