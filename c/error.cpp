// SPDX-License-Identifier: LGPL-2.1-or-later
// Exceptions as statuses and texts.
#include "device/error.h"

#include "c/internal.h"

#include <cstdio>
#include <new>

#define FQ_TEXT_OF(number) #number
#define FQ_TEXT(number) FQ_TEXT_OF(number)

namespace framequality::c {
namespace {

constexpr char kVersion[] = FQ_TEXT(FQ_VERSION_MAJOR) "." FQ_TEXT(FQ_VERSION_MINOR) "." FQ_TEXT(FQ_VERSION_MICRO);
static_assert(std::string_view(kVersion) == FQ_PROJECT_VERSION,
              "the versions of framequality.h and meson.build differ");

// An array, because running out of memory must be reportable, too.
thread_local char last_error[1024];

int keep(int status, const char* text) noexcept {
  std::snprintf(last_error, sizeof last_error, "%s", text);
  return status;
}

int status_of(Fault fault) {
  switch (fault) {
    case Fault::kNoDevice:
      return FQ_ERROR_NO_DEVICE;
    case Fault::kOutOfMemory:
      return FQ_ERROR_MEMORY;
    case Fault::kDeviceLost:
      break;
  }
  return FQ_ERROR_DEVICE_LOST;
}

}  // namespace

int failure() noexcept {
  try {
    throw;
  } catch (const StateError& e) {
    return keep(FQ_ERROR_STATE, e.what());
  } catch (const Error& e) {
    return keep(status_of(e.fault), e.what());
  } catch (const std::invalid_argument& e) {
    return keep(FQ_ERROR_ARGUMENT, e.what());
  } catch (const std::bad_alloc&) {
    return keep(FQ_ERROR_MEMORY, "out of memory");
  } catch (const std::exception& e) {
    return keep(FQ_ERROR_INTERNAL, e.what());
  } catch (...) {
    return keep(FQ_ERROR_INTERNAL, "unknown C++ exception");
  }
}

void require_range(const char* member, std::int64_t value, std::int64_t least, std::int64_t most) {
  if (value >= least && value <= most) return;
  refuse(std::string(member) + " is " + std::to_string(value) + ": it must be " + std::to_string(least) +
         (least == most ? "" : " to " + std::to_string(most)));
}

void require_size(std::size_t size, const char* name) {
  // Every struct has at least one member behind its size.
  if (size < 2 * sizeof(std::size_t) || size > 4096 || size % 8 != 0)
    refuse(std::string(name) + "->size is " + std::to_string(size) + ": set it with FQ_INIT");
}

}  // namespace framequality::c

extern "C" {

const char* fq_version(void) { return framequality::c::kVersion; }
const char* fq_last_error(void) { return framequality::c::last_error; }

}  // extern "C"
