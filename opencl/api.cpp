// SPDX-License-Identifier: LGPL-2.1-or-later
#include "opencl/api.h"

#include "host/log.h"

#include <dlfcn.h>
#include <type_traits>

namespace framequality::opencl {
namespace {

const Api* load() {
  // The name that every loader has (ocl-icd, Khronos, NVIDIA's); never closed: drivers do not unload well.
  void* const library = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    host::log(host::LogLevel::kDebug, "no OpenCL: %s", dlerror());
    return nullptr;
  }
  static Api table;
  bool is_complete = true;
  const auto find = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
    is_complete = is_complete && function;
  };
#define FQ_FIND(name) find(table.name, #name);
  FQ_OPENCL_FUNCTIONS(FQ_FIND)
#undef FQ_FIND
  table.clCreateBufferWithProperties =
      reinterpret_cast<decltype(table.clCreateBufferWithProperties)>(dlsym(library, "clCreateBufferWithProperties"));
  if (!is_complete) host::log(host::LogLevel::kInfo, "libOpenCL.so.1 is older than OpenCL 1.2 and is not used");
  return is_complete ? &table : nullptr;
}

const Api* others = nullptr;

}  // namespace

const Api* installed_api() {
  static const Api* const installed = load();
  return installed;
}

const Api& api() { return others ? *others : *installed_api(); }
bool has_api() { return others || installed_api(); }
void use_api(const Api* other) { others = other; }

}  // namespace framequality::opencl
