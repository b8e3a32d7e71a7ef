// SPDX-License-Identifier: LGPL-2.1-or-later
// One file through decoder and meter, frame by frame.
#include "apps/scan/scanner.h"

#include "apps/common/contexts.h"
#include "apps/common/element.h"
#include "apps/common/exif.h"
#include "apps/common/jpeg_end.h"
#include "apps/common/message.h"
#include "apps/common/program.h"
#include "apps/common/reach.h"
#include "apps/common/text.h"
#include "apps/common/threads.h"
#include "apps/common/uri.h"
#include "apps/common/url.h"
#include "apps/scan/folders.h"
#include "apps/scan/source.h"

#include <algorithm>
#include <sys/stat.h>
#include <utility>

namespace framequality::apps::scan {

namespace {

constexpr guint kDecodedAhead = 8;  // frames between decoder and meter, so that both have work
// A file that ends this long before its container's duration counts as cut off.
constexpr std::uint64_t kLeastShortfall = GST_SECOND / 2;
constexpr std::uint64_t kShortfallPart = 20;

}  // namespace

FileScan::FileScan(std::string name, const MeterOptions& options, int gpu, int stall_timeout, Calls calls)
    : name_(std::move(name)), options_(options), gpu_(gpu), stall_timeout_(stall_timeout), calls_(std::move(calls)) {}

FileScan::~FileScan() {
  silence();
  if (starter_.joinable()) starter_.join();
  stop();
}

void FileScan::start(std::optional<std::uint64_t> from) {
  from_ = from;
  listening_ = !from;  // before a seek, frames only show that seeking is possible
  clock_ = g_timeout_add_seconds(1, on_second, this);
  // In a thread of its own: opening a file and a decoder takes tens of milliseconds, and many files begin at once.
  try {
    starter_ = make_thread([this, state = from ? GST_STATE_PAUSED : GST_STATE_PLAYING] { set_going(state); });
  } catch (const std::runtime_error& e) {
    early_error_ = e.what();
    later_.add([this] { fail(early_error_); });
  }
}

void FileScan::set_going(GstState state) {
  try {
    build();
    if (gst_element_set_state(pipeline_.get(), state) != GST_STATE_CHANGE_FAILURE) return;
    // The bus has the reason, preceded by what is missing, unless the main loop was faster.
    const Owned<GstBus> bus(gst_element_get_bus(pipeline_.get()));
    constexpr auto kTelling = static_cast<GstMessageType>(GST_MESSAGE_ELEMENT | GST_MESSAGE_ERROR);
    early_error_ = "GStreamer cannot open it";
    while (const Owned<GstMessage> message{gst_bus_pop_filtered(bus.get(), kTelling)}) {
      if (GST_MESSAGE_TYPE(message.get()) == GST_MESSAGE_ERROR) {
        early_error_ = decoding_.reason(message.get());
        break;
      }
      decoding_.hear(message.get());
    }
  } catch (const std::runtime_error& e) {
    early_error_ = e.what();
  }
  const std::lock_guard lock(mutex_);
  if (!ending_) later_.add([this] { fail(early_error_); });
}

void FileScan::build() {
  if (const std::string error = folder_error(name_); !error.empty()) throw std::runtime_error(error);
  std::optional<Still> still = look_at_photograph();
  pipeline_.reset(GST_ELEMENT(gst_object_ref_sink(gst_pipeline_new(nullptr))));
  GstElement *source = add_source(GST_BIN(pipeline_.get()), name_, still), *sink = make_element("fakesink");
  convert_ = make_element("videoconvert");
  queue_ = make_element("queue");
  MeterOptions options = options_;
  options.cuda_device_id = gpu_;
  meter_ = make_meter(options);
  // It must not choose a device before the file's type is known: start_meter().
  gst_element_set_locked_state(meter_, TRUE);
  gst_bin_add_many(GST_BIN(pipeline_.get()), convert_, queue_, meter_, sink, nullptr);
  if (!gst_element_link_many(convert_, queue_, meter_, sink, nullptr))
    throw std::runtime_error("cannot link the meter");
  // Sound is not even decoded.
  const Owned<GstCaps> video(gst_caps_from_string("video/x-raw(ANY)"));
  g_object_set(source, "caps", video.get(), "expose-all-streams", FALSE, nullptr);
  g_object_set(queue_, "max-size-buffers", kDecodedAhead, "max-size-bytes", 0, "max-size-time", guint64{0}, nullptr);
  g_object_set(sink, "sync", FALSE, "enable-last-sample", FALSE, nullptr);
  g_signal_connect(source, "pad-added", G_CALLBACK(on_pad), this);
  g_signal_connect(source, "no-more-pads", G_CALLBACK(on_no_more_pads), this);
  g_signal_connect(source, "autoplug-select", G_CALLBACK(on_select), this);
  g_signal_connect(pipeline_.get(), "deep-element-added", G_CALLBACK(on_element), this);
  g_signal_connect(pipeline_.get(), "deep-element-removed", G_CALLBACK(on_element_removed), this);
  decoding_.watch(pipeline_.get());
  const Owned<GstPad> measured(gst_element_get_static_pad(meter_, "src"));
  gst_pad_add_probe(measured.get(),
                    static_cast<GstPadProbeType>(GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM |
                                                 GST_PAD_PROBE_TYPE_EVENT_FLUSH),
                    on_data, this, nullptr);
  const Owned<GstBus> bus(gst_element_get_bus(pipeline_.get()));
  gst_bus_set_sync_handler(bus.get(), on_sync_message, this, nullptr);
  watch_ = gst_bus_add_watch(bus.get(), on_message, this);
}

// --- Streaming threads ----------------------------------------------------------------------------------------------

GstBusSyncReply FileScan::on_sync_message(GstBus* bus, GstMessage* message, gpointer self) {
  auto* scan = static_cast<FileScan*>(self);
  // Noted before the end of stream that often follows.
  if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR) scan->has_failed_ = true;
  if (explain_unreachable(bus, message)) {
    gst_message_unref(message);
    return GST_BUS_DROP;
  }
  share_context(message, scan->gpu_);
  return GST_BUS_PASS;
}

