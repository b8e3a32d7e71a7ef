// SPDX-License-Identifier: LGPL-2.1-or-later
// The denoisers against float64 references, of numpy and of loops in C++, from the folder of oracles.
#include "cpu/denoise/filter.h"
#include "cpu/dispatch.h"
#include "tests/support/npy.h"

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <map>
#include <opencv2/imgcodecs.hpp>
#include <sstream>
#include <string>
#include <vector>

namespace framequality::test {
namespace {

using Case = std::map<std::string, std::string>;

class DenoiseOracle : public testing::Test {
 protected:
  void SetUp() override {
    const char* root = std::getenv("FQ_SOURCE_ROOT");
    folder_ = std::filesystem::path(root ? root : ".") / "../shared/oracles/denoise";
    if (!std::filesystem::exists(folder_)) GTEST_SKIP() << "no oracle at " << folder_;
  }

  std::vector<Case> cases() const {
    std::ifstream in(folder_ / "params.csv");
    std::vector<std::string> names;
    std::vector<Case> out;
    std::string line;
    while (std::getline(in, line)) {
      std::istringstream words(line);
      std::string word;
      Case row;
      for (std::size_t i = 0; std::getline(words, word, ','); ++i) {
        if (out.empty() && line.starts_with("id,"))
          names.push_back(word);
        else
          row[names.at(i)] = word;
      }
      if (!row.empty()) out.push_back(row);
    }
    return out;
  }

  /// 8-bit gray from a PNG, else what numpy saved.
  Array input(const std::string& name) const {
    if (!std::filesystem::exists(folder_ / (name + ".png"))) return load_npy((folder_ / (name + ".npy")).string());
    const cv::Mat gray = cv::imread((folder_ / (name + ".png")).string(), cv::IMREAD_GRAYSCALE);
    return {{gray.rows, gray.cols}, {gray.begin<std::uint8_t>(), gray.end<std::uint8_t>()}};
  }

  std::filesystem::path folder_;
};

double number(const Case& c, const char* name) {
  const auto found = c.find(name);
  return found == c.end() || found->second.empty() ? 0 : std::stod(found->second);
}

denoise::Settings settings_of(const Case& c) {
  denoise::Settings s;
  s.patch_radius = static_cast<int>(number(c, "ds"));
  s.search_radius = static_cast<int>(number(c, "Ds"));
  if (c.at("algo") == "pbf") {
    s.range = 2 * std::pow(number(c, "sigma_r"), 2);
    s.spatial = 1 / (2 * std::pow(number(c, "sigma_d"), 2));
  } else {
    s.range = std::pow(number(c, "h"), 2);
    s.sigma = number(c, "sigma");
    if (c.at("center") == "max") s.center = denoise::CenterWeight::kMax;
  }
  s.range_chroma = s.range;
  if (c.at("border") == "reflect") s.border = denoise::Border::kReflect;
  if (c.at("border") == "edge") s.border = denoise::Border::kEdge;
  return s;
}

/// The planes of a case as frames or as chroma, filtered.
struct Filtered {
  std::vector<float> means;
  std::vector<int> codes;

