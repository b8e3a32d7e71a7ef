// SPDX-License-Identifier: LGPL-2.1-or-later
// The parts of framequality-bliinds that need no video: tables, least squares, folds, correlations.
#include "apps/bliinds/least_squares.h"
#include "apps/bliinds/training.h"
#include "tests/support/random.h"

#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>

namespace framequality::test {
namespace {

using namespace framequality::tools;
using bliinds::Features;
using bliinds::kFeatures;
using bliinds::Model;
using ::testing::HasSubstr;

/// What the reason of a failure is; empty if there is none.
template <class F>
std::string refusal(F&& body) {
  try {
    body();
  } catch (const std::runtime_error& e) {
    return e.what();
  }
  return "";
}

double uniform(Random& random) { return static_cast<double>(random.next() >> 11) * 0x1p-53; }

// --- Tables ---------------------------------------------------------------------------------------------------------

TEST(Csv, AnyBytesComeBack) {
  const std::vector<std::string> hostile{"plain",
                                         "",
                                         "a,b",
                                         "\"",
                                         "say \"hi\"",
                                         "two\nlines",
                                         "cr\rlf\r\n",
                                         " x ",
                                         "\xff\xfe\x01",
                                         "end quote\"",
                                         std::string("nul\0x", 5)};
  std::vector<std::string> header;
  for (std::size_t i = 0; i < hostile.size(); ++i) header.push_back("c" + std::to_string(i));
  const Table table(csv_record(header) + csv_record(hostile) + csv_record(hostile), "t.csv");
  ASSERT_EQ(table.records().size(), 2u);
  for (const Table::Record& r : table.records()) EXPECT_EQ(r.fields, hostile);
  EXPECT_EQ(table.column("c3"), 3u);
}

TEST(Csv, LineEndsBlankLinesAndByteOrderMark) {
  for (const char* text : {"a,b\n1,2\n3,4\n", "a,b\r\n1,2\r\n3,4\r\n",
                           "\xef\xbb\xbf"
                           "a,b\n1,2\n\n\r\n3,4",
                           "a,\"b\"\n\"1\",2\n3,\"4\""}) {
    const Table table(text, "t.csv");
    ASSERT_EQ(table.records().size(), 2u) << text;
    EXPECT_EQ(table.number(table.records()[1], table.column("b")), 4) << text;
    EXPECT_EQ(table.column("a"), 0u);
  }
}

TEST(Csv, ErrorsNameFileLineAndReason) {
  for (const auto& [text, reason] : {std::pair{"", "t.csv: line 1: no header"},
                                     {"a,b\n1,2\n3\n", "t.csv: line 3: 1 fields, but the header has 2"},
                                     {"a,b\n\"x\ny\",2\n3,4,5\n", "t.csv: line 4: 3 fields"},
                                     {"a,b\n1,\"2\n3,4\n", "t.csv: line 2: a quote that does not end"},
                                     {"a,b\n1,2\"\n", "t.csv: line 2: a quote inside"},
                                     {"a,b\n1,\"2\"3\n", "t.csv: line 2: text behind the quote"}})
    EXPECT_THAT(refusal([&, t = text] { Table(t, "t.csv"); }), HasSubstr(reason));
  const Table table("a,b,b\nnan,2,3\n1e999,,4\n-1,x,y\n", "t.csv");
  EXPECT_THAT(refusal([&] { table.column("z"); }), HasSubstr("line 1: no column 'z'"));
  EXPECT_THAT(refusal([&] { table.column("b"); }), HasSubstr("two columns 'b'"));
  for (const auto& [row, column, line] :
       {std::tuple{0, 0, "line 2"}, {1, 0, "line 3"}, {1, 1, "line 3"}, {2, 1, "line 4"}})
    EXPECT_THAT(refusal([&, r = row, c = column] {
                  table.number(table.records()[static_cast<std::size_t>(r)], static_cast<std::size_t>(c));
                }),
                HasSubstr(line));
  EXPECT_THAT(refusal([&] { table.whole(table.records()[2], 0); }), HasSubstr("'-1' is not a whole number"));
  EXPECT_THAT(refusal([] { read_csv("/nonexistent.csv"); }), HasSubstr("No such file"));
  EXPECT_THAT(refusal([] { read_csv("/tmp"); }), HasSubstr("directory"));
}

TEST(Csv, DigitsReadBack) {
  Random random(1);
  for (int i = 0; i < 1000; ++i) {
    const double v = std::ldexp(uniform(random) - 0.5, random.below(200) - 100);
    EXPECT_EQ(std::stod(digits(v)), v);
  }
}

// --- Least squares --------------------------------------------------------------------------------------------------

/// Rows like real ones: each statistic in its own range, scales alike.
std::vector<Features> random_rows(std::size_t n, std::uint64_t seed) {
  Random random(seed);
  std::vector<Features> rows(n);
  for (Features& row : rows) {
    const double common = uniform(random);
    for (std::size_t i = 0; i < kFeatures; ++i)
      row[i] = (0.1 + static_cast<double>(i % 8)) * (common + 0.3 * uniform(random));
  }
  return rows;
}

Model some_model(std::uint64_t seed) {
  Random random(seed);
  Model model;
  model.constant = 40;
  for (double& w : model.weights) w = 20 * (uniform(random) - 0.5);
  return model;
}

std::vector<double> scores_by(const Model& model, const std::vector<Features>& rows) {
  std::vector<double> scores;
  for (const Features& row : rows) scores.push_back(bliinds::score_of(model, row).raw);
  return scores;
}

void expect_same(const Model& a, const Model& b, double tolerance) {
  EXPECT_NEAR(a.constant, b.constant, tolerance * (1 + std::abs(b.constant)));
  for (std::size_t i = 0; i < kFeatures; ++i)
    EXPECT_NEAR(a.weights[i], b.weights[i], tolerance * (1 + std::abs(b.weights[i]))) << i;
}

TEST(LeastSquares, KnownModelComesBack) {
  for (const std::size_t rows : {25u, 26u, 60u, 3000u}) {
    const auto features = random_rows(rows, rows);
    for (const Model& model : {some_model(3), bliinds::published_model()})
      expect_same(least_squares(features, scores_by(model, features)), model, rows == 25 ? 1e-8 : 1e-10);
  }
}

TEST(LeastSquares, ScalesAndOffsetsDoNotMatter) {
  auto features = random_rows(200, 5);
  Model model = some_model(6);
  for (std::size_t i = 0; i < kFeatures; ++i) {
    const double scale = std::pow(10.0, static_cast<double>(i) / 2 - 6);
    for (Features& row : features) row[i] = (row[i] + 10) * scale;
    model.weights[i] /= scale;
  }
  const Model found = least_squares(features, scores_by(model, features));
  for (std::size_t i = 0; i < kFeatures; ++i) EXPECT_NEAR(found.weights[i] / model.weights[i], 1, 1e-8) << i;
}

TEST(LeastSquares, WhatIsLeftIsOrthogonalToEveryFeature) {
  const auto features = random_rows(300, 7);
  Random random(8);
  auto scores = scores_by(some_model(9), features);
  for (double& s : scores) s += 30 * (uniform(random) - 0.5);
  const Model model = least_squares(features, scores);
  const auto fitted = scores_by(model, features);
  double sum = 0;
  for (std::size_t i = 0; i < scores.size(); ++i) sum += scores[i] - fitted[i];
  EXPECT_NEAR(sum, 0, 1e-8);
  for (std::size_t f = 0; f < kFeatures; ++f) {
    double product = 0;
    for (std::size_t i = 0; i < scores.size(); ++i) product += (scores[i] - fitted[i]) * features[i][f];
    EXPECT_NEAR(product, 0, 1e-7) << f;
  }
}

/// The inverse by Gauss and Jordan, with the largest pivot of each column.
std::vector<double> inverse_of(std::vector<double> a, std::size_t n) {
  std::vector<double> inverse(n * n, 0);
  for (std::size_t i = 0; i < n; ++i) inverse[i * n + i] = 1;
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t pivot = k;
    for (std::size_t i = k; i < n; ++i)
      if (std::abs(a[i * n + k]) > std::abs(a[pivot * n + k])) pivot = i;
    for (std::size_t j = 0; j < n; ++j) {
      std::swap(a[k * n + j], a[pivot * n + j]);
      std::swap(inverse[k * n + j], inverse[pivot * n + j]);
    }
    const double p = a[k * n + k];
    for (std::size_t j = 0; j < n; ++j) a[k * n + j] /= p, inverse[k * n + j] /= p;
    for (std::size_t i = 0; i < n; ++i) {
      if (i == k) continue;
      const double factor = a[i * n + k];
      for (std::size_t j = 0; j < n; ++j) {
        a[i * n + j] -= factor * a[k * n + j];
        inverse[i * n + j] -= factor * inverse[k * n + j];
      }
    }
  }
  return inverse;
}

TEST(LeastSquares, IsTheMaximumOfTheGaussianDensityThatTheAuthorsFit) {
  const auto features = random_rows(400, 10);
  Random random(11);
  auto scores = scores_by(some_model(12), features);
  for (double& s : scores) s += 10 * (uniform(random) - 0.5);
  constexpr std::size_t n = kFeatures + 1;
  const auto value = [&](std::size_t row, std::size_t i) {
    return i < kFeatures ? features[row][i] : scores[row] + 1;  // the release counts scores from 1
  };
  std::vector<double> mean(n, 0), covariance(n * n, 0);
  for (std::size_t r = 0; r < scores.size(); ++r)
    for (std::size_t i = 0; i < n; ++i) mean[i] += value(r, i) / static_cast<double>(scores.size());
  for (std::size_t r = 0; r < scores.size(); ++r)
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j)
        covariance[i * n + j] +=
            (value(r, i) - mean[i]) * (value(r, j) - mean[j]) / static_cast<double>(scores.size() - 1);
  expect_same(bliinds::model_of(mean, inverse_of(covariance, n)), least_squares(features, scores), 1e-7);
}