GstPadProbeReturn FileScan::on_data(GstPad* pad, GstPadProbeInfo* info, gpointer self) {
  auto* scan = static_cast<FileScan*>(self);
  if (GST_PAD_PROBE_INFO_TYPE(info) & GST_PAD_PROBE_TYPE_BUFFER)
    scan->measure(pad, GST_PAD_PROBE_INFO_BUFFER(info));
  else
    scan->take_event(GST_PAD_PROBE_INFO_EVENT(info));
  return GST_PAD_PROBE_OK;
}

void FileScan::take_event(GstEvent* event) {
  const std::lock_guard lock(mutex_);
  switch (GST_EVENT_TYPE(event)) {
    case GST_EVENT_CAPS: {
      GstCaps* caps = nullptr;
      gst_event_parse_caps(event, &caps);
      take_caps(caps);
      break;
    }
    case GST_EVENT_TAG: {
      GstTagList* tags = nullptr;
      gst_event_parse_tag(event, &tags);
      take_tags(tags);
      break;
    }
    case GST_EVENT_FLUSH_STOP:
      // From now on frames belong to the seek().
      listening_ = true;
      intact_ = false;
      frames_ = 0;
      break;
    case GST_EVENT_EOS:
      if (listening_ && !ending_ && !has_failed_) {
        waits_for_us_ = true;
        calls_.all_read(measured_ == 0 ? "it has no video frame" : shortfall());
      }
      break;
    default:
      break;
  }
}

void FileScan::take_caps(GstCaps* caps) {
  caps_.reset(gst_caps_ref(caps));
  GstVideoInfo info;
  if (video_.width != 0 || !gst_video_info_from_caps(&info, caps)) return;
  video_.width = GST_VIDEO_INFO_WIDTH(&info);
  video_.height = GST_VIDEO_INFO_HEIGHT(&info);
  video_.rate_n = GST_VIDEO_INFO_FPS_N(&info);
  video_.rate_d = GST_VIDEO_INFO_FPS_D(&info);
  video_.format = GST_VIDEO_INFO_NAME(&info);
}