  Filtered(const Array& in, const Case& c, int depth, std::string_view isa) {
    const bool joint = c.at("algo") == "nlmjoint", words = depth > 8;
    const int count = in.shape.size() == 3 ? in.shape[0] : 1, height = in.shape.end()[-2], width = in.shape.back();
    const std::size_t size = static_cast<std::size_t>(width) * static_cast<std::size_t>(height), bytes = words ? 2 : 1;
    PictureGeometry g{width, height, {}};
    g.layout.depth = static_cast<std::uint8_t>(depth);
    g.layout.word_bytes = static_cast<std::uint8_t>(bytes);
    for (auto& component : g.layout.component) component.pixel_stride = static_cast<std::uint8_t>(bytes);
    std::vector<std::uint8_t> pixels(in.values.size() * bytes), out(3 * size * bytes);
    for (std::size_t i = 0; i < in.values.size(); ++i)
      write_sample(g.layout, &pixels[i * bytes], static_cast<std::uint32_t>(in.values[i]));

    denoise::Settings settings = settings_of(c);
    std::vector<denoise::Source> window(static_cast<std::size_t>(joint ? 1 : count));
    Canvas canvas;
    for (std::size_t f = 0; f < window.size(); ++f) {
      window[f].frame.plane[0] = &pixels[f * size * bytes];
      window[f].frame.stride[0] = width * static_cast<std::ptrdiff_t>(bytes);
      window[f].serial = f;
    }
    if (joint) {
      settings.chroma = denoise::Chroma::kJoint;
      g.layout.components = g.layout.planes = 3;
      for (std::uint8_t p = 1; p < 3; ++p) {
        g.layout.component[p].plane = p;
        window[0].frame.plane[p] = &pixels[(p - 1u) * size * bytes];
        window[0].frame.stride[p] = window[0].frame.stride[0];
      }
    }
    const int first = joint ? 1 : 0, last = joint ? 2 : 0;
    means.resize(static_cast<std::size_t>(last - first + 1) * size);
    for (int p = 0; p < g.layout.planes; ++p) {
      canvas.plane[p] = &out[static_cast<std::size_t>(p) * size * bytes];
      canvas.stride[p] = window[0].frame.stride[0];
      if (p >= first) canvas.unrounded[p] = &means[static_cast<std::size_t>(p - first) * size];
    }
    const auto filter = cpu::make_denoiser(g, 1, isa);
    filter->submit({window, window.size() / 2, canvas, settings, 1});
    filter->collect();
    for (int p = first; p <= last; ++p)
      for (std::size_t i = 0; i < size; ++i)
        codes.push_back(static_cast<int>(read_sample(g.layout, canvas.plane[p] + i * bytes)));
  }
};

/// What a mean may be off, in grey levels of 8 bits: sums of up to 441 floats.
constexpr double kTolerance = 1e-3;

TEST_F(DenoiseOracle, MeansAndCodesAreTheReferences) {
  int compared = 0;
  double largest = 0;
  for (const Case& c : cases()) {
    if (c.at("id").starts_with("pbf") && c.at("form") != "n") continue;  // other kernels than ours
    const Array in = input(c.at("input")), expected = load_npy((folder_ / (c.at("output") + ".npy")).string());
    const int depth = number(c, "bits") > 0 ? static_cast<int>(number(c, "bits")) : 8;
    const double level = ((1 << depth) - 1) / 255.0;
    const std::filesystem::path png = folder_ / (c.at("output") + ".png");
    const cv::Mat rounded = exists(png) ? cv::imread(png.string(), cv::IMREAD_GRAYSCALE) : cv::Mat();
    for (const std::string_view isa : cpu::instruction_sets()) {
      const Filtered run(in, c, depth, isa);
      ASSERT_EQ(run.means.size(), expected.values.size()) << c.at("id");
      for (std::size_t i = 0; i < run.means.size(); ++i) {
        const double off = std::abs(run.means[i] - expected.values[i]) / level;
        largest = std::max(largest, off);
        ASSERT_LT(off, kTolerance) << c.at("id") << " pixel " << i << " " << isa;
        ASSERT_LE(std::abs(run.codes[i] - expected.values[i]), 0.5 + kTolerance * level)
            << c.at("id") << " pixel " << i;
        // Where the mean is not halfway between two codes, the code is the reference's.
        if (!rounded.empty() && std::abs(expected.values[i] - std::floor(expected.values[i]) - 0.5) > kTolerance) {
          ASSERT_EQ(run.codes[i], rounded.data[i]) << c.at("id") << " pixel " << i << " " << isa;
        }
      }
    }
    ++compared;
  }
  EXPECT_EQ(compared, 42);
  RecordProperty("largest_difference_e6", std::to_string(largest * 1e6));
}

}  // namespace
}  // namespace framequality::test