std::vector<std::size_t> deficient(const std::vector<Features>& features) {
  try {
    least_squares(features, std::vector<double>(features.size(), 1));
  } catch (const RankDeficient& e) {
    return e.columns;
  }
  return {};
}

TEST(LeastSquares, ColumnsAtFaultAreNamed) {
  auto features = random_rows(100, 13);
  EXPECT_TRUE(deficient(features).empty());
  for (Features& row : features) row[7] = 0.3;
  EXPECT_EQ(deficient(features), std::vector<std::size_t>{7});
  features = random_rows(100, 13);
  for (Features& row : features) row[5] = 3 * row[2] - 1;
  const auto one = deficient(features);
  ASSERT_EQ(one.size(), 1u);
  EXPECT_TRUE(one[0] == 5 || one[0] == 2);
  for (Features& row : features) row[9] = row[10] + row[11];
  EXPECT_EQ(deficient(features).size(), 2u);
  EXPECT_EQ(deficient(random_rows(24, 13)).size(), kFeatures);
  EXPECT_EQ(deficient(std::vector<Features>(50, features[0])).size(), kFeatures);
}

// --- Training -------------------------------------------------------------------------------------------------------

std::string features_csv(const std::vector<std::string>& names, const std::vector<Features>& rows) {
  std::vector<std::string> header{"name", "frame"};
  header.insert(header.end(), feature_names().begin(), feature_names().end());
  std::string text = csv_record(header);
  for (std::size_t i = 0; i < names.size(); ++i) {
    std::vector<std::string> record{names[i], "0"};
    for (const double v : rows[i]) record.push_back(digits(v));
    text += csv_record(record);
  }
  return text;
}

