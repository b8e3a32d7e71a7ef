// SPDX-License-Identifier: LGPL-2.1-or-later
// Scores of many images: in parallel on the CPU, one by one with several in flight on GPUs.
#include "python/core/errors.h"
#include "python/core/image.h"
#include "python/core/mask.h"
#include "python/core/meters.h"
#include "python/core/module.h"

#include <algorithm>
#include <atomic>
#include <deque>
#include <memory>
#include <system_error>
#include <thread>
#include <vector>

namespace core {

namespace {

constexpr int kInFlight = 4;

/// The images of a call, all open.
struct Batch {
  std::deque<Image> images;  // neither copied nor moved
  Array array;               // whose items they are, if any
  Object sequence;
  Mask mask;
  Py_ssize_t first = 0;

  bool open(PyObject* object, Options& options);
  bool fail(std::size_t index) const {
    prefix_error(first + static_cast<Py_ssize_t>(index));
    return false;
  }

 private:
  bool open_items(const Reading& reading);
  bool open_objects(PyObject* object, const Reading& reading);
};

bool Batch::open_items(const Reading& reading) {
  if (array.ndim < 1) {
    PyErr_SetString(PyExc_ValueError,
                    "a batch is an array with the images along its first axis; this array has no axes");
    return false;
  }
  for (Py_ssize_t i = 0; i < array.shape[0]; ++i)
    if (!images.emplace_back().open_item(array, i, reading)) return fail(static_cast<std::size_t>(i));
  return true;
}

bool Batch::open_objects(PyObject* object, const Reading& reading) {
  sequence.reset(PySequence_List(object));
  if (!sequence) return false;
  const Py_ssize_t count = PyList_Size(sequence.get());
  for (Py_ssize_t i = 0; i < count; ++i)
    if (!images.emplace_back().open(PyList_GetItem(sequence.get(), i), reading, Image::Use::kMeasure))
      return fail(static_cast<std::size_t>(i));
  return true;
}

bool Batch::open(PyObject* object, Options& options) {
  if (Array::has_buffer(object)) {
    if (!array.open(object) || !open_items(options.reading)) return false;
  } else if (!open_objects(object, options.reading)) {
    return false;
  }
  if (options.mask && !images.empty()) {
    const Pixels& pixels = images.front().source();
    mask = open_mask(options.mask, static_cast<int>(pixels.columns), static_cast<int>(pixels.rows));
    if (!mask) return false;
    options.measuring.mask = mask.get();
  }
  return true;
}

/// prepare() of all images, on as many threads as the system gives. Without the GIL.
void prepare_all(std::deque<Image>& images, long threads) noexcept {
  if (std::none_of(images.begin(), images.end(), [](const Image& i) { return i.needs_work(); })) return;
  const std::size_t all = threads > 0 ? static_cast<std::size_t>(threads) : std::thread::hardware_concurrency();
  const std::size_t helpers = std::min(std::max<std::size_t>(all, 1), images.size()) - 1;
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i; (i = next.fetch_add(1)) < images.size();) images[i].prepare();
  };
  std::unique_ptr<std::thread[]> others(new (std::nothrow) std::thread[helpers]);
  if (others) try {
      for (std::size_t i = 0; i < helpers; ++i) others[i] = std::thread(work);
    } catch (const std::system_error&) {
      // No more threads: continue with those that exist.
    }
  work();
  for (std::size_t i = 0; others && i < helpers; ++i)
    if (others[i].joinable()) others[i].join();
}

bool check_faults(const Batch& batch) {
  for (std::size_t i = 0; i < batch.images.size(); ++i)
    if (batch.images[i].is_faulty()) {
      batch.images[i].raise_fault();
      return batch.fail(i);
    }
  return true;
}

bool score_on_cpu(Batch& batch, const Options& options, std::vector<fq_result>& results) {
  std::size_t failed = 0;
  int status = FQ_OK;
  std::vector<fq_image> pictures(batch.images.size());
  without_gil([&]() noexcept {
    prepare_all(batch.images, options.threads);
    for (const Image& image : batch.images)
      if (image.is_faulty()) return;
    std::transform(batch.images.begin(), batch.images.end(), pictures.begin(),
                   [](const Image& i) { return i.picture; });
    status = fq_measure_many(pictures.data(), pictures.size(), &options.measuring, static_cast<int>(options.threads),
                             results.data(), &failed);
  });
  if (!check_faults(batch)) return false;
  if (status == FQ_OK) return true;
  raise_status(status);
  return failed < batch.images.size() ? batch.fail(failed) : false;
}

