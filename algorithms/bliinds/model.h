// SPDX-License-Identifier: LGPL-2.1-or-later
// Models of BLIINDS-II, from features to a score: the published one, and the text form of others.
#pragma once

#include "algorithms/bliinds/meter.h"
#include "algorithms/bliinds/published_model.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace framequality::bliinds {

/// The most likely score for given features, which is linear in them. Unit: score, 0 best ... 99 worst.
struct Model {
  double constant = 0;
  Features weights{};
};

struct Score {
  double score;  ///< 0 best ... 99 worst in steps of 0.5, as the release gives it
  double raw;    ///< before rounding and clamping; any finite number
};

/// The model that the authors published.
inline Model published_model() {
  static_assert(std::size(kPublishedWeights) == kFeatures);
  Model m{kPublishedConstant, {}};
  for (std::size_t i = 0; i < kFeatures; ++i) m.weights[i] = kPublishedWeights[i];
  return m;
}

/// Score of the features. Differs from the release: where all of its probabilities underflow, it answers 0.
inline Score score_of(const Model& model, const Features& features) {
  double raw = model.constant;
  for (std::size_t i = 0; i < kFeatures; ++i) raw += model.weights[i] * features[i];
  // The release tries 1, 1.5 ... 100 and counts from 0; half way between two is rounded to even.
  const double steps = std::nearbyint(2 * (raw + 1));
  return {(steps < 2 ? 2 : steps > 200 ? 200 : steps) / 2 - 1, raw};
}

/// Tokens of a text, separated by white space, and their line numbers; `#` starts a comment.
class Tokens {
 public:
  explicit Tokens(std::string_view text) : text_(text) {}

  /// The next token; empty at the end of the text.
  std::string_view next() {
    for (bool comment = false; at_ < text_.size(); ++at_) {
      if (text_[at_] == '#') comment = true;
      if (text_[at_] == '\n') ++line_, comment = false;
      if (!comment && kSpace.find(text_[at_]) == kSpace.npos) break;
    }
    const std::size_t start = at_;
    while (at_ < text_.size() && text_[at_] != '#' && kSpace.find(text_[at_]) == kSpace.npos) ++at_;
    return text_.substr(start, at_ - start);
  }

  [[noreturn]] void refuse(const std::string& reason) const {
    throw std::invalid_argument("line " + std::to_string(line_) + ": " + reason);
  }

  /// The next n numbers, all finite.
  std::vector<double> numbers(std::size_t n) {
    std::vector<double> values;
    while (values.size() < n) {
      const std::string_view token = next();
      if (token.empty())
        refuse("the text ends after " + std::to_string(values.size()) + " of " + std::to_string(n) + " numbers");
      const bool plus = token.front() == '+' && !token.starts_with("+-");
      const char *first = token.data() + plus, *last = token.data() + token.size();
      double value = 0;
      const auto [end, error] = std::from_chars(first, last, value);
      if (error == std::errc::result_out_of_range || (error == std::errc() && !std::isfinite(value)))
        refuse("'" + std::string(token) + "' is not a finite number");
      if (error != std::errc() || end != last) refuse("'" + std::string(token) + "' is not a number");
      values.push_back(value);
    }
    return values;
  }

 private:
  static constexpr std::string_view kSpace = " \t\r\n\f\v";
  std::string_view text_;
  std::size_t at_ = 0;
  int line_ = 1;
};

/// The model whose score maximises a Gaussian density of 24 features and a score. mean: 25 numbers; inverse: 25 x 25
/// inverse covariance. Throws std::invalid_argument if the density has no maximum or its location is not finite.
inline Model model_of(const std::vector<double>& mean, const std::vector<double>& inverse) {
  constexpr std::size_t kOrder = kFeatures + 1;
  const double last = inverse[kOrder * kOrder - 1];
  if (!(last > 0)) throw std::invalid_argument("the model is singular: the last number must be positive");
  // The release counts its scores 1...100 from 0.
  Model m{mean[kFeatures] - 1, {}};
  for (std::size_t i = 0; i < kFeatures; ++i) {
    m.weights[i] = -(inverse[kFeatures * kOrder + i] + inverse[i * kOrder + kFeatures]) / 2 / last;
    m.constant -= m.weights[i] * mean[i];
  }
  bool finite = std::isfinite(m.constant);
  for (const double w : m.weights) finite = finite && std::isfinite(w);
  if (!finite)
    throw std::invalid_argument("the model is singular: the last number is so small that the weights overflow");
  return m;
}

/// A model from its text. Words are separated by white space, `#` starts a comment. The first word is the format:
///   linear     the constant, then the 24 weights
///   quadratic  the 25 means, then the 25 x 25 inverse covariance, row by row, of 24 features and a score that runs
///              from 1 to 100: the form in which the authors publish theirs
/// Throws std::invalid_argument with line and reason.
inline Model parse_model(std::string_view text) {
  Tokens tokens(text);
  Model model;
  const std::string kind(tokens.next());
  if (kind == "linear") {
    const std::vector<double> v = tokens.numbers(1 + kFeatures);
    model.constant = v[0];
    std::copy(v.begin() + 1, v.end(), model.weights.begin());
  } else if (kind == "quadratic") {
    const std::vector<double> mean = tokens.numbers(kFeatures + 1);
    const std::vector<double> inverse = tokens.numbers(std::size_t{kFeatures + 1} * (kFeatures + 1));
    try {
      model = model_of(mean, inverse);
    } catch (const std::invalid_argument& e) {
      tokens.refuse(e.what());
    }
  } else {
    tokens.refuse("expected 'linear' or 'quadratic'" + (kind.empty() ? ", found nothing" : ", found '" + kind + "'"));
  }
  if (const std::string_view more = tokens.next(); !more.empty())
    tokens.refuse("'" + std::string(more) + "' follows the last number");
  // Features stay far below 1e50, so that no score of this model overflows.
  double most = std::abs(model.constant);
  for (const double w : model.weights) most = std::max(most, std::abs(w));
  if (most > 1e250) tokens.refuse("a number above 1e250: scores would overflow");
  return model;
}

/// The text from which parse_model() restores this model, to the last bit.
inline std::string text_of(const Model& model) {
  char line[40];
  std::snprintf(line, sizeof line, "linear\n%.17g\n", model.constant);
  std::string text = line;
  for (const double w : model.weights) {
    std::snprintf(line, sizeof line, "%.17g\n", w);
    text += line;
  }
  return text;
}

}  // namespace framequality::bliinds
