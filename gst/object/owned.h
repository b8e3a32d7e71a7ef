// SPDX-License-Identifier: LGPL-2.1-or-later
// Owning pointers for objects that GStreamer hands over, and guards for its locks.
#pragma once

#include <gst/gst.h>

#include <memory>

namespace framequality {

struct Release {
  void operator()(GstBuffer* buffer) const { gst_buffer_unref(buffer); }
  void operator()(GstCaps* caps) const { gst_caps_unref(caps); }
  void operator()(GstEvent* event) const { gst_event_unref(event); }
  void operator()(GstStructure* structure) const { gst_structure_free(structure); }
  void operator()(GstSample* sample) const { gst_sample_unref(sample); }
  void operator()(GstMessage* message) const { gst_message_unref(message); }
  void operator()(GstBus* bus) const { gst_object_unref(bus); }
  void operator()(GError* error) const { g_error_free(error); }
  void operator()(GDir* folder) const { g_dir_close(folder); }
  void operator()(gchar* text) const { g_free(text); }
};
using BufferPtr = std::unique_ptr<GstBuffer, Release>;
using CapsPtr = std::unique_ptr<GstCaps, Release>;
using EventPtr = std::unique_ptr<GstEvent, Release>;
using StructurePtr = std::unique_ptr<GstStructure, Release>;
using SamplePtr = std::unique_ptr<GstSample, Release>;
using MessagePtr = std::unique_ptr<GstMessage, Release>;
using BusPtr = std::unique_ptr<GstBus, Release>;
using ErrorPtr = std::unique_ptr<GError, Release>;
using FolderPtr = std::unique_ptr<GDir, Release>;
using TextPtr = std::unique_ptr<gchar, Release>;

/// Holds a pad's stream lock during its lifetime. Frames and events do not enter a pad that is being deactivated, but
/// serialised queries do, under this lock alone: so state changes also hold it to change data of the
/// streaming thread. Streaming has ended by then, so nobody waits for long.
class StreamLock {
 public:
  explicit StreamLock(GstPad* pad) : pad_(pad) { GST_PAD_STREAM_LOCK(pad_); }
  ~StreamLock() { GST_PAD_STREAM_UNLOCK(pad_); }
  StreamLock(const StreamLock&) = delete;
  StreamLock& operator=(const StreamLock&) = delete;

 private:
  GstPad* pad_;
};

/// Deletes kMember, a member of the instance's struct that points to an object made by new, with each instance; for
/// class_init.
template <auto kMember>
void delete_with_instance(gpointer klass) {
  static GObjectClass* parent;
  parent = G_OBJECT_CLASS(g_type_class_peek_parent(klass));
  G_OBJECT_CLASS(klass)->finalize = [](GObject* object) {
    [object]<class Object, class T>(T* Object::*member) {
      delete (reinterpret_cast<Object*>(object)->*member);
    }(kMember);
    parent->finalize(object);
  };
}

}  // namespace framequality