/// Tags of the file and of the stream arrive one after the other.
void FileScan::take_tags(const GstTagList* tags) {
  GstTagList* all =
      video_.tags ? gst_tag_list_merge(video_.tags.get(), tags, GST_TAG_MERGE_REPLACE) : gst_tag_list_copy(tags);
  video_.tags.reset(all, [](GstTagList* list) { gst_tag_list_unref(list); });
  video_.orientation = GST_VIDEO_ORIENTATION_IDENTITY;
  gst_video_orientation_from_tag(all, &video_.orientation);
}

/// Metadata that decoders do not pass on, and the image if GStreamer cannot decode it.
std::optional<Still> FileScan::look_at_photograph() {
  if (name_ == kStandardInput) return std::nullopt;
  const std::unique_ptr<gchar, decltype(&g_free)> path(g_filename_from_uri(uri_of(name_).c_str(), nullptr, nullptr),
                                                       g_free);
  if (!path) return std::nullopt;
  std::optional<Still> still = read_still(path.get());
  if (!still) {
    take_exif(exif_in(path.get()));
    is_cut_ = is_cut_jpeg(path.get());
    return std::nullopt;
  }
  video_.taken = still->taken;
  typed_ = image_ = true;
  const std::unique_ptr<GstTagList, UnrefTags> tags(
      gst_tag_list_new(GST_TAG_IMAGE_ORIENTATION, still->orientation, nullptr));
  take_tags(tags.get());
  return still;
}

/// Stores EXIF data, which decoders do not pass on.
void FileScan::take_exif(const ExifBlock& block) {
  video_.taken = taken_of(block.bytes);
  if (!block.of_jpeg) return;
  if (const auto tags = tags_of_exif(block.bytes)) take_tags(tags.get());
}

/// Called at the first frame.
void FileScan::look_at_file(GstPad* pad) {
  gint64 duration = 0;
  if (gst_pad_query_duration(pad, GST_FORMAT_TIME, &duration) && duration > 0) {
    video_.duration = static_cast<std::uint64_t>(duration);
    duration_ = *video_.duration;
  }
  const std::unique_ptr<GstQuery, decltype(&gst_query_unref)> query(gst_query_new_seeking(GST_FORMAT_TIME),
                                                                    gst_query_unref);
  gboolean seekable = FALSE;
  if (gst_pad_query(pad, query.get())) gst_query_parse_seeking(query.get(), nullptr, &seekable, nullptr, nullptr);
  can_cut_ = seekable && has_index_ && duration_ > 0;
  rate_ = video_.rate_d > 0 ? static_cast<double>(video_.rate_n) / video_.rate_d : 0;
  later_.add([this] { calls_.opened(); });
}

