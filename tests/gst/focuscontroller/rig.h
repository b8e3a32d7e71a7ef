// SPDX-License-Identifier: LGPL-2.1-or-later
// A focuscontroller beside an element with a lens of every kind, fed with frames whose scores the test makes up.
#pragma once

#include "algorithms/focus/lens_drive.h"
#include "gst/object/score_meta.h"
#include "tests/gst/virtuallenssrc/rig.h"

#include <cmath>
#include <mutex>
#include <optional>

namespace framequality::test {

/// An element with no pads and a property `as-<type>` of each type, which are one lens; `controls`, a structure; and
/// others that are of no use. Properties may be set in any thread.
struct FakeLens {
  GstElement parent;
  std::mutex* mutex;
  double position;
  int moves;
  GstStructure* controls;
};
struct FakeLensClass {
  GstElementClass parent_class;
};

namespace fake_lens {

enum { kInt = 1, kUint, kInt64, kUint64, kFloat, kDouble, kControls, kReadOnly, kReadyOnly, kText };

inline void set(GObject* object, guint id, const GValue* value, GParamSpec*) {
  auto* lens = reinterpret_cast<FakeLens*>(object);
  const std::lock_guard lock(*lens->mutex);
  ++lens->moves;
  if (id == kControls) {
    g_clear_pointer(&lens->controls, gst_structure_free);
    if (const GstStructure* s = gst_value_get_structure(value)) lens->controls = gst_structure_copy(s);
    return;
  }
  GValue number = G_VALUE_INIT;
  g_value_init(&number, G_TYPE_DOUBLE);
  g_value_transform(value, &number);
  lens->position = g_value_get_double(&number);
}

inline void get(GObject* object, guint id, GValue* value, GParamSpec*) {
  auto* lens = reinterpret_cast<FakeLens*>(object);
  const std::lock_guard lock(*lens->mutex);
  if (id == kControls) return gst_value_set_structure(value, lens->controls);
  GValue number = G_VALUE_INIT;
  g_value_init(&number, G_TYPE_DOUBLE);
  g_value_set_double(&number, lens->position);
  g_value_transform(&number, value);
}

inline void finalize(GObject* object) {
  auto* lens = reinterpret_cast<FakeLens*>(object);
  delete lens->mutex;
  g_clear_pointer(&lens->controls, gst_structure_free);
  G_OBJECT_CLASS(g_type_class_peek_parent(G_OBJECT_GET_CLASS(object)))->finalize(object);
}

inline void init_class(gpointer klass, gpointer) {
  auto* object = G_OBJECT_CLASS(klass);
  object->set_property = set;
  object->get_property = get;
  object->finalize = finalize;
  constexpr auto kBoth = G_PARAM_READWRITE;
  const auto install = [&](guint id, GParamSpec* spec) { g_object_class_install_property(object, id, spec); };
  install(kInt, g_param_spec_int("as-int", "", "", -20, 100, 0, kBoth));
  install(kUint, g_param_spec_uint("as-uint", "", "", 0, G_MAXUINT, 0, kBoth));
  install(kInt64, g_param_spec_int64("as-int64", "", "", G_MININT64, G_MAXINT64, 0, kBoth));
  install(kUint64, g_param_spec_uint64("as-uint64", "", "", 5, G_MAXUINT64, 5, kBoth));
  install(kFloat, g_param_spec_float("as-float", "", "", -G_MAXFLOAT, 10, 0, kBoth));
  install(kDouble, g_param_spec_double("as-double", "", "", -G_MAXDOUBLE, G_MAXDOUBLE, 0, kBoth));
  install(kControls, g_param_spec_boxed("controls", "", "", GST_TYPE_STRUCTURE, kBoth));
  install(kReadOnly, g_param_spec_int("read-only", "", "", 0, 1, 0, G_PARAM_READABLE));
  install(kReadyOnly,
          g_param_spec_int("ready-only", "", "", 0, 1, 0, static_cast<GParamFlags>(kBoth | GST_PARAM_MUTABLE_READY)));
  install(kText, g_param_spec_string("text", "", "", nullptr, kBoth));
  gst_element_class_set_static_metadata(GST_ELEMENT_CLASS(klass), "lens", "Generic", "lens", "tests");
}

inline GType type() {
  static const GType type = g_type_register_static_simple(
      GST_TYPE_ELEMENT, "FqFakeLens", sizeof(FakeLensClass), init_class, sizeof(FakeLens),
      [](GTypeInstance* instance, gpointer) { reinterpret_cast<FakeLens*>(instance)->mutex = new std::mutex; },
      static_cast<GTypeFlags>(0));
  return type;
}

}  // namespace fake_lens

/// A frame of one byte with this score, if any, and other fields of the meta, as gst_structure_from_string has them.
inline BufferPtr scored_frame(std::optional<double> score, GstClockTime pts, const std::string& others = "") {
  BufferPtr buffer(gst_buffer_new_allocate(nullptr, 1, nullptr));
  GST_BUFFER_PTS(buffer.get()) = pts;
  if (score) {
    GstStructure* fields = start_score_meta(buffer.get(), kSharpnessMeta);
    const StructurePtr said(gst_structure_from_string(("x" + others).c_str(), nullptr));
    for (int i = 0; i < gst_structure_n_fields(said.get()); ++i) {
      const char* field = gst_structure_nth_field_name(said.get(), static_cast<guint>(i));
      gst_structure_set_value(fields, field, gst_structure_get_value(said.get(), field));
    }
    gst_structure_set(fields, "score", G_TYPE_DOUBLE, *score, nullptr);
  }
  return buffer;
}

/// What the message of a search that has ended says besides the state.
struct FocusResult {
  std::vector<double> positions, scores;
  double top, width, error, certainty;
  std::optional<int> lag;
  std::optional<double> backlash;

