// SPDX-License-Identifier: LGPL-2.1-or-later
// The list of all backends.
#include "device/backend.h"

// One line each, best first: the backend's folder, which defines kBackend in the namespace of that name.
#define FQ_BACKENDS(BACKEND) \
  BACKEND(cuda)              \
  BACKEND(opencl)            \
  BACKEND(cpu)

namespace framequality {

#define FQ_DECLARE(folder)       \
  namespace folder {             \
  extern const Backend kBackend; \
  }
FQ_BACKENDS(FQ_DECLARE)

namespace {

#define FQ_ADDRESS(folder) &folder::kBackend,
constexpr const Backend* kAll[] = {FQ_BACKENDS(FQ_ADDRESS)};

constinit std::span<const Backend* const> in_use = kAll;

}  // namespace

std::span<const Backend* const> backends() { return in_use; }

void use_backends(std::span<const Backend* const> all) {
  in_use = all.empty() ? std::span<const Backend* const>(kAll) : all;
}

}  // namespace framequality
