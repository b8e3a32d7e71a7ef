// SPDX-License-Identifier: LGPL-2.1-or-later
// A small HTTP server.
#include "apps/watch/server.h"

#include "apps/common/text.h"

#include <algorithm>
#include <arpa/inet.h>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <exception>
#include <iterator>
#include <microhttpd.h>
#include <netdb.h>
#include <poll.h>
#include <stdexcept>
#include <string_view>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <utility>

namespace framequality::apps::watch {

namespace {

constexpr unsigned kMostConnections = 64, kTimeout = 15;  // s
constexpr MHD_UNSIGNED_LONG_LONG kLongestWait = 60'000;   // ms
constexpr int kBacklog = 32;
// The page's script and style are in it; nothing comes from elsewhere.
constexpr char kPolicy[] =
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src 'self' data: blob:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'";

std::runtime_error failure(const std::string& listen, const std::string& reason) {
  return std::runtime_error("cannot listen on " + printable(listen) + ": " + reason);
}

/// A listening socket, and where it listens.
std::pair<int, std::string> open_socket(const std::string& listen_on) {
  const auto colon = listen_on.rfind(':');
  if (colon == std::string::npos || colon == 0 || colon + 1 == listen_on.size())
    throw failure(listen_on, "it takes ADDRESS:PORT, such as 127.0.0.1:9640 or [::1]:9640");
  std::string host = listen_on.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  addrinfo hints = {}, *found = nullptr;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  if (const int code = getaddrinfo(host.c_str(), listen_on.c_str() + colon + 1, &hints, &found); code != 0)
    throw failure(listen_on, gai_strerror(code));
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(found, freeaddrinfo);
  const int descriptor = socket(found->ai_family, found->ai_socktype | SOCK_CLOEXEC, found->ai_protocol);
  const int on = 1;
  if (descriptor >= 0) (void)setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  if (descriptor < 0 || bind(descriptor, found->ai_addr, found->ai_addrlen) != 0 || listen(descriptor, kBacklog) != 0) {
    const int reason = errno;
    if (descriptor >= 0) close(descriptor);
    throw failure(listen_on, std::strerror(reason));
  }
  sockaddr_storage bound = {};
  socklen_t size = sizeof(bound);
  auto* address = reinterpret_cast<sockaddr*>(&bound);
  (void)getsockname(descriptor, address, &size);
  const auto port = ntohs(bound.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6*>(&bound)->sin6_port
                                                      : reinterpret_cast<sockaddr_in*>(&bound)->sin_port);
  return {descriptor, "http://" + listen_on.substr(0, colon) + ':' + std::to_string(port) + '/'};
}

MHD_Result queue(MHD_Connection* connection, const Reply& reply) {
  // MHD_create_response_from_buffer() wants memory that it could change; it copies this.
  MHD_Response* response =
      MHD_create_response_from_buffer(reply.body.size(), const_cast<char*>(reply.body.data()), MHD_RESPMEM_MUST_COPY);
  if (!response) return MHD_NO;
  MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, reply.type.c_str());
  MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
  MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
  MHD_add_response_header(response, "Content-Security-Policy", kPolicy);
  if (reply.code == MHD_HTTP_METHOD_NOT_ALLOWED) MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
  const MHD_Result result = MHD_queue_response(connection, reply.code, response);
  MHD_destroy_response(response);
  return result;
}

}  // namespace

/// Runs in a thread of its own, which also ends it: while another thread stops libmicrohttpd (0.9.75), a request that
/// it refuses itself (too long, no HTTP) can end the program.
struct Server::Daemon {
  OnGet on_get;
  MHD_Daemon* daemon = nullptr;
  int end = eventfd(0, EFD_CLOEXEC);  ///< readable when it is to end
  std::thread thread;

  void run() {
    const MHD_DaemonInfo* info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_EPOLL_FD);
    pollfd wait[] = {{info->epoll_fd, POLLIN, 0}, {end, POLLIN, 0}};
    while (wait[1].revents == 0) {
      MHD_UNSIGNED_LONG_LONG milliseconds = 0;
      const bool has_limit = MHD_get_timeout(daemon, &milliseconds) == MHD_YES;
      (void)poll(wait, std::size(wait), has_limit ? static_cast<int>(std::min(milliseconds, kLongestWait)) : -1);
      MHD_run(daemon);
    }
    MHD_stop_daemon(daemon);
  }
  Daemon() = default;
  Daemon(const Daemon&) = delete;
  Daemon& operator=(const Daemon&) = delete;
  ~Daemon() {
    if (thread.joinable()) {
      (void)eventfd_write(end, 1);
      thread.join();
    }
    if (end >= 0) close(end);
  }
};

static MHD_Result on_request(void* self, MHD_Connection* connection, const char* url, const char* method, const char*,
                             const char*, size_t* upload_size, void** seen) {
  // Nothing is accepted.
  if (*upload_size > 0) {
    *upload_size = 0;
    return MHD_YES;
  }
  // First there is the head alone; a reply to that would end the connection.
  static char head;
  if (!*seen) {
    *seen = &head;
    return MHD_YES;
  }
  const std::string_view name = method;
  if (name != MHD_HTTP_METHOD_GET && name != MHD_HTTP_METHOD_HEAD)
    return queue(connection, {MHD_HTTP_METHOD_NOT_ALLOWED, Reply().type, "only GET and HEAD\n"});
  try {
    return queue(connection, static_cast<Server::Daemon*>(self)->on_get(url));
  } catch (const std::exception&) {
    return MHD_NO;
  }
}

Server::Server(const std::string& listen, OnGet on_get) : daemon_(std::make_unique<Daemon>()) {
  const auto [descriptor, url] = open_socket(listen);
  url_ = url;
  daemon_->on_get = std::move(on_get);
  if (daemon_->end >= 0)
    daemon_->daemon = MHD_start_daemon(MHD_USE_EPOLL, 0, nullptr, nullptr, on_request, daemon_.get(),
                                       MHD_OPTION_LISTEN_SOCKET, descriptor, MHD_OPTION_CONNECTION_LIMIT,
                                       kMostConnections, MHD_OPTION_CONNECTION_TIMEOUT, kTimeout, MHD_OPTION_END);
  if (!daemon_->daemon) {
    close(descriptor);
    throw failure(listen, "the server cannot be started");
  }
  daemon_->thread = std::thread([this] { daemon_->run(); });
}

Server::~Server() = default;

}  // namespace framequality::apps::watch