  static std::optional<FocusResult> of(const GstStructure* s) {
    if (!gst_structure_has_field(s, "positions")) return {};
    FocusResult result{doubles(s, "positions"), doubles(s, "scores"),   number(s, "top"),     number(s, "width"),
                       number(s, "error"),      number(s, "certainty"), std::optional<int>(), {}};
    int lag;
    double backlash;
    if (gst_structure_get_int(s, "lag-frames", &lag)) result.lag = lag;
    if (gst_structure_get_double(s, "backlash", &backlash)) result.backlash = backlash;
    return result;
  }

 private:
  static std::vector<double> doubles(const GstStructure* s, const char* field) {
    const GValue* array = gst_structure_get_value(s, field);
    std::vector<double> all;
    for (guint i = 0; array && i < gst_value_array_get_size(array); ++i)
      all.push_back(g_value_get_double(gst_value_array_get_value(array, i)));
    return all;
  }
};

/// Of a lens that is at once where it is sent.
inline constexpr char kLens[] = "actuator=lens.as-double min=0 max=100 step=1 settle-frames=0 ";

class FocusRig {
 public:
  static constexpr GstClockTime kFrame = 40 * GST_MSECOND;

  /// properties: of the controller.
  explicit FocusRig(const std::string& properties) : bus_(gst_bus_new()) {
    gst_element_register(nullptr, "fakelens", GST_RANK_NONE, fake_lens::type());
    GError* error = nullptr;
    bin_ = gst_parse_bin_from_description(("fakelens name=lens focuscontroller name=focus " + properties).c_str(), TRUE,
                                          &error);
    if (error) throw std::runtime_error(error->message);
    controller_.reset(gst_bin_get_by_name(GST_BIN(bin_), "focus"));
    lens_.reset(gst_bin_get_by_name(GST_BIN(bin_), "lens"));
    gst_element_set_bus(bin_, bus_.get());
    gst_object_ref_sink(bin_);
    harness_.reset(gst_harness_new_with_element(bin_, "sink", "src"));
    gst_object_unref(bin_);
    gst_harness_set_src_caps_str(harness_.get(), "video/x-raw,format=GRAY8,width=1,height=1,framerate=25/1");
  }
  FocusRig(const FocusRig&) = delete;
  FocusRig& operator=(const FocusRig&) = delete;
  ~FocusRig() { gst_element_set_bus(bin_, nullptr); }

  GstElement* controller() { return controller_.get(); }
  GstHarness* harness() { return harness_.get(); }
  FakeLens* lens() { return reinterpret_cast<FakeLens*>(lens_.get()); }
  double position() {
    const std::lock_guard lock(*lens()->mutex);
    return lens()->position;
  }
  void set(const char* name, const char* value) { gst_util_set_object_arg(G_OBJECT(controller_.get()), name, value); }
  void emit(const char* signal) { g_signal_emit_by_name(controller_.get(), signal); }
  std::string state() {
    gchar* text = nullptr;
    GValue value = G_VALUE_INIT;
    g_object_get_property(G_OBJECT(controller_.get()), "state", &value);
    text = gst_value_serialize(&value);
    const std::string s = text;
    g_free(text);
    g_value_unset(&value);
    return s;
  }
  double number(const char* property) {
    double v = 0;
    g_object_get(controller_.get(), property, &v, nullptr);
    return v;
  }
  /// Pushes one frame, which must come out again as it was. others: as of scored_frame().
  void frame(std::optional<double> score, std::optional<GstClockTime> pts = {}, const std::string& others = "") {
    BufferPtr buffer = scored_frame(score, pts ? *pts : frames_ * kFrame, others);
    ++frames_;
    GstBuffer* in = buffer.get();
    ASSERT_EQ(gst_harness_push(harness_.get(), buffer.release()), GST_FLOW_OK);
    const BufferPtr out(gst_harness_try_pull(harness_.get()));
    EXPECT_EQ(out.get(), in);
  }
  /// Score of a scene that is sharp at `best`.
  static double peak(double position, double best) {
    return 10 + 1000 * std::exp(-(position - best) * (position - best) / 300);
  }
  /// Frames of a scene that is sharp at `best`, until the state is `end`; false after `most` of them.
  bool watch(double best, const std::string& end, int most = 400) {
    LensDrive obedient;
    return watch(obedient, best, end, most);
  }
  /// The same, where the lens is moved by this.
  bool watch(LensDrive& drive, double best, const std::string& end, int most = 400) {
    for (int i = 0; i < most; ++i) {
      shown_ = drive.frame(position()).back();
      frame(peak(shown_, best));
      if (state() == end) return true;
    }
    return false;
  }
  /// Where the lens was in the last frame of watch().
  double shown() const { return shown_; }
  GstClockTime frames() const { return frames_; }
  FocusHeard heard() {
    FocusHeard all;
    while (const MessagePtr message{gst_bus_pop(bus_.get())}) {
      all.listen(message.get());
      const GstStructure* s = gst_message_get_structure(message.get());
      if (s && FocusResult::of(s)) ends_.emplace_back(gst_structure_copy(s));
    }
    return all;
  }
  /// The messages of searches that had ended when heard() was called.
  const std::vector<StructurePtr>& ends() const { return ends_; }

 private:
  BusPtr bus_;
  std::vector<StructurePtr> ends_;
  GstElement* bin_;
  ElementPtr controller_, lens_;
  std::unique_ptr<GstHarness, Free<gst_harness_teardown>> harness_;
  GstClockTime frames_ = 0;
  double shown_ = 0;
};

}  // namespace framequality::test
