// SPDX-License-Identifier: LGPL-2.1-or-later
// Barrier between C++ exceptions and C: every element function that can throw runs in guard().
#pragma once

#include "cuda/error.h"

#include <gst/gst.h>

#include <exception>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>

namespace framequality {

/// A failure whose text is meant for users. domain and code as in GST_ELEMENT_ERROR.
class ElementError : public std::runtime_error {
 public:
  ElementError(GQuark domain, int code, const std::string& text)
      : std::runtime_error(text), domain(domain), code(code) {}
  GQuark domain;
  int code;
};

/// The GStreamer words for a CUDA fault.
inline ElementError element_error(const cuda::Error& e) {
  switch (e.fault) {
    case cuda::Fault::kNoDevice:
      return {GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NOT_FOUND, std::string("No usable CUDA device: ") + e.what()};
    case cuda::Fault::kOutOfMemory:
      return {GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT, std::string("Out of GPU memory: ") + e.what()};
    case cuda::Fault::kDeviceLost:
      break;
  }
  return {GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_FAILED, std::string("The GPU failed: ") + e.what()};
}

/// Posts an element error or warning (type) with this text.
inline void post(GstElement* element, GstMessageType type, const ElementError& e) {
  gst_element_message_full(element, type, e.domain, e.code, g_strdup(e.what()), nullptr, __FILE__, GST_FUNCTION,
                           __LINE__);
}

/// body()'s result. If it throws, posts exactly one element error and returns `failure`.
template <class R, class F>
R guard(GstElement* element, R failure, F&& body) noexcept {
  try {
    return std::forward<F>(body)();
  } catch (const ElementError& e) {
    post(element, GST_MESSAGE_ERROR, e);
  } catch (const cuda::Error& e) {
    post(element, GST_MESSAGE_ERROR, element_error(e));
  } catch (const std::bad_alloc&) {
    post(element, GST_MESSAGE_ERROR, {GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT, "Out of memory"});
  } catch (const std::exception& e) {
    post(element, GST_MESSAGE_ERROR, {GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_FAILED, e.what()});
  } catch (...) {
    post(element, GST_MESSAGE_ERROR, {GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_FAILED, "unknown failure"});
  }
  return failure;
}

/// body()'s result, or `failure` if it throws: for functions that belong to no element and say no more by contract.
template <class R, class F>
R guard(R failure, F&& body) noexcept {
  try {
    return std::forward<F>(body)();
  } catch (...) {
    return failure;
  }
}

/// body()'s result or, if CUDA fails in it, recover(error)'s.
template <class F, class G>
auto with_recovery(F&& body, G&& recover) {
  try {
    return std::forward<F>(body)();
  } catch (const cuda::Error& e) {
    return std::forward<G>(recover)(e);
  }
}

}  // namespace framequality