TEST(Training, FeatureNamesAreTheOrderOfTheRelease) {
  EXPECT_EQ(feature_names()[0], "zeta_mean_L1");
  EXPECT_EQ(feature_names()[11], "gamma_lo10_L2");
  EXPECT_EQ(feature_names()[23], "orient_hi10_L3");
  EXPECT_EQ(std::set<std::string>(feature_names().begin(), feature_names().end()).size(), kFeatures);
}

TEST(Training, TablesAreJoinedByNameInAnyOrder) {
  const auto rows = random_rows(3, 1);
  const Table features(features_csv({"dir/b_1.png", "a, \"x\"_2.png", "c"}, rows), "f.csv");
  const Table scores("score,name\n30,c\n10,\"a, \"\"x\"\"_2.png\"\n20,dir/b_1.png\n", "s.csv");
  const auto samples = join(features, scores, "_");
  ASSERT_EQ(samples.size(), 3u);
  EXPECT_EQ(samples[0].name, "a, \"x\"_2.png");
  EXPECT_EQ(samples[0].scene, "a, \"x\"");
  EXPECT_EQ(samples[0].score, 10);
  EXPECT_EQ(samples[0].features, rows[1]);
  EXPECT_EQ(samples[2].scene, "b") << "without folders";
  EXPECT_EQ(join(features, scores, "")[2].scene, "dir/b_1.png");
  const Table named("name,score,scene\nc,30,s\n\"a, \"\"x\"\"_2.png\",1,s\ndir/b_1.png,2,t\n", "s.csv");
  EXPECT_EQ(join(features, named, "_")[1].scene, "s");
}

