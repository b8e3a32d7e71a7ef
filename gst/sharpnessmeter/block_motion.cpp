// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/sharpnessmeter/block_motion.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>

namespace framequality {

namespace {

// Pixels of the halved images.
constexpr int kBlock = 8, kStride = 8;
constexpr double kTolerance = 0.8;

constexpr float kFound = 0.8F;      // correlation from which on a block is found again
constexpr double kMostTurn = 0.15;  // radians; the model is linear in it
constexpr std::size_t kFewest = 3;  // blocks that make a motion
constexpr int kMotions = 3;

struct Image {
  int width, height;
  std::vector<float> values;

  Image(const std::vector<float>& whole, int whole_width, int whole_height)
      : width(whole_width / 2), height(whole_height / 2) {
    values.reserve(static_cast<std::size_t>(width) * static_cast<std::size_t>(height));
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) {
        const float* p = whole.data() + std::ptrdiff_t{2} * y * whole_width + std::ptrdiff_t{2} * x;
        values.push_back((p[0] + p[1] + p[whole_width] + p[whole_width + 1]) / 4);
      }
  }
  const float* at(int x, int y) const { return values.data() + static_cast<std::ptrdiff_t>(y) * width + x; }
};

/// Its mean subtracted.
struct Block {
  float values[kBlock * kBlock];
  float energy = 0;

  Block(const Image& image, int left, int top) {
    float sum = 0;
    for (int j = 0; j < kBlock; ++j)
      for (int i = 0; i < kBlock; ++i) sum += values[j * kBlock + i] = image.at(left, top + j)[i];
    for (float& value : values) value -= sum / (kBlock * kBlock), energy += value * value;
  }
  /// Normalised correlation with the image at a place.
  float correlation(const Image& image, int left, int top) const {
    float sum = 0, squares = 0, product = 0;
    for (int j = 0; j < kBlock; ++j) {
      const float* q = image.at(left, top + j);
      for (int i = 0; i < kBlock; ++i) sum += q[i], squares += q[i] * q[i], product += values[j * kBlock + i] * q[i];
    }
    const float both = energy * (squares - sum * sum / (kBlock * kBlock));
    return both > 0 ? product / std::sqrt(both) : 0;
  }
};

/// Where a block was, from the middle of the image, and how far it moved.
struct Track {
  double x, y, dx, dy;
};

double vertex(double before, double here, double after) {
  const double bend = before - 2 * here + after;
  return bend < 0 ? std::clamp((before - after) / (2 * bend), -0.5, 0.5) : 0;
}

std::optional<Track> track(const Block& block, const Image& to, int left, int top) {
  const int reach = 3 * std::max(to.width, to.height) / 10;
  const int right = to.width - kBlock, bottom = to.height - kBlock;
  float best = kFound;
  int best_x = 0, best_y = 0;
  bool is_found = false;
  for (int y = std::max(0, top - reach); y <= std::min(bottom, top + reach); ++y)
    for (int x = std::max(0, left - reach); x <= std::min(right, left + reach); ++x) {
      const float here = block.correlation(to, x, y);
      if (here <= best) continue;
      best = here, best_x = x, best_y = y, is_found = true;
    }
  if (!is_found) return {};
  const auto near = [&](int x, int y) {
    return x < 0 || y < 0 || x > right || y > bottom ? best : block.correlation(to, x, y);
  };
  const double dx = best_x + vertex(near(best_x - 1, best_y), best, near(best_x + 1, best_y)) - left;
  const double dy = best_y + vertex(near(best_x, best_y - 1), best, near(best_x, best_y + 1)) - top;
  return Track{left + (kBlock - to.width) / 2.0, top + (kBlock - to.height) / 2.0, dx, dy};
}

bool follows(const Motion& m, const Track& t) {
  return std::abs(m.x - m.turn * t.y - t.dx) < kTolerance && std::abs(m.y + m.turn * t.x - t.dy) < kTolerance;
}

/// The motion of two blocks, as far as a rotation can make it.
Motion motion_of(const Track& a, const Track& b) {
  const double x = b.x - a.x, y = b.y - a.y, length = x * x + y * y;
  const double turn = length > 0 ? (x * (b.dy - a.dy) - y * (b.dx - a.dx)) / length : 0;
  return {(a.dx + b.dx + turn * (a.y + b.y)) / 2, (a.dy + b.dy - turn * (a.x + b.x)) / 2, turn};
}

/// By least squares.
Motion fitted(const std::vector<Track>& tracks) {
  const auto n = static_cast<double>(tracks.size());
  double x = 0, y = 0, dx = 0, dy = 0;
  for (const Track& t : tracks) x += t.x / n, y += t.y / n, dx += t.dx / n, dy += t.dy / n;
  double along = 0, length = 0;
  for (const Track& t : tracks) {
    along += (t.x - x) * (t.dy - dy) - (t.y - y) * (t.dx - dx);
    length += (t.x - x) * (t.x - x) + (t.y - y) * (t.y - y);
  }
  const double turn = length > 0 ? along / length : 0;
  return {dx + turn * y, dy - turn * x, turn};
}

std::vector<Track> followers(const Motion& motion, const std::vector<Track>& tracks) {
  std::vector<Track> result;
  std::ranges::copy_if(tracks, std::back_inserter(result), [&](const Track& t) { return follows(motion, t); });
  return result;
}

std::vector<Track> largest_group(const std::vector<Track>& tracks) {
  std::vector<Track> largest;
  for (std::size_t i = 0; i < tracks.size(); ++i)
    for (std::size_t j = i; j < tracks.size(); ++j) {
      const Motion motion = motion_of(tracks[i], tracks[j]);
      if (std::abs(motion.turn) > kMostTurn) continue;
      std::vector<Track> group = followers(motion, tracks);
      if (group.size() > largest.size()) largest = std::move(group);
    }
  return largest;
}

}  // namespace

std::vector<Motion> block_motions(const std::vector<float>& from, const std::vector<float>& to, int width, int height,
                                  double least) {
  const Image first(from, width, height), second(to, width, height);
  std::vector<Track> tracks;
  for (int top = 0; top + kBlock <= first.height; top += kStride)
    for (int left = 0; left + kBlock <= first.width; left += kStride) {
      const Block block(first, left, top);
      if (block.energy < least * kBlock * kBlock) continue;
      if (const auto found = track(block, second, left, top)) tracks.push_back(*found);
    }
  std::vector<Motion> motions;
  for (int i = 0; i < kMotions; ++i) {
    const std::vector<Track> group = largest_group(tracks);
    if (group.size() < kFewest) break;
    const Motion motion = fitted(group);
    motions.push_back({2 * motion.x, 2 * motion.y, motion.turn});
    std::erase_if(tracks, [&](const Track& t) { return follows(motion, t); });
  }
  return motions;
}

}  // namespace framequality
