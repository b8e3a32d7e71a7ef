// SPDX-License-Identifier: LGPL-2.1-or-later
// Internals of the C library: errors, images as the engine reads them, and work on a device that may fail.
#pragma once

#include "algorithms/layout.h"
#include "algorithms/picture.h"
#include "c/framequality.h"
#include "device/backend.h"
#include "engine/session.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <deque>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

namespace framequality::c {

/// The caller called functions in the wrong order.
class StateError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

/// The caller passed something invalid: FQ_ERROR_ARGUMENT.
[[noreturn]] inline void refuse(const std::string& text) { throw std::invalid_argument(text); }
inline void require(bool valid, const char* text) {
  if (!valid) refuse(text);
}
/// Refuses a member that is not in `least`...`most`.
void require_range(const char* member, std::int64_t value, std::int64_t least, std::int64_t most);

/// The status of the current exception; keeps its text for fq_last_error().
int failure() noexcept;

/// Calls f; an exception becomes a status, since none may cross into C.
template <class F>
int guarded(F&& f) noexcept {
  try {
    if constexpr (std::is_void_v<decltype(f())>) {
      f();
      return FQ_OK;
    } else {
      return f();
    }
  } catch (...) {
    return failure();
  }
}

void require_size(std::size_t size, const char* name);
/// A caller's struct as this library knows it: members that an older header lacks are taken from `defaults`.
template <class T>
T known(const T* given, const T& defaults, const char* name) {
  static_assert(sizeof(T) % 8 == 0, "padding would be read as a newer header's member");
  if (!given) refuse(std::string(name) + " is NULL");
  require_size(given->size, name);
  T all = defaults;
  std::memcpy(&all, given, std::min(given->size, sizeof(T)));
  all.size = sizeof(T);
  return all;
}
/// Fills the members of a caller's struct that its header has. Never writes the size: other threads may be reading it.
template <class T>
void give(T* to, const T& from, const char* name) {
  if (!to) refuse(std::string(name) + " is NULL");
  require_size(to->size, name);
  constexpr std::size_t kFirst = sizeof to->size;
  std::memcpy(reinterpret_cast<char*>(to) + kFirst, reinterpret_cast<const char*>(&from) + kFirst,
              std::min(to->size, sizeof(T)) - kFirst);
}

/// A caller's image in the engine's terms. The constructor checks the struct and reads no pixels.
class Image {
 public:
  explicit Image(const fq_image* image);
  const Geometry& geometry() const { return geometry_; }
  const Frame& frame() const { return frame_; }
  bool is_on_device() const { return frame_.memory != Memory::kHost; }
  /// The geometry for denoisers, which write images too. Refuses mosaics and gaps between pixels.
  PictureGeometry picture_geometry() const;
  /// The geometry for reading all colours. Not for mosaics.
  PictureGeometry colour_geometry() const;
  bool is_mosaic() const { return geometry_.layout.kind == PixelLayout::Kind::kBayer; }
  int width() const { return image_.width; }
  int height() const { return image_.height; }

 private:
  fq_image image_;
  Geometry geometry_;
  Frame frame_;
};

/// Memory that a filter writes, checked: `height` rows of row_bytes in each of its planes.
fq_target known_target(const fq_target* target, int planes, std::size_t row_bytes, int height);

/// A device by its name in this interface, and the fall-back when it fails.
class Runner : public SessionHost {
 public:
  /// makes: whether a backend has the required worker. weighs: "auto" begins on the CPU and finds out whether a
  /// device is cheaper; else it is the best device at once. Throws Error if there is no such device.
  Runner(const char* device, bool (*makes)(const Backend&), bool weighs = false);

  const Place& place() const { return place_; }
  /// The device's name, such as "cuda:0".
  const std::string& name() const { return name_; }
  /// The device that may be cheaper for a new session; empty if the place is settled.
  std::optional<Prospect> prospect();
  /// Settles the place, if it is not yet, on a device that reads this memory, where images lie. True if it did.
  bool settle(Memory memory);
  /// Refuses an image in the memory of a device that this one cannot read.
  void require_readable(const Image& image) const;
  /// Marks pending images as lying in device memory, which no other device can read.
  void hold(bool on_device) { on_device_ = on_device; }

  bool enter() override;
  void leave() noexcept override;
  Place fall_back(const Error& fault, const Place& failed) override;
  void moved(const Place& to) override;
  void stays(const std::string& reason) override;

 private:
  void set(const Place& place);

  Place place_{};
  std::string name_;
  bool (*makes_)(const Backend&);
  bool may_fall_back_ = false, on_device_ = false, weighs_ = false;
  std::optional<Place> found_;       ///< the device that may be cheaper, once found
  const Backend* keeper_ = nullptr;  ///< the backend that saves contexts, if any of the places so far has one
  void* context_ = nullptr;          ///< the caller's current one
};

/// A handle that works on one image at a time: a runner, and a session for the geometry seen last.
template <class Geometry, class Task, class Result>
class OneShot {
 public:
  using Make = std::unique_ptr<Worker<Task, Result>> (*)(const Backend&, const Geometry&, const Where&);

  OneShot(Runner&& runner, int threads, Make make) : runner_(std::move(runner)), threads_(threads), make_(make) {}

  Runner& runner() { return runner_; }
  Result work(const Geometry& geometry, const Task& task, bool on_device) {
    if (!geometry_ || !(*geometry_ == geometry)) {
      session_.reset();
      geometry_.reset();
      session_.emplace(runner_, runner_.place(), 1, [this, geometry](const Place& place, int depth) {
        return make_(*place.backend, geometry, {place.id, depth, threads_});
      });
      geometry_ = geometry;
    }
    runner_.hold(on_device);
    session_->submit(task);
    return session_->collect(task);
  }

 private:
  Runner runner_;
  int threads_;
  Make make_;
  std::optional<Geometry> geometry_;
  std::optional<Session<Task, Result>> session_;
};

}  // namespace framequality::c
