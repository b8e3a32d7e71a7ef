// SPDX-License-Identifier: LGPL-2.1-or-later
// TCP connections of an RTSP source, which GStreamer does not expose.
#include "apps/watch/connections.h"

#include <cstddef>
#include <netinet/in.h>
#include <sys/socket.h>
#if __has_include(<linux/tcp.h>)
#include <linux/tcp.h>
#endif

namespace framequality::apps::watch {

namespace {

thread_local std::weak_ptr<Connections> of_this_thread;

GQuark quark() {
  static const GQuark name = g_quark_from_static_string("framequality-connections");
  return name;
}

/// Bytes received so far; 0 if the system does not count them.
std::uint64_t bytes_received(GSocket* socket) {
#if __has_include(<linux/tcp.h>)
  tcp_info info = {};
  socklen_t size = sizeof(info);
  constexpr std::size_t kEnd = offsetof(tcp_info, tcpi_bytes_received) + sizeof(info.tcpi_bytes_received);
  if (!g_socket_is_closed(socket) && getsockopt(g_socket_get_fd(socket), IPPROTO_TCP, TCP_INFO, &info, &size) == 0 &&
      size >= kEnd)
    return info.tcpi_bytes_received;
#else
  (void)socket;
#endif
  return 0;
}

/// Discards data that has arrived but was not read, which would keep the reader busy for seconds.
void abort_connection(GSocket* socket) {
  if (g_socket_is_closed(socket)) return;
  const sockaddr none = {.sa_family = AF_UNSPEC, .sa_data = {}};
  (void)connect(g_socket_get_fd(socket), &none, sizeof(none));
  // For systems that cannot abort a connection.
  (void)g_socket_shutdown(socket, TRUE, TRUE, nullptr);
}

}  // namespace

Connections::~Connections() {
  for (GSocket* socket : sockets_) g_object_unref(socket);
}

void Connections::follow(GstElement* source, const std::shared_ptr<Connections>& connections) {
  // All connections of the process are seen here, in the threads that make them.
  static const gulong hook =
      g_signal_add_emission_hook(g_signal_lookup("event", G_TYPE_FROM_CLASS(g_type_class_ref(G_TYPE_SOCKET_CLIENT))), 0,
                                 on_event, nullptr, nullptr);
  (void)hook;
  g_object_set_qdata_full(G_OBJECT(source), quark(), new std::weak_ptr<Connections>(connections),
                          [](gpointer data) { delete static_cast<std::weak_ptr<Connections>*>(data); });
  const auto on_sdp = +[](GstElement* from, gpointer, gpointer) {
    const auto* own = static_cast<std::weak_ptr<Connections>*>(g_object_get_qdata(G_OBJECT(from), quark()));
    if (const auto known = own->lock()) known->described_ = true;
  };
  g_signal_connect(source, "on-sdp", G_CALLBACK(on_sdp), nullptr);
}

void Connections::note(GstMessage* message) {
  const auto* own =
      static_cast<std::weak_ptr<Connections>*>(g_object_get_qdata(G_OBJECT(GST_MESSAGE_SRC(message)), quark()));
  if (own) of_this_thread = *own;
}

gboolean Connections::on_event(GSignalInvocationHint*, guint, const GValue* values, gpointer) {
  // GSocketClient, GSocketClientEvent, GSocketConnectable, GIOStream.
  gpointer stream = g_value_get_object(&values[3]);
  const auto known = of_this_thread.lock();
  if (known && g_value_get_enum(&values[1]) == G_SOCKET_CLIENT_CONNECTED && G_IS_SOCKET_CONNECTION(stream))
    known->add(g_socket_connection_get_socket(G_SOCKET_CONNECTION(stream)));
  return TRUE;
}

void Connections::add(GSocket* socket) {
  const std::lock_guard lock(mutex_);
  if (ended_) abort_connection(socket);
  sockets_.push_back(static_cast<GSocket*>(g_object_ref(socket)));
}

std::uint64_t Connections::undescribed_bytes() const {
  if (described_) return 0;
  const std::lock_guard lock(mutex_);
  std::uint64_t bytes = 0;
  for (GSocket* socket : sockets_) bytes += bytes_received(socket);
  return bytes;
}

void Connections::end() {
  const std::lock_guard lock(mutex_);
  ended_ = true;
  for (GSocket* socket : sockets_) abort_connection(socket);
}

}  // namespace framequality::apps::watch
