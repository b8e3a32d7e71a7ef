// SPDX-License-Identifier: LGPL-2.1-or-later
// Barrier between C++ exceptions and C: every element function that can throw runs in guard(), which with
// device/error.h is the only place with try and catch.
#pragma once

#include "device/error.h"

#include <gst/gst.h>

#include <exception>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>

namespace framequality {

/// A failure with a text for users. domain and code as in GST_ELEMENT_ERROR.
class ElementError : public std::runtime_error {
 public:
  ElementError(GQuark domain, int code, const std::string& text)
      : std::runtime_error(text), domain(domain), code(code) {}
  GQuark domain;
  int code;
};

/// The GStreamer error for a device's fault, whichever interface the device has.
inline ElementError element_error(const Error& e) {
  switch (e.fault) {
    case Fault::kNoDevice:
      return {GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NOT_FOUND, std::string("No usable device: ") + e.what()};
    case Fault::kOutOfMemory:
      return {GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT, std::string("Out of device memory: ") + e.what()};
    case Fault::kDeviceLost:
      break;
  }
  return {GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_FAILED, std::string("The device failed: ") + e.what()};
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
  } catch (const Error& e) {
    post(element, GST_MESSAGE_ERROR, element_error(e));
  } catch (const std::bad_alloc&) {
    post(element, GST_MESSAGE_ERROR, {GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT, "Out of memory"});
  } catch (const std::exception& e) {
    post(element, GST_MESSAGE_ERROR, {GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_FAILED, e.what()});
  } catch (...) {
    post(element, GST_MESSAGE_ERROR, {GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_FAILED, "Unknown failure"});
  }
  return failure;
}

}  // namespace framequality
