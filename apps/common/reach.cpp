// SPDX-License-Identifier: LGPL-2.1-or-later
// Check whether the server of a failed source accepts connections.
#include "apps/common/reach.h"

#include "apps/common/message.h"
#include "apps/common/owned.h"
#include "apps/common/url.h"

#include <gio/gio.h>

#include <memory>
#include <optional>
#include <string_view>

namespace framequality::apps {

namespace {

constexpr guint kPatience = 5;  // s, for each of a server's addresses

struct Scheme {
  std::string_view name;
  std::uint16_t port;
};
// Schemes that begin with a TCP connection, and their default ports.
constexpr Scheme kSchemes[] = {{"rtsp", 554},   {"rtspt", 554},  {"rtspu", 554},  {"rtsph", 554}, {"rtsps", 322},
                               {"rtspst", 322}, {"rtspsu", 322}, {"rtspsh", 322}, {"http", 80},   {"https", 443},
                               {"rtmp", 1935},  {"rtmpt", 80},   {"rtmpe", 1935}, {"rtmpte", 80}, {"rtmps", 443},
                               {"rtmpts", 443}, {"mms", 1755},   {"mmsh", 80},    {"ftp", 21},    {"sftp", 22},
                               {"ssh", 22},     {"smb", 445}};

struct Server {
  std::string host;
  std::uint16_t port;
  bool has_name;  ///< it can be shown
};

std::optional<Server> server_of(const std::string& url) {
  const std::unique_ptr<GstUri, decltype(&gst_uri_unref)> uri(gst_uri_from_string(url.c_str()), gst_uri_unref);
  const gchar* scheme = uri ? gst_uri_get_scheme(uri.get()) : nullptr;
  const gchar* host = uri ? gst_uri_get_host(uri.get()) : nullptr;
  if (!scheme || !host || !*host) return std::nullopt;
  for (const Scheme& known : kSchemes) {
    if (g_ascii_strcasecmp(scheme, std::string(known.name).c_str()) != 0) continue;
    const guint port = gst_uri_get_port(uri.get());
    // In http://user:12/34@host, sources see a host called user: their port is half a password.
    const auto parts = split_url(url);
    const bool is_torn = parts && parts->has_late_at();
    return Server{host, port == GST_URI_NO_PORT ? known.port : static_cast<std::uint16_t>(port), !is_torn};
  }
  return std::nullopt;
}

/// Whether a proxy is set, so that sources do not connect directly.
bool has_proxy() {
  for (const char* name : {"http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"})
    if (const gchar* value = g_getenv(name); value && *value) return true;
  return false;
}

GCancellable* ending() {
  static GCancellable* const cancellable = g_cancellable_new();
  return cancellable;
}

std::string words_of(const GError* error) {
  if (g_error_matches(error, G_RESOLVER_ERROR, G_RESOLVER_ERROR_NOT_FOUND)) return "no such host";
  if (g_error_matches(error, G_RESOLVER_ERROR, G_RESOLVER_ERROR_TEMPORARY_FAILURE))
    return "no such host, or the name server does not answer";
  if (g_error_matches(error, G_IO_ERROR, G_IO_ERROR_CONNECTION_REFUSED)) return "connection refused";
  if (g_error_matches(error, G_IO_ERROR, G_IO_ERROR_TIMED_OUT)) return "timed out";
  if (g_error_matches(error, G_IO_ERROR, G_IO_ERROR_HOST_UNREACHABLE)) return "host unreachable";
  if (g_error_matches(error, G_IO_ERROR, G_IO_ERROR_NETWORK_UNREACHABLE)) return "network unreachable";
  return error->message;
}

/// Why there is no connection; empty if there is one, none if nobody waits for the answer any more.
std::optional<std::string> ask(const Server& server) {
  const Owned<GSocketClient> client(g_socket_client_new());
  g_socket_client_set_timeout(client.get(), kPatience);
  g_socket_client_set_enable_proxy(client.get(), FALSE);
  GError* error = nullptr;
  const Owned<GSocketConnection> connection(
      g_socket_client_connect_to_host(client.get(), server.host.c_str(), server.port, ending(), &error));
  if (connection) return "";
  std::optional<std::string> why;
  if (!g_cancellable_is_cancelled(ending())) why = words_of(error);
  g_error_free(error);
  return why;
}

std::string name_of(const Server& server) {
  const bool is_ipv6 = server.host.find(':') != std::string::npos;
  return (is_ipv6 ? '[' + server.host + ']' : server.host) + ':' + std::to_string(server.port);
}

bool may_be_unreachable(GstMessage* message) {
  GstObject* source = GST_MESSAGE_SRC(message);
  if (!GST_IS_ELEMENT(source) || !GST_OBJECT_FLAG_IS_SET(source, GST_ELEMENT_FLAG_SOURCE) ||
      !GST_IS_URI_HANDLER(source))
    return false;
  const Complaint complaint = complaint_of(message);
  return complaint.is(GST_STREAM_ERROR, GST_STREAM_ERROR_FAILED) ||
         (complaint.domain == GST_RESOURCE_ERROR && complaint.code != GST_RESOURCE_ERROR_NOT_AUTHORIZED);
}

GQuark domain() { return g_quark_from_static_string("framequality-unreachable"); }

}  // namespace

std::string why_unreachable(GstMessage* error) {
  if (!may_be_unreachable(error)) return "";
  gchar* url = gst_uri_handler_get_uri(GST_URI_HANDLER(GST_MESSAGE_SRC(error)));
  const auto server = server_of(url ? url : "");
  const bool by_http = url && g_ascii_strncasecmp(url, "http", 4) == 0;
  g_free(url);
  if (!server || (by_http && has_proxy())) return "";
  const auto why = ask(*server);
  const std::string name = server->has_name ? ' ' + name_of(*server) : "";
  if (!why) return "";
  if (!why->empty()) return "cannot connect" + (name.empty() ? "" : " to" + name) + ": " + *why + "; is the camera on?";
  // The source's own text is more specific, unless it only says that it stopped.
  const Complaint complaint = complaint_of(error);
  const bool is_mute =
      complaint.is(GST_STREAM_ERROR, GST_STREAM_ERROR_FAILED) && complaint.details.ends_with("error (-5)");
  return is_mute ? "the server" + name + " accepts connections, but nothing could be read from it" : "";
}

bool explain_unreachable(GstBus* bus, GstMessage* message) {
  if (GST_MESSAGE_TYPE(message) != GST_MESSAGE_ERROR || complaint_of(message).domain == domain()) return false;
  const std::string why = why_unreachable(message);
  if (why.empty()) return false;
  GError* error = g_error_new_literal(domain(), 0, why.c_str());
  gst_bus_post(bus, gst_message_new_error(GST_MESSAGE_SRC(message), error, nullptr));
  g_error_free(error);
  return true;
}

void end_asking() { g_cancellable_cancel(ending()); }

}  // namespace framequality::apps
