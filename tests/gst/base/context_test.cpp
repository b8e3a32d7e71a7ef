// SPDX-License-Identifier: LGPL-2.1-or-later
// Frames whose CUDA context changes while the GPU refuses to work in the new one.
#include "device/error.h"
#include "tests/gst/base/filter_rig.h"
#include "tests/gst/gpu_frames.h"

namespace framequality::test {
namespace {

/// The real GPU, but an element's third worker cannot be made: the first is for the element's own context, the second
/// for that of the first frame.
class ContextChange : public GpuMemory {
 protected:
  void SetUp() override {
    GpuMemory::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    other_ = new_context();
    ASSERT_TRUE(other_);
    use_tables();
    tables.gpu.sharpness = [](const Geometry& g, const Where& where) {
      refuse_third();
      return cuda::make_meter(g, where.id, where.depth);
    };
    tables.gpu.denoise = [](const PictureGeometry& g, const Where& where) {
      refuse_third();
      return cuda::make_denoiser(g, where.id, where.depth);
    };
  }
  void TearDown() override { use_backends({}); }

  /// One error, and no crash with the frames that follow it nevertheless.
  template <class R>
  void expect_one_error(R& rig, const std::string& caps) {
    GpuFrames first(context_.get(), caps), second(other_.get(), caps);
    made_ = 0;
    rig.caps(on_device(caps));
    ASSERT_EQ(rig.push(first.frame(0)), GST_FLOW_OK);
    EXPECT_EQ(rig.push(second.frame(1)), GST_FLOW_ERROR);
    for (std::uint64_t i = 2; i < 4; ++i) EXPECT_EQ(rig.push(second.frame(i)), GST_FLOW_NOT_NEGOTIATED) << i;
    const Heard heard = rig.heard();
    ASSERT_EQ(heard.errors.size(), 1u);
    EXPECT_TRUE(heard.errors[0].is(GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT)) << heard.errors[0].text;
  }

 private:
  static void refuse_third() {
    if (++made_ == 3) throw Error(framequality::Fault::kOutOfMemory, "cudaMalloc: as the test wants it");
  }
  static inline int made_ = 0;
  ContextPtr other_;
};

TEST_F(ContextChange, ThatFailsInAMeterIsOneError) {
  for (const char* in_flight : {"0", "3"}) {
    Rig rig{{"in-flight", in_flight}};
    expect_one_error(rig, video_caps("NV12", 66, 42));
  }
}

TEST_F(ContextChange, ThatFailsInAFilterIsOneError) {
  for (const char* in_flight : {"0", "3"}) {
    FilterRig rig{{"in-flight", in_flight}};
    expect_one_error(rig, video_caps("NV12", 66, 42));
  }
}

}  // namespace
}  // namespace framequality::test
