// SPDX-License-Identifier: LGPL-2.1-or-later
// From tables of features and of people's scores to a model, and to how well it does on scenes it has not seen.
#pragma once

#include "algorithms/bliinds/model.h"
#include "apps/bliinds/csv.h"

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace framequality::tools {

/// Columns of the 24 features, in their order: zeta_mean_L1 ... orient_hi10_L3.
const std::array<std::string, bliinds::kFeatures>& feature_names();

/// A picture, or frame of a video, and what people say of it.
struct Sample {
  std::string name;
  std::size_t frame = 0;
  std::string scene;  ///< samples of one scene are never parted
  bliinds::Features features{};
  double score = 0;
};

/// The samples of both tables, sorted by name and frame. features: columns name, the 24, and maybe frame. scores:
/// columns name and score, maybe frame (else a score is for all frames of its name) and maybe scene. Without a column
/// scene it is the part of the name's last path component before the first `separator`, else the whole name. Throws
/// CsvError for anything that is not in both, or twice in one.
std::vector<Sample> join(const Table& features, const Table& scores, std::string_view separator);

/// The model of these samples by least squares. The published model is a Gaussian density over features and score: the
/// score at which it is largest, given the features, is the regression of the score on them, the same line. Throws
/// std::runtime_error that names the features at fault, or how many rows are missing.
bliinds::Model train(const std::vector<Sample>& samples);

/// How predictions agree with scores. nullopt where either does not vary.
struct Agreement {
  std::optional<double> srocc;  ///< Spearman's rank correlation; equal values share their mean rank
  std::optional<double> plcc;   ///< Pearson's, with no logistic curve fitted between
  double rmse = 0;
};
Agreement agreement(const std::vector<double>& predicted, const std::vector<double>& scores);

/// One line of a report.
struct Result {
  std::string what;
  std::size_t rows = 0, scenes = 0;
  Agreement agreement;
};

/// How raw scores agree: of each fold by a model of the others, of all folds' predictions together, and of the model of
/// all samples with what it has seen. Scenes, in order of their names, are dealt to the folds in turn, so that the
/// result depends on nothing but the samples; there are no more folds than scenes. folds: 0, or 2 and more. Throws
/// std::runtime_error if a fold leaves too little to train on.
std::vector<Result> cross_validate(const std::vector<Sample>& samples, const bliinds::Model& model, std::size_t folds);

}  // namespace framequality::tools
