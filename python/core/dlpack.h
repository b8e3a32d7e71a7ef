// SPDX-License-Identifier: LGPL-2.1-or-later
// The part of DLPack 1.0 that a consumer of tensors needs: https://dmlc.github.io/dlpack/latest/c_api.html
#pragma once

#include <cstdint>

namespace core::dlpack {

enum Kind : std::int32_t { kCpu = 1, kCuda = 2, kCudaHost = 3, kCudaManaged = 13 };
enum Code : std::uint8_t { kInt = 0, kUint = 1, kFloat = 2, kOpaque = 3, kBfloat = 4, kComplex = 5, kBool = 6 };

struct Device {
  std::int32_t kind, id;
};
struct Type {
  std::uint8_t code, bits;
  std::uint16_t lanes;
};
struct Tensor {
  void* data;
  Device device;
  std::int32_t ndim;
  Type dtype;
  std::int64_t* shape;
  std::int64_t* strides;  ///< in samples; null: contiguous
  std::uint64_t byte_offset;
};
/// In capsules "dltensor".
struct Managed {
  Tensor tensor;
  void* manager;
  void (*deleter)(Managed*);
};
/// In capsules "dltensor_versioned".
struct Versioned {
  std::uint32_t major, minor;
  void* manager;
  void (*deleter)(Versioned*);
  std::uint64_t flags;
  Tensor tensor;
};

}  // namespace core::dlpack