bool may_follow(const fq_image& a, const fq_image& b) {
  return a.format == b.format && a.width == b.width && a.height == b.height && a.word_bytes == b.word_bytes &&
         a.bits == b.bits && a.flags == b.flags && a.pixel_stride == b.pixel_stride && !a.plane[1] == !b.plane[1];
}

/// Images in flight on a meter. Without the GIL.
class Ring {
 public:
  Ring(Batch& batch, const Options& options, std::vector<fq_result>& results)
      : batch_(batch), options_(options), results_(results) {}

  /// Stops at the first image that fails: status, failed and meter then identify it.
  void run(const std::vector<const char*>& devices) noexcept {
    const char* current = nullptr;
    for (std::size_t i = 0; i < batch_.images.size(); ++i) {
      Image& image = batch_.images[i];
      image.prepare();
      if (image.is_faulty()) break;
      const bool is_alike =
          current && std::strcmp(current, devices[i]) == 0 && may_follow(batch_.images[i - 1].picture, image.picture);
      if (!collect_until(is_alike ? std::max(done_, i - std::min<std::size_t>(i, kInFlight - 1)) : i)) return;
      current = devices[i];
      failed = i;
      if ((status = deep_meters().get(current, kInFlight, meter)) != FQ_OK) break;
      if ((status = fq_meter_submit(meter, &image.picture, &options_.measuring)) != FQ_OK) break;
      submitted_ = i + 1;
    }
    const int first_status = status;
    const std::size_t first_failed = failed;
    if (collect_until(submitted_) && first_status != FQ_OK) {
      status = first_status;
      failed = first_failed;
    }
  }

  int status = FQ_OK;
  std::size_t failed = 0;
  fq_meter* meter = nullptr;

 private:
  bool collect_until(std::size_t end) {
    for (; done_ < end; ++done_) {
      failed = done_;
      status = fq_meter_collect(meter, &results_[done_], nullptr, 0);
      if (status == FQ_OK) continue;
      fq_result dropped = sized<fq_result>();  // so that no image is pending when the call ends
      for (++done_; done_ < submitted_; ++done_) (void)fq_meter_collect(meter, &dropped, nullptr, 0);
      return false;
    }
    return true;
  }

  Batch& batch_;
  const Options& options_;
  std::vector<fq_result>& results_;
  std::size_t submitted_ = 0, done_ = 0;
};

bool score_in_flight(Batch& batch, const Options& options, std::vector<fq_result>& results) {
  std::vector<const char*> devices;
  for (std::size_t i = 0; i < batch.images.size(); ++i) {
    devices.push_back(batch.images[i].device(options.reading));
    if (!devices.back()) return batch.fail(i);
  }
  Ring ring(batch, options, results);
  without_gil([&]() noexcept { ring.run(devices); });
  if (!check_faults(batch)) return false;
  if (ring.status == FQ_OK) return true;
  raise_status(ring.status);
  deep_meters().settle(ring.meter, ring.status);
  return batch.fail(ring.failed);
}

}  // namespace

PyObject* scores(PyObject*, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  return guard<PyObject*>(nullptr, [&]() -> PyObject* {
    Options options;
    Batch batch;
    if (!parse(options, Keywords::kScores, "scores", 2, args, count, names)) return nullptr;
    batch.first = PyLong_AsSsize_t(args[1]);
    if (PyErr_Occurred() || !batch.open(args[0], options)) return nullptr;
    std::vector<fq_result> results(batch.images.size(), sized<fq_result>());
    const bool on_cpu =
        (options.reading.device[0] == '\0' || std::strcmp(options.reading.device, "cpu") == 0) &&
        std::none_of(batch.images.begin(), batch.images.end(), [](const Image& i) { return i.is_on_device(); });
    const bool done = on_cpu ? score_on_cpu(batch, options, results) : score_in_flight(batch, options, results);
    if (!done) return nullptr;
    Object list(PyList_New(static_cast<Py_ssize_t>(results.size())));
    for (std::size_t i = 0; list && i < results.size(); ++i) {
      PyObject* number = PyFloat_FromDouble(results[i].score);
      if (!number) return nullptr;
      PyList_SetItem(list.get(), static_cast<Py_ssize_t>(i), number);
    }
    return list.release();
  });
}

}  // namespace core