TEST(Training, FramesShareTheScoreOfTheirVideoOrHaveTheirOwn) {
  const auto rows = random_rows(2, 1);
  std::string text = features_csv(std::vector<std::string>(2, "v"), rows);
  text.replace(text.rfind("v,0"), 3, "v,1");
  const Table features(text, "f.csv");
  const auto shared = join(features, Table("name,score\nv,7\n", "s.csv"), "");
  ASSERT_EQ(shared.size(), 2u);
  EXPECT_EQ(shared[1].score, 7);
  EXPECT_EQ(shared[1].frame, 1u);
  EXPECT_EQ(join(features, Table("name,frame,score\nv,0,7\nv,1,8\n", "s.csv"), "")[1].score, 8);
}

TEST(Training, WhatIsNotInBothTablesIsAnError) {
  const Table features(features_csv({"a", "b"}, random_rows(2, 1)), "f.csv");
  const auto reason = [&](const char* scores) { return refusal([&] { join(features, Table(scores, "s.csv"), ""); }); };
  EXPECT_THAT(reason("name,score\na,1\n"), HasSubstr("f.csv: line 3: 'b' has no score"));
  EXPECT_THAT(reason("name,score\na,1\nc,2\nb,3\n"), HasSubstr("s.csv: line 3: 'c' has no features"));
  EXPECT_THAT(reason("name,score\na,1\nb,2\na,3\n"), HasSubstr("s.csv: line 4: 'a' a second time"));
  EXPECT_THAT(reason("name,score\na,nan\nb,2\n"), HasSubstr("s.csv: line 2: column 'score': 'nan'"));
  EXPECT_THAT(reason("name,mos\na,1\n"), HasSubstr("no column 'score'"));
  const Table twice(features_csv({"a", "a"}, random_rows(2, 1)), "f.csv");
  EXPECT_THAT(refusal([&] { join(twice, Table("name,score\na,1\n", "s.csv"), ""); }), HasSubstr("line 3: 'a' frame 0"));
}