void FileScan::measure(GstPad* pad, GstBuffer* buffer) {
  std::unique_lock lock(mutex_);
  ++progress_;
  if (!listening_ || ending_) return;
  // libavcodec 7 outputs this for an open GOP until the next keyframe.
  if (!intact_ && GST_BUFFER_FLAG_IS_SET(buffer, GST_BUFFER_FLAG_CORRUPTED)) return;
  intact_ = true;
  const std::uint64_t frame = frames_++;
  if (frame == 0) read_end_ = 0;  // earlier reads looked for an index, perhaps at the end
  if (!has_opened_.exchange(true)) look_at_file(pad);
  GstCustomMeta* meta = gst_buffer_get_custom_meta(buffer, kMeterMeta);
  if (!meta) return;  // between two measured frames of an interval
  const GstStructure* fields = gst_custom_meta_get_structure(meta);
  guint64 time = GST_CLOCK_TIME_NONE;
  gst_structure_get_uint64(fields, "stream-time", &time);
  Row row{frame, std::nullopt, 0, {}};
  if (GST_BUFFER_DURATION_IS_VALID(buffer)) row.duration = GST_BUFFER_DURATION(buffer);
  gst_structure_get_double(fields, "score", &row.score);
  if (const gchar* device = gst_structure_get_string(fields, "device")) video_.devices.insert(device);
  if (time != GST_CLOCK_TIME_NONE) {
    row.time = time;
    time_ = time;
    video_end_ = std::max(video_end_, time + row.duration);
  }
  gboolean damaged = FALSE;
  row.damaged = is_cut_ || (gst_structure_get_boolean(fields, "damaged", &damaged) && damaged);
  if (const GValue* moved = gst_structure_get_value(fields, "displacement")) {
    guint shot = 0;
    gst_structure_get_uint(fields, "shot", &shot);
    const auto along = [&](guint i) { return g_value_get_double(gst_value_array_get_value(moved, i)); };
    row.travel = Travel{along(0), along(1), shot};
  }
  if (const GValue* zones = gst_structure_get_value(fields, "zones")) {
    zones_.resize(gst_value_array_get_size(zones));
    for (guint i = 0; i < zones_.size(); ++i) zones_[i] = g_value_get_double(gst_value_array_get_value(zones, i));
    row.zones = zones_;
  }
  ++measured_;
  waits_for_us_ = true;
  if (!calls_.frame({row, buffer, caps_.get(), video_})) {
    held_ = true;
    changed_.wait(lock, [this] { return !held_ || ending_; });
  }
  waits_for_us_ = false;
}

double FileScan::done() const {
  const std::uint64_t duration = duration_;
  return duration ? std::min(1.0, static_cast<double>(time_) / static_cast<double>(duration)) : 0;
}

// --- Main thread ----------------------------------------------------------------------------------------------------

void FileScan::seek(std::uint64_t time) {
  {
    const std::lock_guard lock(mutex_);
    waits_for_us_ = false;
    listening_ = held_ = false;
    changed_.notify_all();
  }
  if (from_) {  // before the start
    from_ = time;
    return;
  }
  constexpr auto kFlags =
      static_cast<GstSeekFlags>(GST_SEEK_FLAG_FLUSH | GST_SEEK_FLAG_KEY_UNIT | GST_SEEK_FLAG_SNAP_BEFORE);
  if (gst_element_seek(pipeline_.get(), 1, GST_FORMAT_TIME, kFlags, GST_SEEK_TYPE_SET, static_cast<gint64>(time),
                       GST_SEEK_TYPE_NONE, -1))
    return;
  early_error_ = "GStreamer cannot seek in it";
  later_.add([this] { fail(early_error_); });
}

/// Whether a warning of the meter says nothing new: of a GPU that nobody chose, which may have gone since GStreamer's
/// registry was made, or a second time of a device that was named.
static bool is_known(const Complaint& warning, const MeterOptions& options) {
  if (!warning.is(GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NOT_FOUND)) return false;
  static bool is_said = false;
  const bool is_named = options.cuda_device_id >= 0 || !options.opencl_device.empty();
  return !is_named || std::exchange(is_said, true);
}

gboolean FileScan::on_message(GstBus*, GstMessage* message, gpointer self) {
  auto* scan = static_cast<FileScan*>(self);
  switch (GST_MESSAGE_TYPE(message)) {
    case GST_MESSAGE_ELEMENT:
      scan->decoding_.hear(message);
      return G_SOURCE_CONTINUE;
    case GST_MESSAGE_TAG: {
      GstTagList* tags = nullptr;
      gst_message_parse_tag(message, &tags);
      gchar* codec = nullptr;
      if (scan->codec_.empty() && gst_tag_list_get_string(tags, GST_TAG_VIDEO_CODEC, &codec)) scan->codec_ = codec;
      g_free(codec);
      gst_tag_list_unref(tags);
      return G_SOURCE_CONTINUE;
    }
    case GST_MESSAGE_WARNING: {
      // The meter warns about options; decoders warn about every damaged frame.
      if (GST_MESSAGE_SRC(message) == GST_OBJECT(scan->meter_) && !is_known(complaint_of(message), scan->options_))
        scan->calls_.warned(scan->shown(scan->decoding_.reason(message)));
      return G_SOURCE_CONTINUE;
    }
    case GST_MESSAGE_ASYNC_DONE:
      if (const auto from = std::exchange(scan->from_, std::nullopt)) {
        scan->seek(*from);
        gst_element_set_state(scan->pipeline_.get(), GST_STATE_PLAYING);
      }
      return G_SOURCE_CONTINUE;
    case GST_MESSAGE_ERROR:
      scan->watch_ = 0;
      scan->fail(scan->decoding_.reason(message));
      return G_SOURCE_REMOVE;
    default:
      return G_SOURCE_CONTINUE;
  }
}

