// SPDX-License-Identifier: LGPL-2.1-or-later
// The numbers OpenCV gives: grey of RGB, Sobel energy, variance of the Laplacian; and real photographs.
#include "tests/sharpness/measure.h"
#include "tests/support/layouts.h"

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <gtest/gtest.h>
#include <opencv2/core.hpp>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>
#include <string>
#include <vector>

namespace framequality::test {

using namespace sharpness;

namespace {

int cv_type(int depth) { return depth > 8 ? CV_16U : CV_8U; }

/// A picture's luma codes as OpenCV holds them.
cv::Mat as_mat(const Picture& picture) {
  const Geometry& g = picture.geometry();
  cv::Mat codes(g.height, g.width, CV_16U, const_cast<std::uint16_t*>(picture.codes().data()));
  cv::Mat out;
  codes.convertTo(out, cv_type(g.layout.depth));
  return out;
}

Picture as_picture(const cv::Mat& gray) {
  std::vector<std::uint16_t> codes(gray.begin<std::uint8_t>(), gray.end<std::uint8_t>());
  return Picture(Geometry{gray.cols, gray.rows, luma_layout(8, 1)}, codes);
}

TEST(OpenCV, GrayOfEvery8BitRgbIsOurLuma) {
  cv::Mat rgb(256, 256, CV_8UC3), gray;
  for (int r = 0; r < 256; ++r) {
    for (int g = 0; g < 256; ++g)
      for (int b = 0; b < 256; ++b)
        rgb.at<cv::Vec3b>(g, b) = {static_cast<uchar>(r), static_cast<uchar>(g), static_cast<uchar>(b)};
    cv::cvtColor(rgb, gray, cv::COLOR_RGB2GRAY);
    for (int g = 0; g < 256; ++g)
      for (int b = 0; b < 256; ++b)
        ASSERT_EQ(luma_of(static_cast<unsigned>(r), static_cast<unsigned>(g), static_cast<unsigned>(b)),
                  gray.at<uchar>(g, b))
            << r << " " << g << " " << b;
  }
}

TEST(OpenCV, GrayOf16BitRgbIsOurLuma) {
  Random random(16);
  cv::Mat rgb(1000, 1000, CV_16UC3), gray;
  for (auto it = rgb.begin<cv::Vec3w>(); it != rgb.end<cv::Vec3w>(); ++it)
    for (int c = 0; c < 3; ++c) (*it)[c] = static_cast<ushort>(fill_code(Fill::kNearLimits, 0, 0, 1, 1, 65535, random));
  cv::cvtColor(rgb, gray, cv::COLOR_RGB2GRAY);
  for (int y = 0; y < rgb.rows; ++y)
    for (int x = 0; x < rgb.cols; ++x) {
      const auto& p = rgb.at<cv::Vec3w>(y, x);
      ASSERT_EQ(luma_of(p[0], p[1], p[2]), gray.at<ushort>(y, x)) << p[0] << " " << p[1] << " " << p[2];
    }
}

/// The frame's own R, G, B codes, read here byte by byte, through cvtColor.
TEST(OpenCV, GrayOfRgbLayoutsIsWhatIsMeasured) {
  for (const NamedLayout& named : layouts()) {
    const PixelLayout& l = named.layout;
    if (l.kind != PixelLayout::Kind::kRgb) continue;
    Picture picture(Geometry{67, 21, l}, Fill::kNearLimits, Placement::kPadded, 6);
    const Frame f = picture.frame();
    cv::Mat rgb(21, 67, CV_16UC3), gray, narrow;
    for (int y = 0; y < rgb.rows; ++y)
      for (int x = 0; x < rgb.cols; ++x)
        for (int c = 0; c < 3; ++c) {
          const std::uint8_t* at = f.plane[l.plane[c]] + y * f.stride[l.plane[c]] + x * l.pixel_stride + l.offset[c];
          const int word = l.word_bytes == 1 ? at[0] : l.big_endian ? at[0] << 8 | at[1] : at[1] << 8 | at[0];
          rgb.at<cv::Vec3w>(y, x)[c] = static_cast<ushort>(word & ((1 << l.depth) - 1));
        }
    rgb.convertTo(narrow, cv_type(l.depth));
    cv::cvtColor(narrow, gray, cv::COLOR_RGB2GRAY);
    EXPECT_EQ(cv::countNonZero(gray != as_mat(picture)), 0) << named.name;
    // Entropy and variance see every code: the frame in its layout scores as OpenCV's grey does.
    Picture plain(Geometry{67, 21, luma_layout(l.depth, l.depth > 8 ? 2 : 1)}, picture.codes());
    for (int m = 0; m < kMetricCount; ++m) {
      Request request;
      request.metric = m;
      EXPECT_EQ(scores_of(picture, request).score, scores_of(plain, request).score)
          << named.name << " " << metric_info(m).name;
    }
  }
}

/// Every depth, fill and several sizes.
template <class F>
void for_pictures(F&& f) {
  for (const int depth : {8, 10, 12, 16})
    for (const Fill fill : kFills)
      for (const auto& [w, h] : {std::pair(3, 3), {4, 7}, {33, 20}, {129, 66}, {640, 48}}) {
        Picture picture(Geometry{w, h, luma_layout(depth, depth > 8 ? 2 : 1)}, fill, Placement::kTight, 41);
        f(picture);
      }
}

TEST(OpenCV, TenengradIsTheInteriorSumOfSobel) {
  for_pictures([](Picture& picture) {
    const cv::Mat gray = as_mat(picture);
    const Geometry& g = picture.geometry();
    // Largest |Gx| is 4 codes: 16 bits hold it up to 12-bit codes.
    const int type = g.layout.depth <= 12 ? CV_16S : CV_64F;
    cv::Mat gx, gy;
    cv::Sobel(gray, gx, type, 1, 0);
    cv::Sobel(gray, gy, type, 0, 1);
    gx.convertTo(gx, CV_64F);
    gy.convertTo(gy, CV_64F);
    std::int64_t sum = 0;
    for (int y = 1; y < g.height - 1; ++y)
      for (int x = 1; x < g.width - 1; ++x) {
        const auto a = static_cast<std::int64_t>(gx.at<double>(y, x)),
                   b = static_cast<std::int64_t>(gy.at<double>(y, x));
        sum += a * a + b * b;
      }
    const auto meter = cpu::make_meter(g);
    EXPECT_EQ(totals_of(*meter, picture.frame(), make_plan(g, {}))[0], sum) << g.width << "x" << g.height;
  });
}

TEST(OpenCV, LaplacianVarianceIsMeanStdDevOfLaplacian) {
  const auto check = [](Picture& picture) {
    const Geometry& g = picture.geometry();
    cv::Mat l;
    cv::Laplacian(as_mat(picture), l, CV_64F);
    std::int64_t sum = 0, squares = 0;
    for (auto it = l.begin<double>(); it != l.end<double>(); ++it) {
      const auto v = static_cast<std::int64_t>(*it);
      sum += v;
      squares += v * v;
    }
    Request request;
    request.metric = metric_index("laplacian-variance");
    const auto meter = cpu::make_meter(g);
    const Plan plan = make_plan(g, request);
    const std::vector<std::int64_t> totals = totals_of(*meter, picture.frame(), plan);
    EXPECT_EQ(totals[0], sum) << g.width << "x" << g.height;
    EXPECT_EQ(totals[1], squares) << g.width << "x" << g.height;
    cv::Scalar mean, deviation;
    cv::meanStdDev(l, mean, deviation);
    const double unit = std::ldexp(1.0, g.layout.depth - 8);
    const double variance = deviation[0] * deviation[0] / (unit * unit);
    EXPECT_NEAR(finish(plan, totals).score, variance, 1e-12 * variance) << g.width << "x" << g.height;
  };
  for_pictures(check);
  for (const auto& [w, h] : {std::pair(1, 1), {2, 2}, {1, 9}, {9, 1}, {2, 7}}) {
    Picture picture(Geometry{w, h, luma_layout(8, 1)}, Fill::kRandom, Placement::kTight, 2);
    check(picture);
  }
}

/// A photograph beside the source tree; SetUp skips where there is none.
class Photograph : public testing::Test {
 protected:
  void SetUp() override {
    const char* root = std::getenv("FQ_SOURCE_ROOT");
    const auto path = std::filesystem::path(root ? root : ".") / "../shared/media/stack-pcb/pcb_003.JPG";
    if (!std::filesystem::exists(path)) GTEST_SKIP() << "no photograph at " << path;
    gray_ = cv::imread(path.string(), cv::IMREAD_GRAYSCALE);
    ASSERT_FALSE(gray_.empty()) << path;
    gray_ = gray_(cv::Rect(0, 0, gray_.cols / 2, gray_.rows / 2)).clone();
  }
  cv::Mat gray_;
};

TEST_F(Photograph, GradientMetricsFallWithSigma) {
  std::vector<double> last;
  for (const double sigma : {0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 5.0, 8.0}) {
    cv::Mat blurred = gray_;
    if (sigma > 0) cv::GaussianBlur(gray_, blurred, cv::Size(), sigma, sigma, cv::BORDER_REPLICATE);
    Picture picture = as_picture(blurred);
    std::vector<double> now;
    for (const char* nick : {"roberts", "tenengrad", "laplacian", "gray-difference", "gray-difference-product",
                             "max-min", "laplacian-variance", "brenner"}) {
      Request request;
      request.metric = metric_index(nick);
      now.push_back(scores_of(picture, request).score);
      if (!last.empty()) {
        EXPECT_LT(now.back(), last[now.size() - 1]) << nick << " sigma " << sigma;
      }
    }
    last = now;
  }
}

}  // namespace
}  // namespace framequality::test
