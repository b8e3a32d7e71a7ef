// SPDX-License-Identifier: LGPL-2.1-or-later
// Reason of a change of a camera's state, in one sentence with the figures that led to it.
#include "gst/camerawatch/reason.h"

#include <glib.h>

#include <array>
#include <cmath>

namespace framequality {

namespace {

/// Significant digits that tell the figures apart; with a point in every locale.
std::string text_of(double v) {
  std::array<char, G_ASCII_DTOSTR_BUF_SIZE> text{};
  return g_ascii_formatd(text.data(), static_cast<int>(text.size()), std::abs(v) >= 100 ? "%.0f" : "%.3g", v);
}

std::string percent(double share) { return text_of(100 * share) + "%"; }

std::string defocused(const CameraFigures& f) {
  if (!(f.ratio < f.least_ratio) && f.smeared > 0)
    return percent(f.smeared) +
           " of the zones have lost their detail and the others have not: part of the lens is dirty or wet";
  return "the score of " + text_of(f.score) + " is " + text_of(f.ratio) + " of the usual " + text_of(f.baseline) +
         ", less than " + text_of(f.least_ratio);
}

std::string covered(const CameraFigures& f) {
  if (f.score == 0)
    return "there is nothing in the picture but noise" + (f.noise >= 0 ? " of " + text_of(f.noise) : "");
  if (!(f.contrast < 1)) return "the picture is alike everywhere";
  return "contrast is " + percent(f.contrast) + " of the usual and the score " + text_of(f.ratio) + " of it";
}

std::string dark(const CameraFigures& f, const CameraWatchSettings& s) {
  return "the mean luma is " + text_of(f.mean) + " above black, less than " + text_of(s.dark_level) +
         ": no light, or a covered lens";
}

std::string overexposed(const CameraFigures& f) {
  return percent(f.clipped_white) + " of the pixels are white, and the mean luma is " + text_of(f.mean);
}

std::string frozen(const CameraFigures& f) {
  return "the picture has repeated itself for " + text_of(f.still) + " s, its noise included";
}

std::string moved(const CameraFigures& f) {
  return "the picture is another one: contrast has changed in " + percent(f.changed) +
         " of the zones, correlation with the usual is " + text_of(1 - f.difference);
}

std::string flickering(const CameraFigures& f) {
  return "the light goes up and down " + text_of(f.swing / 2) + " times a second";
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
    text += "the light keeps changing";
  return text + "; learned " + text_of(p.learned) + " of " + text_of(wanted) + " s at one light level";
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
      return is_fault(news.previous) ? std::string("no longer ") + nick_of(news.previous) : "learning what is usual";
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
