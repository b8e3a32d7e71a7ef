// SPDX-License-Identifier: LGPL-2.1-or-later
// Reason for a change of a camera's state, in one sentence with the numbers that led to it.
#include "gst/camerawatch/reason.h"

#include <glib.h>

#include <array>
#include <cmath>

namespace framequality {

namespace {

/// Enough significant digits to distinguish the numbers; with a point in every locale.
std::string text_of(double v) {
  std::array<char, G_ASCII_DTOSTR_BUF_SIZE> text{};
  return g_ascii_formatd(text.data(), static_cast<int>(text.size()), std::abs(v) >= 100 ? "%.0f" : "%.3g", v);
}

std::string percent(double share) { return text_of(100 * share) + "%"; }

std::string defocused(const CameraFigures& f) {
  if (!(f.ratio < f.least_ratio) && f.smeared > 0)
    return percent(f.smeared) +
           " of the zones lost their detail and the others did not: part of the lens is dirty or wet";
  return "the score of " + text_of(f.score) + " is " + text_of(f.ratio) + " of the usual " + text_of(f.baseline) +
         ", below " + text_of(f.least_ratio);
}

std::string covered(const CameraFigures& f) {
  if (f.score == 0) return "the image shows nothing but noise" + (f.noise >= 0 ? " of " + text_of(f.noise) : "");
  if (!(f.contrast < 1)) return "the image is uniform";
  return "contrast is " + percent(f.contrast) + " of the usual and the score is " + text_of(f.ratio) + " of the usual";
}

std::string dark(const CameraFigures& f, const CameraWatchSettings& s) {
  return "the mean luma is " + text_of(f.mean) + " above black, below " + text_of(s.dark_level) +
         ": no light, or a covered lens";
}

std::string overexposed(const CameraFigures& f) {
  return percent(f.clipped_white) + " of the pixels are white, and the mean luma is " + text_of(f.mean);
}

std::string frozen(const CameraFigures& f) {
  return "the image has not changed for " + text_of(f.still) + " s, not even its noise";
}

std::string moved(const CameraFigures& f) {
  const auto tenth = [](double v) { return text_of(std::abs(std::round(10 * v) / 10)); };
  std::string text = "the image differs from the usual one: ";
  if (!(f.found.gain > 0))
    return text + "contrast changed in " + percent(f.changed) + " of the zones, and the correlation is " +
           text_of(1 - f.difference);
  const ViewPlace& p = f.found.place;
  text += percent(1 - f.lasting.stays) + " of the zones that hardly vary have changed, and it fits better";
  if (std::hypot(p.right, p.down) >= 0.25)
    text += " shifted by " + tenth(p.right) + (p.right < 0 ? " zones to the left" : " zones to the right") + " and " +
            tenth(p.down) + (p.down < 0 ? " up" : " down");
  if (std::abs(p.degrees) >= 1) text += " turned by " + tenth(p.degrees) + " degrees";
  if (std::abs(p.scale - 1) >= 0.05) text += " scaled by " + text_of(p.scale);
  return text;
}

std::string flickering(const CameraFigures& f) {
  return "the brightness goes up and down " + text_of(f.swing / 2) + " times per second";
}

std::string noisy(const CameraFigures& f) {
  return "the noise of " + text_of(f.noise) + " is " + text_of(f.noise / f.usual_noise) + " times the usual " +
         text_of(f.usual_noise);
}

std::string learning(const LearningProgress& p, const CameraWatchSettings& s) {
  const double wanted = static_cast<double>(s.learn_time) * 1e-9;
  std::string text = "no baseline after " + text_of(p.seconds) + " s: ";
  if (p.hindrance && p.hindered > p.learned)
    text += std::string("the image looked ") + nick_of(*p.hindrance) + " for " + text_of(p.hindered) +
            " s, and faults are not learned";
  else
    text += "the brightness keeps changing";
  return text + "; learned " + text_of(p.learned) + " of " + text_of(wanted) + " s at one brightness level";
}

}  // namespace

const char* nick_of(CameraState state) {
  static constexpr const char* kNicks[kCameraStates] = {"learning",    "good",   "defocused", "covered",    "dark",
                                                        "overexposed", "frozen", "moved",     "flickering", "noisy"};
  return kNicks[static_cast<int>(state)];
}

std::string reason_of(const CameraNews& news, const CameraWatch& watch, const CameraWatchSettings& s) {
  const CameraFigures& f = watch.figures();
  switch (news.state) {
    case CameraState::kLearning:
      if (news.repeated) return learning(watch.progress(), s);
      return is_fault(news.previous) ? std::string("no longer ") + nick_of(news.previous)
                                     : "learning the camera's usual image";
    case CameraState::kGood:
      if (is_fault(news.previous))
        return std::string("no longer ") + nick_of(news.previous) + ": the score of " + text_of(f.score) + " is " +
               text_of(f.ratio) + " of the usual " + text_of(f.baseline);
      return "learned: the usual score is " + text_of(f.score);
    case CameraState::kDefocused:
      return defocused(f);
    case CameraState::kCovered:
      return covered(f);
    case CameraState::kDark:
      return dark(f, s);
    case CameraState::kOverexposed:
      return overexposed(f);
    case CameraState::kFrozen:
      return frozen(f);
    case CameraState::kMoved:
      return moved(f);
    case CameraState::kFlickering:
      return flickering(f);
    case CameraState::kNoisy:
      return noisy(f);
  }
  return "";
}

}  // namespace framequality