/// Detects demuxers of damaged files that stop without an error or an end, and would be waited for forever.
gboolean FileScan::on_second(gpointer self) {
  auto* scan = static_cast<FileScan*>(self);
  const std::uint64_t progress = scan->progress_;
  // Counts calls rather than time, so that a machine's sleep does not count.
  if (std::exchange(scan->progress_seen_, progress) != progress || scan->waits_for_us_) scan->idle_seconds_ = 0;
  if (scan->waits_for_us_) return G_SOURCE_CONTINUE;
  // Wait once more: its error may be on its way.
  if (scan->idle_seconds_++ > 0 && scan->decoding_.has_given_up()) {
    scan->clock_ = 0;
    scan->fail(scan->decoding_.emptiness());
    return G_SOURCE_REMOVE;
  }
  if (scan->stall_timeout_ == 0 || scan->idle_seconds_ <= scan->stall_timeout_) return G_SOURCE_CONTINUE;
  scan->clock_ = 0;
  scan->stalled_ = true;
  scan->fail("no data for " + std::to_string(scan->stall_timeout_) +
             " s: it is damaged, or its decoder needs a longer --stall-timeout");
  return G_SOURCE_REMOVE;
}

/// How much a file that ended too early lacks; empty if it is complete.
std::string FileScan::shortfall() const {
  if (!video_.duration || video_end_ == 0) return "";
  const std::uint64_t whole = *video_.duration, end = std::max<std::uint64_t>(video_end_, data_end_);
  if (end + std::max(kLeastShortfall, whole / kShortfallPart) >= whole) return "";
  // Demuxers end with the video: data left in the file are sound that lasts longer.
  struct stat about = {};
  if (streams_ > 1 && read_end_ > 0 && stat(name_.c_str(), &about) == 0 &&
      read_end_ < static_cast<std::uint64_t>(about.st_size))
    return "";
  return "it ends at " + clock_time(end) + " of " + clock_time(whole) + ": the file is cut off or damaged";
}

VideoFacts FileScan::video() const {
  // Tags may still arrive, at any time.
  const std::lock_guard lock(mutex_);
  VideoFacts facts = video_;
  facts.codec = codec_;
  facts.picture = image_ && frames_ == 1;
  return facts;
}

/// Nothing is called from now on.
void FileScan::silence() {
  if (starter_.joinable() && !stalled_) starter_.join();
  for (guint* source : {&watch_, &clock_})
    if (*source != 0) g_source_remove(std::exchange(*source, 0));
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
    changed_.notify_all();
  }
  later_.drop();  // nothing is added any more
}

void FileScan::stop() {
  if (!pipeline_) return;
  // A pipeline that fails to start also moves locked elements, but does not move them back.
  if (meter_) gst_element_set_locked_state(meter_, FALSE);
  gst_element_set_state(pipeline_.get(), GST_STATE_NULL);
  pipeline_.reset();
}

/// Hides the URI's password: GStreamer's texts may repeat the URI.
std::string FileScan::shown(const std::string& text) const {
  return split_url(name_) ? without_url_passwords(text) : text;
}

void FileScan::fail(const std::string& why) {
  // The call may destroy this, and itself with it.
  const auto failed = calls_.failed;
  const bool unknown = name_ == kStandardInput && frames_ == 0 && why.find("ffmpeg") == std::string::npos;
  failed(shown(why) +
         (unknown ? "; pipe in a video that can be decoded from its beginning on: ffmpeg -i INPUT -f yuv4mpegpipe -"
                  : ""));
}

}  // namespace framequality::apps::scan
