// SPDX-License-Identifier: LGPL-2.1-or-later
// Clips in front of a lens: what moves in them changes the score as a lens does, but the best position stays.
#include "benchmarks/focus/camera.h"
#include "benchmarks/focus/pictures.h"
#include "benchmarks/focus/tables.h"

#include <cmath>
#include <cstdio>
#include <thread>

namespace framequality::bench {
namespace {

constexpr std::size_t kMostFramesOfClip = 350;
constexpr double kVisible = 2;  ///< pixels of blur
constexpr double kSigma = 2;    ///< of the noise
constexpr int kQuiet = 60;

using Clip = std::vector<ScoreTable>;  ///< by frame

/// A table for each frame, coarser than those of single pictures: there are hundreds.
Clip measure(const std::vector<Pixels>& frames) {
  const std::vector<double> nodes = blur_nodes(0.4, 1.4, Subject::kMostBlur), sigmas{0, kSigma};
  constexpr int kMeasurements = 2;
  std::vector<std::vector<std::vector<Expected>>> rows(frames.size());
  const auto work = [&](std::size_t first, std::size_t stride) {
    Camera camera(first);
    DiskBlur blur(kWidth, kHeight);
    std::vector<std::uint16_t> plane(frames[0].size());
    for (std::size_t i = first; i < frames.size(); i += stride) {
      rows[i].resize(sigmas.size());
      for (const double radius : nodes) {
        blur(frames[i].data(), radius, plane.data());
        for (std::size_t s = 0; s < sigmas.size(); ++s)
          rows[i][s].push_back(camera.measure(plane, 1, sigmas[s], kMeasurements));
      }
    }
  };
  const std::size_t n = std::max(1u, std::thread::hardware_concurrency());
  std::vector<std::thread> threads;
  for (std::size_t k = 0; k < n; ++k) threads.emplace_back(work, k, n);
  for (std::thread& t : threads) t.join();
  Clip clip;
  for (auto& r : rows) clip.emplace_back(nodes, sigmas, std::move(r), false);
  return clip;
}

struct Totals {
  double frames = 0, visible = 0, moves = 0, searches = 0, failed = 0, sharp = 0;
};

/// Plays the clip to its end and back, so that it has no cut.
void play(Rig& rig, const Clip& clip, Totals& totals) {
  const int moves = rig.moves(), searches = rig.searches(), failed = rig.failed_searches();
  for (std::size_t i = 0; i < 2 * clip.size(); ++i) {
    rig.view.seen = &clip[i < clip.size() ? i : 2 * clip.size() - 1 - i];
    rig.frame();
    totals.visible += rig.view.blur(rig.lens()) > kVisible;
  }
  totals.frames += 2 * static_cast<double>(clip.size());
  totals.moves += rig.moves() - moves;
  totals.searches += rig.searches() - searches;
  totals.failed += rig.failed_searches() - failed;
  totals.sharp += rig.view.blur(rig.lens()) <= kVisible;
}

}  // namespace

void moving_scenes(Bench& bench) {
  if (bench.clips.empty()) {
    std::printf("\nmoving: left out, no --clips\n");
    return;
  }
  const std::size_t runs = std::max<std::size_t>(1, bench.runs / 2);
  TextTable table(
      "moving: clips played to their end and back (101 positions, noise 2); means of all runs; in focus: found on the "
      "still first frame",
      {"algorithm", "clip", "frames", "start", "blur > 2 px %", "moves", "searches", "failed", "sharp at end %"});
  std::vector<Clip> clips;
  for (const std::string& file : bench.clips) clips.push_back(measure(read_clip(file, kMostFramesOfClip)));
  for (const Algorithm& a : bench.algorithms) {
    if (!a.watches) continue;
    for (std::size_t c = 0; c < clips.size(); ++c) {
      for (const bool in_focus : {true, false}) {
        Totals totals;
        for (std::size_t i = 0; i < runs; ++i) {
          SplitMix random(i * 1000003 + 5);
          View view = random_view(bench.photographs[0], 101, 1, random);
          view.seen = view.truth = &clips[c][0];
          Rig rig(a, view, {.sigma = kSigma}, {.continuous = true, .seed = random.next()});
          if (in_focus) {
            rig.run(kMostFrames);
            for (int k = 0; k < kQuiet; ++k) rig.frame();
          }
          play(rig, clips[c], totals);
        }
        const auto n = static_cast<double>(runs);
        const std::string name = short_name(bench.clips[c]);
        table.add({a.label, name, std::to_string(2 * clips[c].size()), in_focus ? "in focus" : "anywhere",
                   percent(totals.visible / totals.frames), decimal(totals.moves / n), decimal(totals.searches / n),
                   decimal(totals.failed / n), percent(totals.sharp / n)});
        Fields row;
        row.add("table", "moving").add("algorithm", a.label).add("clip", name).add("in_focus", in_focus);
        row.add("runs", runs).add("frames", 2 * clips[c].size()).add("visible_blur", totals.visible / totals.frames);
        row.add("moves", totals.moves / n).add("searches", totals.searches / n);
        row.add("failed_searches", totals.failed / n).add("sharp_at_end", totals.sharp / n);
        bench.results.add(std::move(row));
      }
    }
  }
}

}  // namespace framequality::bench
