// SPDX-License-Identifier: LGPL-2.1-or-later
// Frames in flight when OpenCL fails: every function in turn, at every call.
#include "cpu/sharpness/meter.h"
#include "device/error.h"
#include "engine/session.h"
#include "opencl/api.h"
#include "opencl/context.h"
#include "opencl/sharpness/meter.h"
#include "opencl/slots.h"
#include "tests/sharpness/measure.h"
#include "tests/support/opencl.h"

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace framequality::test {

using namespace sharpness;

namespace {

/// The installed functions, one of which fails.
struct Script {
  const char* function = "";  ///< the one that fails
  int calls_left = 0;         ///< before it does
  cl_int code = CL_OUT_OF_RESOURCES;
  int failures = 0;
  bool hangs = false;              ///< no event ever comes
  const char* replaced = nullptr;  ///< part of a program's text, and what the driver makes of it
  const char* with = "";
} script;

bool fails(const char* function) {
  if (std::strcmp(function, script.function) != 0 || script.calls_left-- > 0) return false;
  ++script.failures;
  return true;
}

/// A function that returns a code.
template <auto kMember, class... A>
struct Failing {
  static inline const char* name;
  static cl_int call(A... arguments) {
    if (fails(name)) return script.code;
    return (installed_api_table()->*kMember)(arguments...);
  }
  static const opencl::Api* installed_api_table() { return opencl::installed_api(); }
};
template <auto kMember, class... A>
void put(opencl::Api& table, const char* name, cl_int (*opencl::Api::*)(A...)) {
  Failing<kMember, A...>::name = name;
  table.*kMember = Failing<kMember, A...>::call;
}
/// A function that returns an object, and a code through its last argument.
template <auto kMember, class R, class... A>
struct FailingMaker {
  static inline const char* name;
  static R call(A... arguments) {
    if (fails(name)) {
      *std::get<sizeof...(A) - 1>(std::tuple<A...>(arguments...)) = script.code;
      return nullptr;
    }
    return (opencl::installed_api()->*kMember)(arguments...);
  }
};
template <auto kMember, class R, class... A>
void put_maker(opencl::Api& table, const char* name, R (*opencl::Api::*)(A...)) {
  FailingMaker<kMember, R, A...>::name = name;
  table.*kMember = FailingMaker<kMember, R, A...>::call;
}

cl_int event_info(cl_event event, cl_event_info what, size_t bytes, void* value, size_t* got) {
  const cl_int code = opencl::installed_api()->clGetEventInfo(event, what, bytes, value, got);
  if (script.hangs) *static_cast<cl_int*>(value) = CL_RUNNING;
  // Once: a queue that has failed may still be drained.
  if (script.failures == 0 && fails("event")) *static_cast<cl_int*>(value) = script.code;
  return code;
}

cl_program program_with_source(cl_context context, cl_uint count, const char** texts, const size_t* bytes,
                               cl_int* code) {
  std::string text = texts[0];
  if (const auto at = script.replaced ? text.find(script.replaced) : std::string::npos; at != std::string::npos)
    text.replace(at, std::strlen(script.replaced), script.with);
  const char* changed = text.c_str();
  return opencl::installed_api()->clCreateProgramWithSource(context, count, &changed, bytes, code);
}

const opencl::Api& scripted_api() {
  static const opencl::Api table = [] {
    opencl::Api t = *opencl::installed_api();
#define FQ_PUT(name) put<&opencl::Api::name>(t, #name, &opencl::Api::name);
    FQ_PUT(clEnqueueNDRangeKernel)
    FQ_PUT(clEnqueueWriteBuffer)
    FQ_PUT(clEnqueueWriteBufferRect)
    FQ_PUT(clEnqueueReadBuffer)
    FQ_PUT(clEnqueueFillBuffer)
    FQ_PUT(clSetKernelArg)
    FQ_PUT(clFlush)
    FQ_PUT(clBuildProgram)
#undef FQ_PUT
    put_maker<&opencl::Api::clCreateBuffer>(t, "clCreateBuffer", &opencl::Api::clCreateBuffer);
    put_maker<&opencl::Api::clCreateKernel>(t, "clCreateKernel", &opencl::Api::clCreateKernel);
    put_maker<&opencl::Api::clCreateCommandQueue>(t, "clCreateCommandQueue", &opencl::Api::clCreateCommandQueue);
    t.clGetEventInfo = event_info;
    t.clCreateProgramWithSource = program_with_source;
    return t;
  }();
  return table;
}

class OpenClFaults : public testing::Test, protected SessionHost {
 protected:
  void SetUp() override {
    require_opencl();
    if (IsSkipped() || HasFatalFailure()) return;
    device_ = opencl_device().id;
    script = {};
    opencl::use_api(&scripted_api());
  }
  void TearDown() override {
    script = {};
    opencl::use_api(nullptr);
    opencl::patience = 60;
  }

  bool enter() override { return false; }
  void leave() noexcept override {}
  Place fall_back(const Error& fault, const Place&) override {
    faults_.push_back(fault.fault);
    return cpu_place();
  }

  /// Sends frames through a session that begins on the OpenCL device; all results must be there, in order, and right.
  void run_session() {
    constexpr int kFrames = 6, kDepth = 3;
    Request request;
    request.statistics = true;
    request.prefilter = Prefilter::kBinomial3;
    const auto plan = std::make_shared<const Plan>(make_plan(geometry_, request));
    std::vector<std::unique_ptr<Picture>> pictures;
    for (std::uint64_t seed = 1; seed <= kFrames; ++seed)
      pictures.push_back(std::make_unique<Picture>(geometry_, Fill::kRandom, placement_, seed));
    const auto task = [&](int i) { return Task{pictures[static_cast<std::size_t>(i)]->frame(), plan}; };
    const auto host = cpu::make_meter(geometry_);
    Session<Task, std::span<const std::int64_t>> session(
        *this, Place{&opencl::kBackend, device_}, kDepth, [&](const Place& place, int depth) {
          return place.backend->sharpness(geometry_, {place.id, depth, 0});
        });
    const auto collect = [&](int i) {
      host->submit(task(i));
      ASSERT_TRUE(equal_totals(*plan, host->collect(), session.collect(task(i)))) << "frame " << i;
    };
    for (int i = 0; i < kFrames + kDepth; ++i) {
      if (i >= kDepth) collect(i - kDepth);
      if (i < kFrames) session.submit(task(i));
    }
  }

  Geometry geometry_{77, 55, {}};
  Placement placement_ = Placement::kOdd;
  int device_ = -1;
  std::vector<Fault> faults_;
};

TEST_F(OpenClFaults, NothingIsLostWhateverFailsWhenever) {
  run_session();
  ASSERT_TRUE(faults_.empty());
  for (const char* const function :
       {"clEnqueueNDRangeKernel", "clEnqueueWriteBuffer", "clEnqueueWriteBufferRect", "clEnqueueReadBuffer",
        "clEnqueueFillBuffer", "clSetKernelArg", "clFlush", "clCreateBuffer", "clCreateKernel", "clCreateCommandQueue",
        "clBuildProgram", "event"}) {
    std::size_t seen = 0;
    // Rows with small gaps go up in one piece.
    const bool is_one_piece = std::string_view(function) == "clEnqueueWriteBuffer";
    geometry_.width = is_one_piece ? 128 : 77;
    placement_ = is_one_piece ? Placement::kTight : Placement::kOdd;
    for (const int calls : {0, 1, 2, 5, 11, 23}) {
      SCOPED_TRACE(std::string(function) + " after " + std::to_string(calls));
      script = {.function = function, .calls_left = calls};
      faults_.clear();
      ASSERT_NO_FATAL_FAILURE(run_session());
      EXPECT_TRUE(faults_.empty() || script.failures > 0);
      seen += faults_.size();
      if (script.failures == 0) break;  // so many calls are not made
    }
    EXPECT_GT(seen, 0u) << function;
  }
}

TEST_F(OpenClFaults, CodesAreFaults) {
  const auto plan = std::make_shared<const Plan>(make_plan(geometry_, {}));
  const Picture picture(geometry_, Fill::kRandom, Placement::kTight, 1);
  const auto fault_of = [&](const char* function, cl_int code) {
    script = {.function = function, .code = code};
    try {
      const auto meter = opencl::make_meter(geometry_, device_);
      meter->submit({picture.frame(), plan});
      meter->collect();
    } catch (const Error& e) {
      EXPECT_NE(std::string(e.what()).find("OpenCL: "), std::string::npos) << e.what();
      return e.fault;
    }
    ADD_FAILURE() << function << " " << code << " did not fail";
    return Fault::kNoDevice;
  };
  EXPECT_EQ(fault_of("clCreateBuffer", CL_MEM_OBJECT_ALLOCATION_FAILURE), Fault::kOutOfMemory);
  EXPECT_EQ(fault_of("clCreateBuffer", CL_OUT_OF_HOST_MEMORY), Fault::kOutOfMemory);
  EXPECT_EQ(fault_of("clEnqueueNDRangeKernel", CL_OUT_OF_RESOURCES), Fault::kDeviceLost);
  EXPECT_EQ(fault_of("clCreateCommandQueue", CL_DEVICE_NOT_AVAILABLE), Fault::kNoDevice);
  EXPECT_EQ(fault_of("event", CL_OUT_OF_RESOURCES), Fault::kDeviceLost);
}

TEST_F(OpenClFaults, ADeviceThatNeverAnswersIsGivenUp) {
  run_session();  // what has to be compiled is there
  opencl::patience = 0.2;
  script.hangs = true;
  const auto begin = std::chrono::steady_clock::now();
  run_session();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
  ASSERT_FALSE(faults_.empty());
  EXPECT_EQ(faults_.front(), Fault::kDeviceLost);
  // Another worker has a context of its own.
  script.hangs = false;
  opencl::patience = 60;
  faults_.clear();
  run_session();
  EXPECT_TRUE(faults_.empty());
}

/// With a driver that computes something else; exits with 0 if it is found out, and refused from then on.
[[noreturn]] void measure_wrongly(int device) {
  opencl::use_api(&scripted_api());
  script.replaced = "up.f0 + down.f0";
  script.with = "up.f0 + down.f0 + down.f0";
  ::setenv("XDG_CACHE_HOME", "/dev/null", 1);  // none: it has what good drivers have compiled
  const Geometry geometry{64, 48, {}};
  const Picture picture(geometry, Fill::kRandom, Placement::kTight, 1);
  try {
    const auto meter = opencl::make_meter(geometry, device);
    meter->submit({picture.frame(), std::make_shared<const Plan>(make_plan(geometry, {}))});
    std::_Exit(2);
  } catch (const Error& e) {
    const bool says_why = std::string(e.what()).find("other totals than the CPU for tenengrad") != std::string::npos;
    const Device now = opencl::find_device({.id = device});
    std::_Exit(e.fault == Fault::kDeviceLost && says_why && now.id < 0 && !now.reason.empty() ? 0 : 3);
  }
}

TEST_F(OpenClFaults, ADriverThatComputesSomethingElseIsRefused) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // a process of its own: the refusal holds until it ends
  EXPECT_EXIT(measure_wrongly(device_), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace framequality::test
