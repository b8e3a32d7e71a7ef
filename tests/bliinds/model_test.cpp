// SPDX-License-Identifier: LGPL-2.1-or-later
// Scores of features, and models from text: what is read, what is refused and in which words.
#include "algorithms/bliinds/model.h"

#include <functional>
#include <gtest/gtest.h>
#include <limits>
#include <string>

namespace framequality::bliinds {
namespace {

std::string repeat(const std::string& word, int n) {
  std::string text;
  for (int i = 0; i < n; ++i) text += word;
  return text;
}

std::string refusal_of(const std::string& text) {
  try {
    parse_model(text);
  } catch (const std::invalid_argument& e) {
    return e.what();
  }
  return "accepted";
}

TEST(BliindsModel, ScoreIsRoundedToHalvesAndClamped) {
  Model model;
  const auto score = [&](double raw) {
    model.constant = raw;
    return score_of(model, {}).score;
  };
  EXPECT_EQ(score(31.2), 31);
  EXPECT_EQ(score(31.3), 31.5);
  EXPECT_EQ(score(30.25), 30) << "half way, to the even number of halves";
  EXPECT_EQ(score(30.75), 31) << "half way, to the even number of halves";
  EXPECT_EQ(score(-0.1), 0);
  EXPECT_EQ(score(-400), 0);
  EXPECT_EQ(score(98.8), 99);
  EXPECT_EQ(score(1e300), 99);
  EXPECT_EQ(score_of(model, {}).raw, 1e300);
}

TEST(BliindsModel, RawIsLinearInTheFeatures) {
  Model model{7, {}};
  Features features{};
  for (std::size_t i = 0; i < kFeatures; ++i) {
    model.weights[i] = static_cast<double>(i + 1);
    features[i] = 1.0 / static_cast<double>(i + 1);
  }
  EXPECT_NEAR(score_of(model, features).raw, 31, 1e-12);
}

TEST(BliindsModel, TextGivesTheModelBack) {
  const Model model = published_model();
  const Model again = parse_model(text_of(model));
  EXPECT_EQ(again.constant, model.constant);
  EXPECT_EQ(again.weights, model.weights);
}

TEST(BliindsModel, LinearTextMayHoldCommentsAndSigns) {
  const Model model =
      parse_model("# fitted to nothing\n\n  linear # kind\r\n+1.5 -2e-1" + repeat("\t0", 22) + "# end\n.25");
  EXPECT_EQ(model.constant, 1.5);
  EXPECT_EQ(model.weights.front(), -0.2);
  EXPECT_EQ(model.weights.back(), 0.25);
}

/// Of a diagonal inverse with a last row and column: s = m_s - a (f - m) / A_ss.
TEST(BliindsModel, QuadraticTextGivesTheMinimumOfTheForm) {
  std::string text = "quadratic\n" + repeat("2 ", 24) + "40\n";
  for (int i = 0; i < 25; ++i) {
    for (int j = 0; j < 25; ++j)
      text += i == 24 && j == 24 ? "0.5 " : i == 24 ? "1 " : j == 24 ? "3 " : i == j ? "9 " : "0 ";
    text += "\n";
  }
  const Model model = parse_model(text);
  for (const double w : model.weights) EXPECT_EQ(w, -4);
  EXPECT_EQ(model.constant, 39 + 24 * 4 * 2);
}

TEST(BliindsModel, RefusalsNameLineAndReason) {
  EXPECT_EQ(refusal_of(""), "line 1: expected 'linear' or 'quadratic', found nothing");
  EXPECT_EQ(refusal_of("# nothing\n"), "line 2: expected 'linear' or 'quadratic', found nothing");
  EXPECT_EQ(refusal_of("\nLinear"), "line 2: expected 'linear' or 'quadratic', found 'Linear'");
  EXPECT_EQ(refusal_of("linear\n1 2\n3"), "line 3: the text ends after 3 of 25 numbers");
  EXPECT_EQ(refusal_of("linear\n1\ntwo"), "line 3: 'two' is not a number");
  EXPECT_EQ(refusal_of("linear\n1,2"), "line 2: '1,2' is not a number");
  EXPECT_EQ(refusal_of("linear\n+"), "line 2: '+' is not a number");
  EXPECT_EQ(refusal_of("linear\n+-3"), "line 2: '+-3' is not a number");
  EXPECT_EQ(refusal_of("linear\n1\n\nnan"), "line 4: 'nan' is not a finite number");
  EXPECT_EQ(refusal_of("linear -inf"), "line 1: '-inf' is not a finite number");
  EXPECT_EQ(refusal_of("linear 1e999"), "line 1: '1e999' is not a finite number");
  EXPECT_EQ(refusal_of("linear" + repeat(" 1", 24) + "\n1e300"), "line 2: a number above 1e250: scores would overflow");
  EXPECT_EQ(refusal_of("linear" + repeat(" 1", 25) + "\n26"), "line 2: '26' follows the last number");
  EXPECT_EQ(refusal_of("quadratic" + repeat(" 1", 25) + "\n" + repeat("1 ", 624)),
            "line 2: the text ends after 624 of 625 numbers");
  EXPECT_EQ(refusal_of("quadratic" + repeat(" 1", 25) + "\n" + repeat("1 ", 624) + "0"),
            "line 2: the model is singular: the last number must be positive");
  EXPECT_EQ(refusal_of("quadratic" + repeat(" 1", 25) + "\n" + repeat("1 ", 624) + "1e-308"),
            "line 2: the model is singular: the last number is so small that the weights overflow");
}

}  // namespace
}  // namespace framequality::bliinds
