// SPDX-License-Identifier: LGPL-2.1-or-later
// sharpnessoverlay on frames in DMA buffers: drawn on where they lie, between the calls that synchronise them.
#include "tests/gst/dma_buffers.h"
#include "tests/gst/sharpnessoverlay/rig.h"

namespace framequality::test {
namespace {

const Said kSaid{.score = 1234};

TEST(OverlayDma, FramesAreDrawnOnInPlaceAndSynchronised) {
  for (const char* format : {"GRAY8", "I420", "NV12", "YUY2", "BGRx"}) {
    SCOPED_TRACE(format);
    const std::string caps = video_caps(format, 160, 120);
    const std::vector<std::uint8_t> plain = bytes_of(random_buffer(caps, 5).get());
    OverlayRig usual{{"peaking", "true"}}, rig{{"peaking", "true"}};
    usual.caps(caps);
    rig.caps(caps);
    const std::vector<std::uint8_t> wanted = bytes_of(usual.pass(with(random_buffer(caps, 5), kSaid)).get());
    DmaBuffer dma(plain.size());
    dma.write(plain);
    syncs();
    BufferPtr in = with(dma.buffer(), kSaid);
    const GstMemory* memory = gst_buffer_peek_memory(in.get(), 0);
    const BufferPtr got = rig.pass(std::move(in));
    expect_balanced(syncs(), dma, true);
    EXPECT_EQ(gst_buffer_peek_memory(got.get(), 0), memory);
    EXPECT_FALSE(dma.is_mapped());
    EXPECT_EQ(dma.read(wanted.size()), wanted);
    EXPECT_NE(wanted, plain);
  }
}

TEST(OverlayDma, AFrameThatOthersHoldIsCopied) {
  const std::string caps = video_caps("I420", 160, 120);
  const std::vector<std::uint8_t> plain = bytes_of(random_buffer(caps, 5).get());
  DmaBuffer dma(plain.size());
  dma.write(plain);
  OverlayRig rig;
  rig.caps(caps);
  const BufferPtr held = with(dma.buffer(), kSaid);
  const BufferPtr got = rig.pass(BufferPtr(gst_buffer_ref(held.get())));
  EXPECT_EQ(dma.read(plain.size()), plain);
  std::vector<std::uint8_t> drawn = bytes_of(got.get());
  drawn.resize(plain.size());
  EXPECT_NE(drawn, plain);
}

TEST(OverlayDma, WhatIsAttachedTouchesNoPixel) {
  const std::string caps = video_caps("I420", 160, 120);
  DmaBuffer dma(160 * 120 * 3 / 2);
  DrawnDownstream rig;
  rig.caps(caps);
  syncs();
  const BufferPtr got = rig.pass(with(dma.buffer(), kSaid));
  EXPECT_GT(rectangles_in(got), 0u);
  EXPECT_TRUE(syncs().empty());
}

#if GST_CHECK_VERSION(1, 24, 0)

TEST(OverlayDma, LinearCapsAreDrawnOnAsTheSameFormatInSystemMemory) {
  const std::string caps = video_caps("NV12", 160, 120);
  const std::vector<std::uint8_t> plain = bytes_of(random_buffer(caps, 5).get());
  OverlayRig usual{{"peaking", "true"}}, rig{{"peaking", "true"}};
  usual.caps(caps);
  rig.caps("video/x-raw(memory:DMABuf),format=DMA_DRM,drm-format=NV12,width=160,height=120,framerate=30/1");
  const std::vector<std::uint8_t> wanted = bytes_of(usual.pass(with(random_buffer(caps, 5), kSaid)).get());
  DmaBuffer dma(plain.size());
  dma.write(plain);
  syncs();
  const BufferPtr got = rig.pass(with(dma.buffer(), kSaid));
  expect_balanced(syncs(), dma, true);
  EXPECT_EQ(dma.read(wanted.size()), wanted);
}

TEST(OverlayDma, InOtherLayoutsTheOverlayIsAttachedWhereDownstreamDraws) {
  for (const bool drawn : {true, false}) {
    OverlayRig rig{{"peaking", "false"}};
    if (drawn)
      gst_harness_add_propose_allocation_meta(rig.harness(), GST_VIDEO_OVERLAY_COMPOSITION_META_API_TYPE, nullptr);
    rig.caps(
        "video/x-raw(memory:DMABuf),format=DMA_DRM,drm-format=(string)NV12:0x0100000000000002,width=160,height=120,"
        "framerate=30/1");
    DmaBuffer dma(160 * 120 * 3 / 2);
    syncs();
    EXPECT_EQ(rig.push(with(dma.buffer(), kSaid)), GST_FLOW_OK);
    const BufferPtr got = rig.pull();
    EXPECT_GT(rectangles_in(got), 0u);
    EXPECT_TRUE(syncs().empty());
  }
}

#endif

}  // namespace
}  // namespace framequality::test
