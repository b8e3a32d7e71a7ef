// SPDX-License-Identifier: LGPL-2.1-or-later
// From tables of features and of people's scores to a model, and to how well it does on scenes it has not seen.
#include "apps/bliinds/training.h"

#include "apps/bliinds/least_squares.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <stdexcept>
#include <utility>

namespace framequality::tools {

namespace {

constexpr std::size_t kAllFrames = std::numeric_limits<std::size_t>::max();
constexpr std::size_t kLeastRows = bliinds::kFeatures + 1;

using Key = std::pair<std::string, std::size_t>;

std::string text_of(const Key& key) {
  return "'" + key.first + (key.second == kAllFrames ? "'" : "' frame " + std::to_string(key.second));
}

std::string scene_of(const std::string& name, std::string_view separator) {
  if (separator.empty()) return name;
  const std::size_t slash = name.rfind('/');
  const std::string last = name.substr(slash == name.npos ? 0 : slash + 1);
  return last.substr(0, last.find(separator));
}

struct Opinion {
  double score;
  std::string scene;
  std::size_t line;
  bool used = false;
};

std::map<Key, Opinion> opinions_in(const Table& table, std::string_view separator) {
  const std::size_t name = table.column("name"), score = table.column("score");
  const auto frame = table.find_column("frame"), scene = table.find_column("scene");
  std::map<Key, Opinion> opinions;
  for (const Table::Record& r : table.records()) {
    const Key key{r.fields[name], frame ? table.whole(r, *frame) : kAllFrames};
    Opinion opinion{table.number(r, score), scene ? r.fields[*scene] : scene_of(key.first, separator), r.line};
    if (!opinions.emplace(key, std::move(opinion)).second) table.refuse(r.line, text_of(key) + " a second time");
  }
  return opinions;
}

/// What `of` gives for each sample.
template <class F>
auto each(const std::vector<Sample>& samples, F of) {
  std::vector<decltype(of(samples[0]))> values;
  values.reserve(samples.size());
  for (const Sample& s : samples) values.push_back(of(s));
  return values;
}

std::vector<double> predict(const bliinds::Model& model, const std::vector<Sample>& samples) {
  return each(samples, [&](const Sample& s) { return bliinds::score_of(model, s.features).raw; });
}

std::vector<double> scores_of(const std::vector<Sample>& samples) {
  return each(samples, [](const Sample& s) { return s.score; });
}

std::set<std::string> scenes_of(const std::vector<Sample>& samples) {
  std::set<std::string> scenes;
  for (const Sample& s : samples) scenes.insert(s.scene);
  return scenes;
}

Result result_of(std::string what, const std::vector<Sample>& samples, const std::vector<double>& predicted) {
  return {std::move(what), samples.size(), scenes_of(samples).size(), agreement(predicted, scores_of(samples))};
}

std::optional<double> pearson(const std::vector<double>& a, const std::vector<double>& b) {
  const auto n = static_cast<double>(a.size());
  const double mean_a = std::accumulate(a.begin(), a.end(), 0.0) / n;
  const double mean_b = std::accumulate(b.begin(), b.end(), 0.0) / n;
  double aa = 0, ab = 0, bb = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    aa += (a[i] - mean_a) * (a[i] - mean_a);
    ab += (a[i] - mean_a) * (b[i] - mean_b);
    bb += (b[i] - mean_b) * (b[i] - mean_b);
  }
  if (aa == 0 || bb == 0) return std::nullopt;
  return ab / std::sqrt(aa) / std::sqrt(bb);
}

std::vector<double> ranks(const std::vector<double>& values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t i, std::size_t j) { return values[i] < values[j]; });
  std::vector<double> ranks(values.size());
  for (std::size_t first = 0, last; first < order.size(); first = last) {
    for (last = first + 1; last < order.size() && values[order[last]] == values[order[first]];) ++last;
    for (std::size_t i = first; i < last; ++i) ranks[order[i]] = static_cast<double>(first + last - 1) / 2;
  }
  return ranks;
}

}  // namespace

const std::array<std::string, bliinds::kFeatures>& feature_names() {
  static const auto names = [] {
    std::array<std::string, bliinds::kFeatures> list;
    std::size_t i = 0;
    for (const char* scale : {"_L1", "_L2", "_L3"})
      for (const char* statistic : {"zeta_mean", "zeta_hi10", "gamma_mean", "gamma_lo10", "energy_mean", "energy_hi10",
                                    "orient_mean", "orient_hi10"})
        list.at(i++) = std::string(statistic) + scale;
    return list;
  }();
  return names;
}

