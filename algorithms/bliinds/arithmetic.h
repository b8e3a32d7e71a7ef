// SPDX-License-Identifier: LGPL-2.1-or-later
// Numbers whose operations each round once, so that twins on different machines get the same bits.
//
// IEEE 754 fixes +, -, *, / and the square root of doubles to the last bit; what differs between machines is whether
// a compiler fuses a product and a sum. Nothing here is ever fused: the host is compiled with -ffp-contract=off, the
// device names each operation. Plain rather than fused on purpose: a processor without the fused instruction would
// have to emulate it in software, and the block's arithmetic is not what limits a GPU.
#pragma once

#include "algorithms/host_device.h"

#include <cmath>

namespace framequality::bliinds {

/// One double: the number type T of the CUDA twin and of tests; the CPU twin uses vectors of doubles.
/// T offers + - * /, construction from a double, magnitude() and root().
struct Real {
  double v = 0;
  Real() = default;
  FQ_HD explicit Real(double value) : v(value) {}
#ifdef __CUDA_ARCH__
  FQ_HD friend Real operator+(Real a, Real b) { return Real(__dadd_rn(a.v, b.v)); }
  FQ_HD friend Real operator-(Real a, Real b) { return Real(__dsub_rn(a.v, b.v)); }
  FQ_HD friend Real operator*(Real a, Real b) { return Real(__dmul_rn(a.v, b.v)); }
  FQ_HD friend Real operator/(Real a, Real b) { return Real(__ddiv_rn(a.v, b.v)); }
  FQ_HD friend Real root(Real a) { return Real(__dsqrt_rn(a.v)); }
#else
  FQ_HD friend Real operator+(Real a, Real b) { return Real(a.v + b.v); }
  FQ_HD friend Real operator-(Real a, Real b) { return Real(a.v - b.v); }
  FQ_HD friend Real operator*(Real a, Real b) { return Real(a.v * b.v); }
  FQ_HD friend Real operator/(Real a, Real b) { return Real(a.v / b.v); }
  FQ_HD friend Real root(Real a) { return Real(std::sqrt(a.v)); }
#endif
  FQ_HD friend Real magnitude(Real a) { return Real(fabs(a.v)); }
};

}  // namespace framequality::bliinds