TEST(Training, TooFewRowsAndNamelessFeatures) {
  std::vector<Sample> samples(24);
  EXPECT_THAT(refusal([&] { train(samples); }), HasSubstr("24 rows are too few"));
  const auto rows = random_rows(40, 2);
  samples.resize(40);
  for (std::size_t i = 0; i < 40; ++i) samples[i].features = rows[i], samples[i].features[3] = 11;
  EXPECT_THAT(refusal([&] { train(samples); }), HasSubstr(": gamma_lo10_L1."));
}

/// Four pictures of each scene; scores by a model, plus noise.
std::vector<Sample> samples_of(std::size_t scenes, double noise) {
  const auto rows = random_rows(4 * scenes, 21);
  Random random(22);
  std::vector<Sample> samples;
  for (std::size_t i = 0; i < rows.size(); ++i)
    samples.push_back({"p" + std::to_string(i), 0, "s" + std::to_string(i / 4), rows[i],
                       bliinds::score_of(some_model(23), rows[i]).raw + noise * (uniform(random) - 0.5)});
  return samples;
}

TEST(Training, FoldsPartScenesAndSeeThroughAPerfectModel) {
  const auto samples = samples_of(23, 0);
  const auto results = cross_validate(samples, train(samples), 5);
  ASSERT_EQ(results.size(), 7u);
  std::size_t rows = 0, scenes = 0;
  for (std::size_t i = 0; i < 5; ++i) rows += results[i].rows, scenes += results[i].scenes;
  EXPECT_EQ(rows, 92u);
  EXPECT_EQ(scenes, 23u) << "no scene is in two folds";
  EXPECT_EQ(results[5].what, "unseen");
  EXPECT_EQ(results[5].rows, 92u);
  for (const Result& r : results) {
    EXPECT_NEAR(*r.agreement.plcc, 1, 1e-9);
    EXPECT_NEAR(*r.agreement.srocc, 1, 1e-9);
    EXPECT_NEAR(r.agreement.rmse, 0, 1e-7);
  }
}

TEST(Training, UnseenScenesAreWorseThanSeenOnes) {
  const auto samples = samples_of(15, 60);
  const auto results = cross_validate(samples, train(samples), 5);
  EXPECT_GT(results[5].agreement.rmse, 1.2 * results[6].agreement.rmse);
  EXPECT_LT(*results[5].agreement.srocc, *results[6].agreement.srocc);
}

TEST(Training, FoldsAreNoMoreThanScenesAndMayBeNone) {
  const auto samples = samples_of(10, 1);
  const Model model = train(samples);
  EXPECT_EQ(cross_validate(samples, model, 100).size(), 12u);
  EXPECT_EQ(cross_validate(samples, model, 0).size(), 1u);
  auto one_scene = samples;
  for (Sample& s : one_scene) s.scene = "s";
  EXPECT_EQ(cross_validate(one_scene, model, 5).size(), 1u);
  EXPECT_THAT(refusal([&] { cross_validate(samples, model, 2); }),
              HasSubstr("fold 1 of 2: without its scenes 20 rows"));
}

TEST(Training, AgreementByHand) {
  const Agreement perfect = agreement({1, 2, 3}, {10, 20, 30});
  EXPECT_DOUBLE_EQ(*perfect.plcc, 1);
  EXPECT_DOUBLE_EQ(*perfect.srocc, 1);
  EXPECT_DOUBLE_EQ(perfect.rmse, std::sqrt((81.0 + 324 + 729) / 3));
  EXPECT_DOUBLE_EQ(*agreement({1, 2, 3}, {9, 4, 1}).srocc, -1);
  // Ranks 0, 1.5, 1.5, 3 against 0, 1, 2, 3.
  EXPECT_DOUBLE_EQ(*agreement({1, 2, 2, 9}, {1, 2, 3, 4}).srocc, 4.5 / std::sqrt(4.5 * 5));
  EXPECT_FALSE(agreement({1, 1}, {1, 2}).srocc);
  EXPECT_FALSE(agreement({1, 2}, {3, 3}).plcc);
  EXPECT_FALSE(agreement({1}, {1}).plcc);
}

}  // namespace
}  // namespace framequality::test
