// SPDX-License-Identifier: LGPL-2.1-or-later
// Autofocus with a lens that the application moves: focuscontroller requests positions, the application drives it.
// Build it alone: g++ -std=c++17 autofocus_app.cpp -o autofocus_app $(pkg-config --cflags --libs gstreamer-1.0)
#include <gst/gst.h>

#include <cstdio>
#include <memory>
#include <string>

namespace {

// Yours would control a stage, a serial port or an SDK. This one turns the ring of the virtual camera.
class Motor {
 public:
  explicit Motor(GstElement* camera) : camera_(camera) {}
  void go_to(double position) {
    g_object_set(camera_, "position", position, nullptr);
    ++moves_;
  }
  int moves() const { return moves_; }

 private:
  GstElement* camera_;
  int moves_ = 0;  // read after the pipeline has stopped
};

// Called in the streaming thread: frames wait until it returns, so the next one is exposed after the move. For a motor
// that moves asynchronously, set wait-for-arrival and emit the action signal `arrived` when it is there.
void on_move(GstElement*, double position, gpointer motor) { static_cast<Motor*>(motor)->go_to(position); }

// Prints a change of state; returns true when the search has ended.
bool has_ended(GstMessage* message) {
  const GstStructure* fields = gst_message_get_structure(message);
  if (!gst_structure_has_name(fields, "focuscontroller")) return false;
  const std::string event = gst_structure_get_string(fields, "event");
  const std::string state = gst_structure_get_string(fields, "state");
  if (event != "state") return false;
  double position = 0;
  double score = 0;
  gst_structure_get(fields, "position", G_TYPE_DOUBLE, &position, "score", G_TYPE_DOUBLE, &score, nullptr);
  std::printf("%s at %g, score %g\n", state.c_str(), position, score);
  return state == "focused" || state == "failed";
}

}  // namespace

int main(int argc, char** argv) {
  gst_init(&argc, &argv);
  // Sharp at 62 by default, which the search has to find.
  const std::string camera = argc > 1 ? argv[1] : "virtuallenssrc best-position=62 noise=3 flicker=0.1 lag=2";
  GError* error = nullptr;
  GstElement* pipeline = gst_parse_launch(
      (camera + " name=camera ! sharpnessmeter normalize=mean prefilter=binomial5 ! "
                "focuscontroller name=focus mode=one-shot min=0 max=100 step=1 settle-frames=2 ! fakesink")
          .c_str(),
      &error);
  if (error != nullptr) {
    std::fprintf(stderr, "%s\n", error->message);
    g_clear_error(&error);
    if (pipeline != nullptr) gst_object_unref(pipeline);
    return 1;
  }
  GstElement* source = gst_bin_get_by_name(GST_BIN(pipeline), "camera");
  GstElement* focus = gst_bin_get_by_name(GST_BIN(pipeline), "focus");
  Motor motor(source);
  g_signal_connect(focus, "move", G_CALLBACK(on_move), &motor);

  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  GstBus* bus = gst_element_get_bus(pipeline);
  int status = 0;
  for (bool running = true; running;) {
    const std::unique_ptr<GstMessage, decltype(&gst_message_unref)> message(
        gst_bus_timed_pop_filtered(
            bus, GST_CLOCK_TIME_NONE,
            static_cast<GstMessageType>(GST_MESSAGE_ELEMENT | GST_MESSAGE_EOS | GST_MESSAGE_ERROR)),
        &gst_message_unref);
    switch (GST_MESSAGE_TYPE(message.get())) {
      case GST_MESSAGE_ELEMENT:
        running = !has_ended(message.get());
        break;
      case GST_MESSAGE_ERROR:
        gst_message_parse_error(message.get(), &error, nullptr);
        std::fprintf(stderr, "%s: %s\n", GST_MESSAGE_SRC_NAME(message.get()), error->message);
        g_clear_error(&error);
        status = 1;
        running = false;
        break;
      default:  // end of stream
        running = false;
    }
  }
  double position = 0;
  g_object_get(focus, "position", &position, nullptr);
  gst_element_set_state(pipeline, GST_STATE_NULL);
  std::printf("lens at %g after %d moves\n", position, motor.moves());
  gst_object_unref(bus);
  gst_object_unref(focus);
  gst_object_unref(source);
  gst_object_unref(pipeline);
  return status;
}
