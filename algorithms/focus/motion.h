// SPDX-License-Identifier: LGPL-2.1-or-later
// The position of the lens that each frame shows: commands take effect late, and how late is learned from the frames.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

namespace framequality {

/// The commands given to a lens, timed in frames. Positions are in steps.
class FocusMotion {
 public:
  static constexpr std::uint64_t kAll = std::numeric_limits<std::uint64_t>::max();
  static constexpr int kMaxLag = 64;

  struct Timing {
    int lag = -1;    ///< frames between a command and the first that shows its position; -1: learned
    int settle = 0;  ///< frames after a command in which the lens may still move
  };
  void configure(const Timing& timing) { timing_ = timing; }
  void set_settle(int frames) { timing_.settle = frames; }

  /// Records a command to go there.
  void send(int at) { commands_.push_back({at, kAll}); }
  /// Records a known position that no command led to.
  void stands(int at) {
    if (!commands_.empty()) return;
    commands_.push_back({at, 0});
    --forgotten_;  // modulo 2^64
  }
  /// Counts a frame; known: how many of all commands were given before its exposure. It does not show later
  /// ones.
  void frame(std::uint64_t known) {
    ++now_;
    for (std::size_t i = 0; i < commands_.size(); ++i)
      if (commands_[i].first == kAll && forgotten_ + i < known) commands_[i].first = now_;
  }
  /// Forgets all commands but the last.
  void forget() {
    if (commands_.size() < 2) return;
    forgotten_ += commands_.size() - 1;
    commands_.erase(commands_.begin(), commands_.end() - 1);
  }

  /// Number of commands not forgotten; sent(0) is the oldest.
  std::size_t kept() const { return commands_.size(); }
  int sent(std::size_t i) const { return commands_[i].at; }
  std::vector<int> path() const {  ///< all of these
    std::vector<int> path;
    for (const Command& c : commands_) path.push_back(c.at);
    return path;
  }
  std::uint64_t first(std::size_t i) const { return commands_[i].first; }  ///< frame that could show it

  std::uint64_t now() const { return now_; }
  /// All commands so far, forgotten ones included.
  std::uint64_t commands() const { return forgotten_ + commands_.size(); }
  /// Frames that could show the last command, this one included; 0 if this one cannot.
  int since() const {
    if (commands_.empty()) return std::numeric_limits<int>::max();
    if (commands_.back().first == kAll) return 0;
    return static_cast<int>(std::min<std::uint64_t>(now_ - commands_.back().first + 1, 1u << 20));
  }
  /// True if this frame shows the lens where it was sent last.
  bool at_rest() const { return since() > rest(); }
  /// Frames to leave out after a command.
  int rest() const { return std::max(timing_.settle, lag_is_known() ? lag() + taken_ : taken_); }
  /// The move that begins takes this many frames.
  void take_time(int frames) { taken_ = frames; }
  /// Steps that the lens moves in a frame at most; 0: frames show it where it is sent.
  void set_slew(double slew) { slew_ = slew; }

  /// Frames between a command and the first one that shows it, as set, as learned, or one less than the settling time:
  /// users who count frames until the image is still include the last that moves.
  int lag() const {
    if (timing_.lag >= 0) return timing_.lag;
    const auto most = std::max_element(seen_.begin(), seen_.end());
    if (*most > 0)
      return seen_[static_cast<std::size_t>(latest_)] == *most ? latest_ : static_cast<int>(most - seen_.begin());
    return std::max(0, timing_.settle - 1);
  }
  bool lag_is_known() const { return timing_.lag >= 0 || *std::max_element(seen_.begin(), seen_.end()) > 0; }
  /// A command was seen to take effect after this many frames.
  void learn(int lag) {
    if (lag < 0 || lag > kMaxLag) return;
    constexpr int kFull = 8;  // older observations count less
    latest_ = lag;
    int& count = seen_[static_cast<std::size_t>(lag)];
    if (++count < kFull) return;
    for (int& c : seen_) c /= 2;
  }

  /// Index, below kept(), of the command that frame number `frame` shows; empty as for shown(), and for a slow lens.
  std::optional<std::size_t> shown_command(std::uint64_t frame) const {
    const auto late = static_cast<std::uint64_t>(lag());
    for (std::size_t i = commands_.size(); slew_ == 0 && i-- > 0;)
      if (commands_[i].first != kAll && commands_[i].first + late <= frame) return i;
    return {};
  }

  /// Position that frame number `frame` shows; empty if its command was forgotten or not seen yet.
  std::optional<int> shown(std::uint64_t frame) const {
    const auto late = static_cast<std::uint64_t>(lag());
    if (slew_ > 0) return shown_on_the_way(frame, slew_);
    for (auto c = commands_.rbegin(); c != commands_.rend(); ++c)
      if (c->first != kAll && c->first + late <= frame) return c->at;
    return {};
  }

  /// The same for a lens that moves so many steps in a frame at most, and stood where the oldest command sent it.
  std::optional<int> shown_on_the_way(std::uint64_t frame, double slew) const {
    const auto late = static_cast<std::uint64_t>(lag());
    const auto begins = [&](std::size_t i) {
      return i < commands_.size() && commands_[i].first != kAll ? commands_[i].first + late : kAll;
    };
    if (begins(0) > frame) return {};
    double at = commands_[0].at;
    for (std::size_t i = 1; begins(i) <= frame; ++i) {
      const std::uint64_t frames = std::min(frame + 1, begins(i + 1)) - begins(i);
      const double way = commands_[i].at - at, most = slew * static_cast<double>(frames);
      at = std::abs(way) <= most ? commands_[i].at : at + std::copysign(most, way);
    }
    return static_cast<int>(std::lround(at));
  }

 private:
  struct Command {
    int at;
    std::uint64_t first;  ///< frame that could show it
  };

  Timing timing_;
  std::vector<Command> commands_;
  std::uint64_t forgotten_ = 0;          ///< commands
  std::uint64_t now_ = 1u << 20;         ///< anything before the first frame is long ago
  int latest_ = 0;                       ///< lag that was seen last
  int taken_ = 0;                        ///< frames that the lens needs to get there
  double slew_ = 0;                      ///< steps per frame
  std::array<int, kMaxLag + 1> seen_{};  ///< how often each lag was seen
};

}  // namespace framequality
