// SPDX-License-Identifier: LGPL-2.1-or-later
// Enum types of properties that more than one element has.
#include "gst/object/enums.h"

#include "algorithms/bliinds/meter.h"
#include "algorithms/denoise/weight.h"
#include "algorithms/halftone/filter.h"
#include "algorithms/sharpness/metrics.h"
#include "algorithms/sharpness/samples.h"

#include <array>
#include <string>

namespace framequality {

GType device_choice_get_type() {
  static const GEnumValue values[] = {
      {static_cast<int>(DeviceChoice::kAuto), "CUDA if a usable device is there, else the CPU", "auto"},
      {static_cast<int>(DeviceChoice::kCpu), "the CPU", "cpu"},
      {static_cast<int>(DeviceChoice::kCuda), "CUDA; going to READY fails without a usable device", "cuda"},
      {0, nullptr, nullptr}};
  static const GType type = g_enum_register_static("FqDevice", values);
  return type;
}

GType metric_get_type() {
  static const auto names = [] {
    std::array<std::string, kMetricCount> texts;
    for (int i = 0; i < kMetricCount; ++i) {
      const MetricInfo& m = metric_info(i);
      const char* unit = m.power == 0 ? "bit" : m.power == 1 ? "code" : "code^2";
      texts[static_cast<std::size_t>(i)] = std::string(m.formula) + " [" + unit + "]: " + m.summary;
    }
    return texts;
  }();
  static const auto values = [] {
    std::array<GEnumValue, kMetricCount + 1> list{};
    for (int i = 0; i < kMetricCount; ++i) {
      const auto at = static_cast<std::size_t>(i);
      list[at] = {i, names[at].c_str(), metric_info(i).name};
    }
    return list;
  }();
  static const GType type = g_enum_register_static("FqSharpnessMetric", values.data());
  return type;
}

GType prefilter_get_type() {
  static const GEnumValue values[] = {{static_cast<int>(Prefilter::kNone), "no smoothing", "none"},
                                      {static_cast<int>(Prefilter::kBinomial3), "1-2-1 each way", "binomial3"},
                                      {static_cast<int>(Prefilter::kBinomial5), "1-4-6-4-1 each way", "binomial5"},
                                      {0, nullptr, nullptr}};
  static const GType type = g_enum_register_static("FqPrefilter", values);
  return type;
}

GType normalize_get_type() {
  static const GEnumValue values[] = {
      {static_cast<int>(Normalize::kNone), "the score as the metric defines it", "none"},
      {static_cast<int>(Normalize::kMean), "divided by the mean luma above black, or its square for code^2 metrics",
       "mean"},
      {0, nullptr, nullptr}};
  static const GType type = g_enum_register_static("FqNormalize", values);
  return type;
}

GType bliinds_channel_get_type() {
  static const GEnumValue values[] = {
      {static_cast<int>(bliinds::Channel::kLuma), "the Y plane, or luma of R, G and B by BT.601 weights", "luma"},
      {static_cast<int>(bliinds::Channel::kRed), "red, which the published model was trained on; RGB formats only",
       "red"},
      {0, nullptr, nullptr}};
  static const GType type = g_enum_register_static("FqBliindsChannel", values);
  return type;
}

GType denoise_chroma_get_type() {
  using denoise::Chroma;
  static const GEnumValue values[] = {
      {static_cast<int>(Chroma::kNone), "U and V are copied", "none"},
      {static_cast<int>(Chroma::kSeparate), "U and V are filtered each by itself", "separate"},
      {static_cast<int>(Chroma::kJoint), "U and V are filtered with weights that both of them make", "joint"},
      {0, nullptr, nullptr}};
  static const GType type = g_enum_register_static("FqDenoiseChroma", values);
  return type;
}

GType center_weight_get_type() {
  using denoise::CenterWeight;
  static const GEnumValue values[] = {
      {static_cast<int>(CenterWeight::kOne), "1, the weight of an equal patch", "one"},
      {static_cast<int>(CenterWeight::kMax), "the largest of the other weights, which takes off lone specks", "max"},
      {0, nullptr, nullptr}};
  static const GType type = g_enum_register_static("FqCenterWeight", values);
  return type;
}

GType halftone_method_get_type() {
  using halftone::Method;
  static const GEnumValue values[] = {
      {static_cast<int>(Method::kFloydSteinberg), "error diffusion by Floyd and Steinberg, exact, row by row",
       "floyd-steinberg"},
      {static_cast<int>(Method::kToneDependent),
       "tone-dependent error diffusion in swaths of rows: the best looking still pictures", "tdfed"},
      {static_cast<int>(Method::kBlueNoise), "a mask of thresholds: what does not move does not flicker", "blue-noise"},
      {0, nullptr, nullptr}};
  static const GType type = g_enum_register_static("FqHalftoneMethod", values);
  return type;
}

GType halftone_levels_get_type() {
  static const GEnumValue values[] = {
      {2, "black and white", "2"}, {4, "four greys", "4"}, {16, "sixteen greys", "16"}, {0, nullptr, nullptr}};
  static const GType type = g_enum_register_static("FqHalftoneLevels", values);
  return type;
}

}  // namespace framequality
