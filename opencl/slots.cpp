// SPDX-License-Identifier: LGPL-2.1-or-later
#include "opencl/slots.h"

#include "device/error.h"
#include "host/log.h"

#include <chrono>
#include <string>
#include <thread>

namespace framequality::opencl {
namespace {

using Clock = std::chrono::steady_clock;

/// The state of a command: CL_COMPLETE, positive before completion, negative if it failed.
cl_int state_of(const Event& event) {
  cl_int state = CL_COMPLETE;
  const cl_int code =
      api().clGetEventInfo(event.get(), CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, nullptr);
  return code == CL_SUCCESS ? state : code;
}

/// The final state of an event, or its last one when patience ends. A sleeping thread wakes late, a
/// spinning one burns a core: so spin first, then sleep for growing times.
cl_int await(const Event& event) {
  constexpr std::chrono::microseconds kSpins{200}, kLongestNap{1000};
  const auto begin = Clock::now();
  auto nap = std::chrono::microseconds(20);
  for (;;) {
    const cl_int state = state_of(event);
    if (state <= CL_COMPLETE) return state;
    const std::chrono::duration<double> waited = Clock::now() - begin;
    if (waited.count() > patience) return state;
    if (waited < kSpins) {
      std::this_thread::yield();
    } else {
      std::this_thread::sleep_for(nap);
      nap = std::min(2 * nap, kLongestNap);
    }
  }
}

}  // namespace

bool has_come(const Event& event) { return state_of(event) <= CL_COMPLETE; }

void wait(Context& context, const Event& event) {
  const cl_int state = await(event);
  if (state == CL_COMPLETE) return;
  context.lose();
  if (state < 0) check(state, "waiting for a frame");
  context.hang();
  throw Error(Fault::kDeviceLost, "OpenCL: " + context.device().title() + " has not responded for " +
                                      std::to_string(static_cast<int>(patience)) + " s");
}

void drain(Context& context, cl_command_queue queue) noexcept {
  if (context.is_hung() || !queue) return;
  cl_event event = nullptr;
  if (api().clEnqueueMarkerWithWaitList(queue, 0, nullptr, &event) != CL_SUCCESS || !event) return;
  const Event marker(event);
  (void)api().clFlush(queue);
  if (await(marker) <= CL_COMPLETE) return;
  host::log(host::LogLevel::kWarning, "%s does not respond", context.device().title().c_str());
  context.hang();
}

}  // namespace framequality::opencl
