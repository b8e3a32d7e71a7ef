// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests of the programs' texts for GStreamer's messages.
#include "apps/common/message.h"
#include "apps/common/owned.h"

#include <gtest/gtest.h>
#include <string>

namespace framequality::apps {
namespace {

class Messages : public ::testing::Test {
 protected:
  void SetUp() override {
    gst_init(nullptr, nullptr);
    pipeline_.reset(GST_ELEMENT(gst_object_ref_sink(gst_pipeline_new("a pipeline"))));
    gst_bin_add(GST_BIN(pipeline_.get()), element_ = gst_element_factory_make("identity", "it"));
    bus_.reset(gst_element_get_bus(pipeline_.get()));
  }
  /// Of what an element posts: texts may be null, as there.
  Complaint posted(const char* text, const char* debug, GstMessageType type = GST_MESSAGE_ERROR,
                   const char* function = "gst_it_open") {
    gst_element_message_full(element_, type, GST_STREAM_ERROR, GST_STREAM_ERROR_FAILED, g_strdup(text), g_strdup(debug),
                             "../gst/an element/it.c", function, 123);
    const Owned<GstMessage> message(gst_bus_pop_filtered(bus_.get(), type));
    return complaint_of(message.get());
  }
  Owned<GstElement> pipeline_;
  Owned<GstBus> bus_;
  GstElement* element_ = nullptr;
};

TEST_F(Messages, DetailsAreTheLastLine) {
  const Complaint complaint = posted("It failed.", "streaming stopped\nreason error (-5)\n");
  EXPECT_EQ(complaint.text, "It failed");
  EXPECT_EQ(complaint.details, "reason error (-5)");
  EXPECT_TRUE(complaint.is(GST_STREAM_ERROR, GST_STREAM_ERROR_FAILED));
  EXPECT_EQ(posted("Odd", "only this", GST_MESSAGE_WARNING).details, "only this");
}

TEST_F(Messages, PlacesInSourcesAreNoDetails) {
  EXPECT_EQ(posted("It failed", nullptr).details, "");
  EXPECT_EQ(posted("It failed", "").details, "");
  EXPECT_EQ(posted("It failed", nullptr, GST_MESSAGE_WARNING, "<a::Decoder as b::Element>::{{closure}}").details, "");
}

TEST_F(Messages, PlacesOfMessagesThatArePassedOnAreNoDetailsEither) {
  const std::string place = "../gst/other.c(7): open (): /GstPipeline:p/GstBin:b";
  EXPECT_EQ(posted("It failed", place.c_str()).details, "");
  EXPECT_EQ(posted("It failed", (place + ":\nno space left").c_str()).details, "no space left");
  EXPECT_EQ(posted("It failed", ("no space left\n" + place).c_str()).details, "no space left");
}

TEST_F(Messages, DetailsOfOneLineMayHoldParentheses) {
  GError* error = g_error_new(GST_STREAM_ERROR, GST_STREAM_ERROR_FAILED, "It failed");
  const Owned<GstMessage> message(gst_message_new_error(nullptr, error, "call (): returned /dev/video0 (16): busy"));
  g_error_free(error);
  EXPECT_EQ(complaint_of(message.get()).details, "call (): returned /dev/video0 (16): busy");
}

}  // namespace
}  // namespace framequality::apps
