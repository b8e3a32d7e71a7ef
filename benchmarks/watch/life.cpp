// SPDX-License-Identifier: LGPL-2.1-or-later
// Life in front of a camera that has no fault: day and night, clouds, lamps, what passes by or parks, and traffic.
#include "benchmarks/watch/life.h"

#include <algorithm>
#include <cmath>

namespace framequality::bench {

double between(SplitMix& random, double low, double high) { return low + (high - low) * random.uniform(); }

void Life::at(double t, Condition& c) {
  // A day lasts six hours, dusk and dawn one hour each. At night the scene has a twentieth of the light. The camera's
  // gain raises that to a third, with seven times the noise.
  const double hour = std::fmod(t / 3600, 6);
  const double night = std::clamp(hour - 2.5, 0.0, 1.0) - std::clamp(hour - 4.5, 0.0, 1.0);
  const double light = std::pow(0.05, night);
  c.gain = 0.9 * std::pow(light, 0.35);
  c.noise = 1.5 * std::pow(c.gain / light, 0.75);
  cloud_ += -0.002 * cloud_ + 0.02 * (random_.uniform() - 0.5);
  if (random_.uniform() < 2e-4) lamp_ = random_.uniform() < 0.5 ? 0.5 : -0.5;
  lamp_ *= 0.93;  // exposure follows within seconds
  c.gain *= std::exp(std::clamp(cloud_, -0.5, 0.1) + lamp_);
  pass(t, c);
}

void Life::pass(double t, Condition& c) {
  if (t > leaves_ && random_.uniform() < 1e-3) {
    comes_ = t;
    parks_ = random_.uniform() < 0.2;
    leaves_ = t + (parks_ ? between(random_, 60, 1200) : between(random_, 1, 6));
    width_ = parks_ ? between(random_, 0.1, 0.3) : between(random_, 0.1, 0.9);
    place_ = between(random_, -0.7, 0.7);
  }
  if (t >= leaves_) return;
  c.passer_width = width_;
  c.passer = parks_ ? place_ : -1 - width_ + (2 + 2 * width_) * (t - comes_) / (leaves_ - comes_);
}

Traffic::Traffic(std::uint64_t seed)
    : random_(seed),
      lanes_{Lane{.top = 0.42, .bottom = 0.62, .direction = 1, .cars = {}},
             Lane{.top = 0.55, .bottom = 0.9, .direction = -1, .cars = {}}} {
  for (double t = -60; t < 0; t += 0.1)
    for (Lane& lane : lanes_) move(lane, t, 0.1);
}

void Traffic::at(double t, Condition& c) {
  for (Lane& lane : lanes_) move(lane, t, t - before_);
  // Exposure keeps a middling light, and sees cars lighter or darker than that as more or less light.
  double light = 1;
  for (const Lane& lane : lanes_)
    for (const Vehicle& car : lane.cars) {
      const double seen = std::max(0.0, std::min(car.right, 1.0) - std::max(car.left, 0.0));
      light += 0.6 * seen * (car.bottom - car.top) * (car.luma / 110 - 1);
      c.vehicles.push_back(car);
    }
  exposure_ += (1 / std::max(light, 0.5) - exposure_) * std::min(1.0, (t - before_) / 2);
  c.gain *= exposure_;
  before_ = t;
}

void Traffic::move(Lane& lane, double t, double seconds) {
  if (t >= lane.until) {
    const double kind = random_.uniform();
    const bool stands = kind < 0.12, crawls = kind < 0.25;
    lane.speed = stands ? 0 : crawls ? between(random_, 0.02, 0.1) : between(random_, 0.2, 0.8);
    lane.until = t + (stands ? between(random_, 5, 40) : crawls ? between(random_, 10, 40) : between(random_, 20, 120));
  }
  for (Vehicle& car : lane.cars) {
    car.left += lane.direction * lane.speed * seconds;
    car.right += lane.direction * lane.speed * seconds;
  }
  lane.gap -= lane.speed * seconds;
  if (lane.gap <= 0) enter(lane);
  std::erase_if(lane.cars, [](const Vehicle& car) { return car.left > 2.5 || car.right < -1.5; });
}

void Traffic::enter(Lane& lane) {
  const bool lorry = random_.uniform() < 0.15;
  const double width = lorry ? between(random_, 0.35, 0.7) : between(random_, 0.12, 0.3);
  const double height = (lane.bottom - lane.top) * (lorry ? between(random_, 1.3, 1.6) : between(random_, 0.75, 1));
  // In from half a view outside, so that cameras that turned see cars too.
  const double from = lane.direction > 0 ? -0.6 - width : 1.6;
  lane.cars.push_back({from, from + width, lane.bottom - height, lane.bottom, between(random_, 15, 235),
                       static_cast<int>(random_.next() % 64)});
  lane.gap = width + 0.04 - 0.5 * std::log(1 - random_.uniform());
}

}  // namespace framequality::bench