std::vector<Sample> join(const Table& features, const Table& scores, std::string_view separator) {
  std::map<Key, Opinion> opinions = opinions_in(scores, separator);
  const bool by_frame = scores.find_column("frame").has_value();
  const std::size_t name = features.column("name");
  const auto frame = features.find_column("frame");
  std::array<std::size_t, bliinds::kFeatures> columns;
  std::transform(feature_names().begin(), feature_names().end(), columns.begin(),
                 [&](const std::string& n) { return features.column(n); });
  std::map<Key, Sample> samples;
  for (const Table::Record& r : features.records()) {
    Sample s;
    s.name = r.fields[name];
    s.frame = frame ? features.whole(r, *frame) : 0;
    for (std::size_t i = 0; i < columns.size(); ++i) s.features[i] = features.number(r, columns[i]);
    const Key key{s.name, s.frame}, wanted{s.name, by_frame ? s.frame : kAllFrames};
    const auto found = opinions.find(wanted);
    if (found == opinions.end()) features.refuse(r.line, text_of(wanted) + " has no score");
    found->second.used = true;
    s.score = found->second.score;
    s.scene = found->second.scene;
    if (!samples.emplace(key, std::move(s)).second) features.refuse(r.line, text_of(key) + " a second time");
  }
  for (const auto& [key, opinion] : opinions)
    if (!opinion.used) scores.refuse(opinion.line, text_of(key) + " has no features");
  std::vector<Sample> list;
  list.reserve(samples.size());
  for (auto& [key, sample] : samples) list.push_back(std::move(sample));
  return list;
}

bliinds::Model train(const std::vector<Sample>& samples) {
  if (samples.size() < kLeastRows)
    throw std::runtime_error(std::to_string(samples.size()) + " rows are too few: 24 weights and a constant need " +
                             std::to_string(kLeastRows));
  try {
    return least_squares(each(samples, [](const Sample& s) { return s.features; }), scores_of(samples));
  } catch (const RankDeficient& e) {
    std::string names;
    for (const std::size_t i : e.columns) names += (names.empty() ? "" : ", ") + feature_names().at(i);
    throw std::runtime_error("the features are rank-deficient: these are constant, or follow from the others: " +
                             names + ". Add pictures that differ more");
  }
}

Agreement agreement(const std::vector<double>& predicted, const std::vector<double>& scores) {
  double squares = 0;
  for (std::size_t i = 0; i < scores.size(); ++i) squares += (predicted[i] - scores[i]) * (predicted[i] - scores[i]);
  return {pearson(ranks(predicted), ranks(scores)), pearson(predicted, scores),
          std::sqrt(squares / static_cast<double>(scores.size()))};
}

std::vector<Result> cross_validate(const std::vector<Sample>& samples, const bliinds::Model& model, std::size_t folds) {
  const std::set<std::string> scenes = scenes_of(samples);
  folds = std::min(folds, scenes.size());
  std::vector<Result> results;
  std::vector<Sample> all_tested;
  std::vector<double> all_predicted;
  for (std::size_t fold = 0; folds > 1 && fold < folds; ++fold) {
    std::set<std::string> held_out;
    std::size_t i = 0;
    for (const std::string& scene : scenes)
      if (i++ % folds == fold) held_out.insert(scene);
    std::vector<Sample> trained, tested;
    for (const Sample& s : samples) (held_out.contains(s.scene) ? tested : trained).push_back(s);
    const std::string what = "fold " + std::to_string(fold + 1);
    std::vector<double> predicted;
    try {
      predicted = predict(train(trained), tested);
    } catch (const std::runtime_error& e) {
      throw std::runtime_error(what + " of " + std::to_string(folds) + ": without its scenes " + e.what());
    }
    results.push_back(result_of(what, tested, predicted));
    all_tested.insert(all_tested.end(), tested.begin(), tested.end());
    all_predicted.insert(all_predicted.end(), predicted.begin(), predicted.end());
  }
  if (!results.empty()) results.push_back(result_of("unseen", all_tested, all_predicted));
  results.push_back(result_of("in sample", samples, predict(model, samples)));
  return results;
}

}  // namespace framequality::tools
