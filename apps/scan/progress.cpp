// SPDX-License-Identifier: LGPL-2.1-or-later
// Output on stderr: lines that stay and, on a terminal, a progress bar below them.
#include "apps/scan/progress.h"

#include "apps/common/json.h"
#include "apps/common/text.h"

#include <glib.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string_view>
#include <sys/ioctl.h>
#include <unistd.h>

namespace framequality::apps::scan {

namespace {

constexpr unsigned kRedraw = 100, kReport = 1000;  // ms
constexpr int kDrawsInRate = 20, kDigits = 6;
constexpr std::size_t kLongestBar = 30, kShortestBar = 8, kUsualWidth = 80, kLongestName = 40, kShortestName = 8;
constexpr double kEnoughToForetell = 0.005;

bool is_terminal() {
  const gchar* kind = g_getenv("TERM");
  return isatty(STDERR_FILENO) && kind && std::string_view(kind) != "dumb";
}

std::size_t terminal_width() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : kUsualWidth;
}

/// "1:02:03" or "0:07".
std::string whole_seconds(double left) {
  const std::string text = clock_time(static_cast<std::uint64_t>(std::ceil(left)) * 1'000'000'000);
  return text.substr(0, text.find('.'));
}

}  // namespace

std::string bar_text(const Standing& standing, double rate, double left, std::size_t width, bool unicode) {
  std::string head =
      standing.files > 1 ? std::to_string(standing.number) + '/' + std::to_string(standing.files) + ' ' : "";
  const std::string percent = std::to_string(static_cast<int>(standing.done * 100));
  std::string tail = std::string(4 - std::min<std::size_t>(3, percent.size()), ' ') + percent + "%  " +
                     std::to_string(std::llround(rate)) + " frames/s";
  if (left >= 0) tail += "  " + whole_seconds(left) + " left";
  const std::size_t fixed = head.size() + tail.size() + 1;
  // Shorten the name first, then the bar.
  const std::size_t spare = width > fixed ? width - fixed : 0;
  const std::size_t bar = spare > kShortestBar + kShortestName ? std::min(kLongestBar, spare - kShortestName) : 0;
  const std::size_t name = std::min(kLongestName, spare - std::min(spare, bar));
  std::string text = head;
  if (name >= kShortestName) text += shortened(standing.name, name) + ' ';
  const auto full = static_cast<std::size_t>(std::lround(standing.done * static_cast<double>(bar)));
  for (std::size_t i = 0; i < bar; ++i) text += unicode ? (i < full ? "█" : "░") : (i < full ? "#" : "-");
  text += tail;
  return shortened(text, width);
}

std::string progress_json(const Standing& standing, double rate, double left) {
  return dump({{"files", standing.files},
               {"done", standing.ended},
               {"failed", standing.failed},
               {"frames", standing.frames},
               {"frames_per_second", json_rounded(rate, kDigits)},
               {"part", json_rounded(standing.done, kDigits)},
               {"left", left >= 0 ? json_rounded(left, kDigits) : Json()}});
}

Console::Console(Kind kind)
    : kind_(kind == Kind::kBar && !is_terminal() ? Kind::kPlain : kind),
      unicode_(g_get_charset(nullptr)),
      begun_(g_get_monotonic_time()),
      drawn_at_(begun_) {}

unsigned Console::interval() const { return kind_ == Kind::kBar ? kRedraw : kind_ == Kind::kJson ? kReport : 0; }

Console::~Console() { erase(); }

void Console::erase() {
  if (drawn_) std::fputs("\r\033[K", stderr);
  drawn_ = false;
}

void Console::line(const std::string& text) {
  erase();
  const std::string line = kind_ == Kind::kJson ? dump({{"message", json_text(text)}}) : text;
  std::fputs((line + '\n').c_str(), stderr);
}

void Console::show(const Standing& standing) {
  const gint64 now = g_get_monotonic_time();
  if (now > drawn_at_) {
    const double latest = static_cast<double>(standing.frames - std::min(standing.frames, drawn_frames_)) *
                          G_USEC_PER_SEC / static_cast<double>(now - drawn_at_);
    // The mean of all draws at first, later of the last ones.
    rate_ += (latest - rate_) / static_cast<double>(draws_ = std::min(draws_ + 1, kDrawsInRate));
    drawn_at_ = now;
    drawn_frames_ = standing.frames;
  }
  const double elapsed = static_cast<double>(now - begun_) / G_USEC_PER_SEC;
  const double left = standing.done > kEnoughToForetell ? elapsed * (1 - standing.done) / standing.done : -1;
  if (kind_ == Kind::kJson) {
    std::fputs((progress_json(standing, rate_, left) + '\n').c_str(), stderr);
    return;
  }
  const std::string text = bar_text(standing, rate_, left, std::max<std::size_t>(2, terminal_width()) - 1, unicode_);
  std::fputs(("\r" + text + "\033[K").c_str(), stderr);
  drawn_ = true;
}

}  // namespace framequality::apps::scan
