// SPDX-License-Identifier: LGPL-2.1-or-later
// The authors' own features and scores, and the published parameters, from the folder of oracles.
#include "algorithms/bliinds/model.h"
#include "cpu/bliinds/meter.h"
#include "cpu/dispatch.h"
#include "tests/bliinds/reference.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <opencv2/imgcodecs.hpp>
#include <sstream>
#include <string>
#include <vector>

namespace framequality::test {
namespace {

struct Row {
  std::string name;
  int width, height;
  bliinds::Features features;
  double score;
};

class BliindsOracle : public testing::Test {
 protected:
  void SetUp() override {
    const char* root = std::getenv("FQ_SOURCE_ROOT");
    folder_ = std::filesystem::path(root ? root : ".") / "../shared/oracles/bliinds";
    if (!std::filesystem::exists(folder_)) GTEST_SKIP() << "no oracle at " << folder_;
  }

  std::vector<Row> rows(const std::string& file) const {
    std::ifstream in(folder_ / file);
    std::vector<Row> out;
    std::string line;
    std::getline(in, line);
    while (std::getline(in, line)) {
      std::istringstream words(line);
      const auto next = [&] {
        std::string word;
        std::getline(words, word, ',');
        return word;
      };
      Row row;
      row.name = next();
      row.height = std::stoi(next());
      row.width = std::stoi(next());
      for (double& f : row.features) f = std::stod(next());
      row.score = std::stod(next());
      out.push_back(row);
    }
    return out;
  }

  std::filesystem::path folder_;
};

/// The largest difference that the features of the published release may have: of its own rounding, see the oracle.
constexpr double kTolerance = 1e-6;

TEST_F(BliindsOracle, FeaturesAndScoresAreTheAuthorsOwn) {
  const bliinds::Model model = bliinds::published_model();
  const BliindsReference reference;
  double largest = 0;
  int pictures = 0;
  for (const auto& [file, images] :
       {std::pair("octave_features.csv", "images"), {"octave_features_edge.csv", "images_edge"}})
    for (const Row& row : rows(file)) {
      const cv::Mat gray = cv::imread((folder_ / images / (row.name + ".png")).string(), cv::IMREAD_GRAYSCALE);
      ASSERT_TRUE(gray.cols == row.width && gray.rows == row.height) << row.name;
      ++pictures;
      Frame frame;
      frame.plane[0] = gray.data;
      frame.stride[0] = static_cast<std::ptrdiff_t>(gray.step);
      const auto compare = [&](const bliinds::Features& features, std::string_view who) {
        for (std::size_t i = 0; i < bliinds::kFeatures; ++i) {
          EXPECT_NEAR(features[i], row.features[i], kTolerance) << row.name << " feature " << i + 1 << " " << who;
          largest = std::max(largest, std::abs(features[i] - row.features[i]));
        }
        EXPECT_EQ(bliinds::score_of(model, features).score, row.score) << row.name << " " << who;
      };
      for (const std::string_view isa : cpu::instruction_sets()) {
        const auto meter = cpu::make_bliinds_meter(Geometry{row.width, row.height, {}}, isa);
        meter->submit({frame, bliinds::Channel::kLuma});
        compare(meter->collect(), isa);
      }
      compare(reference.features({row.width, row.height, {gray.begin<std::uint8_t>(), gray.end<std::uint8_t>()}}),
              "reference");
    }
  EXPECT_EQ(pictures, 38);
  RecordProperty("largest_difference_e9", std::to_string(largest * 1e9));
}

TEST_F(BliindsOracle, PublishedModelIsThatOfThePublishedFiles) {
  std::string text = "quadratic\n";
  for (const char* name : {"mu.txt", "sigma_inv.txt"}) {
    std::ifstream in(folder_ / "model" / name);
    text += std::string(std::istreambuf_iterator<char>(in), {});
  }
  const bliinds::Model published = bliinds::published_model(), parsed = bliinds::parse_model(text);
  EXPECT_NEAR(published.constant, parsed.constant, 1e-12 * std::abs(parsed.constant));
  for (std::size_t i = 0; i < bliinds::kFeatures; ++i)
    EXPECT_DOUBLE_EQ(published.weights[i], parsed.weights[i]) << "weight " << i + 1;
}

}  // namespace
}  // namespace framequality::test
