// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests of hints in messages: the name that was meant, and the package that has what is missing.
#include "apps/common/nearest.h"
#include "apps/common/owned.h"
#include "apps/common/packages.h"
#include "apps/common/program.h"

#include <gst/gst.h>

#include <gtest/gtest.h>
#include <string>
#include <string_view>
#include <vector>

namespace framequality::apps {
namespace {

std::string meant(std::string_view text, const std::vector<std::string>& known = {"metric", "manifest", "best", "roi",
                                                                                  "noise-correction", "hold-time"}) {
  return suggestion(text, known);
}

TEST(Suggestion, FindsLettersAddedLeftOutReplacedAndSwapped) {
  for (const char* text : {"metrics", "metrc", "mertic", "netric", "METRIC", "metrik"})
    EXPECT_EQ(meant(text), "; did you mean 'metric'?") << text;
  EXPECT_EQ(meant("hold_time"), "; did you mean 'hold-time'?");
  EXPECT_EQ(meant("rio"), "; did you mean 'roi'?");
}

TEST(Suggestion, TakesABeginningForTheWhole) {
  EXPECT_EQ(meant("noise"), "; did you mean 'noise-correction'?");
  EXPECT_EQ(meant("no"), "");
}

TEST(Suggestion, IsNoneWhereNothingIsNear) {
  for (const char* text : {"", "x", "zebra", "rxx", "mmmmmm"}) EXPECT_EQ(meant(text), "") << text;
  EXPECT_EQ(meant(std::string(100'000, 'm')), "");
  EXPECT_EQ(meant("best", {}), "");
}

TEST(Suggestion, PrefersTheNearestThenTheFirst) {
  EXPECT_EQ(meant("abcd", {"abxd", "abcde", "abc"}), "; did you mean 'abxd'?");
  EXPECT_EQ(meant("abcdef", {"abcxyf", "abcdxf"}), "; did you mean 'abcdxf'?");
}

TEST(Choice, GivesThePlaceOrSaysWhatWouldBeRight) {
  EXPECT_EQ(choice("--how", "b", {"a", "b"}), 1u);
  try {
    choice("--how", "coyp", {"copy", "hardlink", "symlink"});
    FAIL() << "no error";
  } catch (const UsageError& e) {
    EXPECT_STREQ(e.what(), "--how must be copy, hardlink or symlink, not 'coyp'; did you mean 'copy'?");
  }
}

TEST(Packages, AreNamedOnceAndOnlyIfKnown) {
  EXPECT_EQ(install_hint({}), "");
  EXPECT_EQ(install_hint({"decoder-image/gif", "element-nothing"}), "");
  EXPECT_EQ(install_hint({"element-srtsrc", "decoder-image/webp", "decoder-image/jpeg"}),
            "; on Debian and Ubuntu: sudo apt install gstreamer1.0-plugins-bad gstreamer1.0-plugins-good");
}

TEST(Packages, ThatAreInstalledAreNotNamed) {
  gst_init(nullptr, nullptr);
  const Owned<GstPlugin> libav(gst_registry_find_plugin(gst_registry_get(), "libav"));
  EXPECT_EQ(install_hint({"decoder-video/x-utvideo"}),
            libav ? "" : "; on Debian and Ubuntu: sudo apt install gstreamer1.0-libav");
}

/// The package of a plugin, by the module that it says it is built from.
std::string package_of_feature(GstPluginFeature* feature) {
  const Owned<GstPlugin> plugin(gst_plugin_feature_get_plugin(feature));
  std::string module = plugin ? gst_plugin_get_source(plugin.get()) : "";
  if (module == "gstreamer") return "libgstreamer1.0-0";
  return module.starts_with("gst-") ? "gstreamer1.0-" + module.substr(4) : module;
}

TEST(Packages, AreWhereTheElementsAre) {
  gst_init(nullptr, nullptr);
  int found = 0;
  for (const char* name :
       {"uridecodebin",   "decodebin",    "videoconvert", "videoscale",   "videorate",    "videotestsrc",
        "appsink",        "tcpclientsrc", "queue",        "capsfilter",   "fakesink",     "identity",
        "filesrc",        "tee",          "rtspsrc",      "souphttpsrc",  "v4l2src",      "udpsrc",
        "multipartdemux", "jpegdec",      "rtph264depay", "rtph265depay", "rtpjpegdepay", "qtdemux",
        "matroskademux",  "h264parse",    "h265parse",    "bayer2rgb",    "srtsrc",       "rtmp2src",
        "avdec_h264"}) {
    const Owned<GstPluginFeature> feature(GST_PLUGIN_FEATURE(gst_element_factory_find(name)));
    EXPECT_NE(package_of(std::string("element-") + name), "") << name;
    if (!feature) continue;
    EXPECT_EQ(package_of(std::string("element-") + name), package_of_feature(feature.get())) << name;
    ++found;
  }
  EXPECT_GT(found, 5);
}

TEST(Packages, DecodeWhatTheyAreNamedFor) {
  gst_init(nullptr, nullptr);
  int compared = 0;
  GList* all = gst_element_factory_list_get_elements(
      GST_ELEMENT_FACTORY_TYPE_DECODER | GST_ELEMENT_FACTORY_TYPE_DEMUXER, GST_RANK_MARGINAL);
  std::string installed;
  for (const GList* i = all; i; i = i->next) installed += package_of_feature(GST_PLUGIN_FEATURE(i->data)) + ' ';
  for (const char* type : {"application/ogg",
                           "video/x-theora",
                           "video/quicktime",
                           "video/x-matroska",
                           "video/webm",
                           "video/x-msvideo",
                           "video/x-flv",
                           "video/x-dv",
                           "video/x-vp8",
                           "video/x-vp9",
                           "multipart/x-mixed-replace",
                           "image/jpeg",
                           "image/png",
                           "video/mpegts, systemstream=true",
                           "video/x-av1",
                           "application/mxf",
                           "application/x-hls",
                           "application/dash+xml",
                           "application/x-yuv4mpeg",
                           "image/webp",
                           "image/svg+xml",
                           "image/x-portable-pixmap",
                           "image/jp2",
                           "video/x-ms-asf",
                           "application/vnd.rn-realmedia",
                           "image/tiff",
                           "image/bmp",
                           "video/x-h264",
                           "video/x-h265",
                           "video/mpeg, mpegversion=4, systemstream=false",
                           "video/x-prores",
                           "video/x-ffv"}) {
    const std::string name(std::string_view(type).substr(0, std::string_view(type).find(',')));
    const std::string package = package_of("decoder-" + name);
    const Owned<GstCaps> caps(gst_caps_from_string(type));
    GList* fit = gst_element_factory_list_filter(all, caps.get(), GST_PAD_SINK, FALSE);
    std::string packages;
    for (const GList* i = fit; i; i = i->next) packages += package_of_feature(GST_PLUGIN_FEATURE(i->data)) + ' ';
    gst_plugin_feature_list_free(fit);
    // Only an installed package shows what it decodes. Others may decode it too: plugins-good has an HLS demuxer that
    // works within playbin3 alone.
    if (installed.find(package + ' ') != std::string::npos && !packages.empty()) {
      EXPECT_NE(packages.find(package + ' '), std::string::npos) << type << ": " << packages;
      ++compared;
    }
    EXPECT_NE(package, "") << type;
  }
  gst_plugin_feature_list_free(all);
  EXPECT_GT(compared, 2);
}

}  // namespace
}  // namespace framequality::apps
