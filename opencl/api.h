// SPDX-License-Identifier: LGPL-2.1-or-later
// The functions of libOpenCL, which is loaded at run time: nothing links to it.
#pragma once

#define CL_TARGET_OPENCL_VERSION 120
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>

// All functions in use, one line each.
#define FQ_OPENCL_FUNCTIONS(F)   \
  F(clGetPlatformIDs)            \
  F(clGetPlatformInfo)           \
  F(clGetDeviceIDs)              \
  F(clGetDeviceInfo)             \
  F(clCreateContext)             \
  F(clReleaseContext)            \
  F(clCreateCommandQueue)        \
  F(clReleaseCommandQueue)       \
  F(clCreateBuffer)              \
  F(clReleaseMemObject)          \
  F(clCreateProgramWithSource)   \
  F(clCreateProgramWithBinary)   \
  F(clBuildProgram)              \
  F(clGetProgramInfo)            \
  F(clGetProgramBuildInfo)       \
  F(clReleaseProgram)            \
  F(clCreateKernel)              \
  F(clReleaseKernel)             \
  F(clSetKernelArg)              \
  F(clGetKernelWorkGroupInfo)    \
  F(clEnqueueNDRangeKernel)      \
  F(clEnqueueWriteBuffer)        \
  F(clEnqueueWriteBufferRect)    \
  F(clEnqueueReadBuffer)         \
  F(clEnqueueReadBufferRect)     \
  F(clEnqueueCopyBuffer)         \
  F(clEnqueueCopyBufferRect)     \
  F(clEnqueueFillBuffer)         \
  F(clEnqueueMapBuffer)          \
  F(clEnqueueUnmapMemObject)     \
  F(clEnqueueMarkerWithWaitList) \
  F(clFlush)                     \
  F(clFinish)                    \
  F(clGetEventInfo)              \
  F(clGetEventProfilingInfo)     \
  F(clReleaseEvent)              \
  F(clGetExtensionFunctionAddressForPlatform)

namespace framequality::opencl {

/// The functions as a table, so that tests can replace them.
struct Api {
#define FQ_MEMBER(name) decltype(&::name) name = nullptr;
  FQ_OPENCL_FUNCTIONS(FQ_MEMBER)
#undef FQ_MEMBER
  /// Of OpenCL 3.0; null if libOpenCL is older. Properties are pairs of numbers, followed by a 0.
  cl_mem(CL_API_CALL* clCreateBufferWithProperties)(cl_context, const cl_ulong* properties, cl_mem_flags, size_t bytes,
                                                    void* host, cl_int* code) = nullptr;
};

/// The installed libOpenCL's, loaded by the first call and kept; null if none has all functions.
const Api* installed_api();

/// The functions in use: installed_api(), or a test's. Call it only if has_api().
const Api& api();
/// True if there are functions.
bool has_api();

/// For tests: replaces api(), by a table that must stay valid; null: restores it. Only while no worker exists.
void use_api(const Api* other);

}  // namespace framequality::opencl
