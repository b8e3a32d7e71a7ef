// SPDX-License-Identifier: LGPL-2.1-or-later
// The HTTP server.
#include "apps/watch/server.h"

#include "apps/common/text.h"
#include "apps/common/url.h"
#include "apps/watch/clients.h"

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
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <utility>

namespace framequality::apps::watch {

namespace {

constexpr int kBacklog = 128;
// New connections per turn: few, so that earlier requests are read before they count as stale.
constexpr int kAcceptedAtOnce = 16;
// Closed connections stay with libmicrohttpd for a moment.
constexpr unsigned kMostConnections = 2 * Clients::kMost;
constexpr gint64 kRest = G_USEC_PER_SEC / 4;      // if there is no descriptor for a new connection
constexpr gint64 kAskAgain = G_USEC_PER_SEC / 4;  // for answers that were not ready
constexpr gint64 kLongestWait = gint64{60} * G_USEC_PER_SEC;
// The page contains its script and style; nothing is loaded from elsewhere.
constexpr char kPolicy[] =
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src 'self' data: blob:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'";

std::runtime_error failure(const std::string& listen, const std::string& reason) {
  return std::runtime_error("cannot listen on " + printable(listen) + ": " + reason);
}

/// A listening socket, and its address.
std::pair<int, std::string> open_socket(const std::string& listen_on) {
  const auto colon = listen_on.rfind(':');
  if (colon == std::string::npos || colon == 0 || colon + 1 == listen_on.size())
    throw failure(listen_on, "the address must be ADDRESS:PORT, such as 127.0.0.1:9640 or [::1]:9640");
  // getaddrinfo() accepts larger numbers, and opens another port.
  if (!port_number(listen_on.substr(colon + 1))) throw failure(listen_on, "the port must be a number from 0 to 65535");
  std::string host = listen_on.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  addrinfo hints = {}, *found = nullptr;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  if (const int code = getaddrinfo(host.c_str(), listen_on.c_str() + colon + 1, &hints, &found); code != 0)
    throw failure(listen_on, gai_strerror(code));
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(found, freeaddrinfo);
  const int descriptor =
      socket(found->ai_family, found->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, found->ai_protocol);
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
  // MHD_create_response_from_buffer() wants writable memory, but copies it.
  MHD_Response* response =
      MHD_create_response_from_buffer(reply.body.size(), const_cast<char*>(reply.body.data()), MHD_RESPMEM_MUST_COPY);
  if (!response) return MHD_NO;
  MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, reply.type.c_str());
  MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
  MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
  MHD_add_response_header(response, "Content-Security-Policy", kPolicy);
  MHD_add_response_header(response, "Cross-Origin-Resource-Policy", "same-origin");
  if (reply.code == MHD_HTTP_METHOD_NOT_ALLOWED) MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
  const MHD_Result result = MHD_queue_response(connection, reply.code, response);
  MHD_destroy_response(response);
  return result;
}

}  // namespace

class Server::Loop {
 public:
  /// Takes over the listening socket unless it throws std::runtime_error with the reason.
  Loop(int listener, const Bell& fresh, OnGet on_get, gint64 patience);
  ~Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

 private:
  struct Stop {
    void operator()(MHD_Daemon* daemon) const { MHD_stop_daemon(daemon); }
  };

  void run();
  int wait_time() const;
  void accept_some();
  void close_surplus_and_late();
  void ask_again();
  static void close(Client& client);
  MHD_Result take(MHD_Connection* connection, Client& client, const char* url, const char* method);

  static Client* client_of(MHD_Connection* connection) {
    return static_cast<Client*>(
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context);
  }
  static void on_connection(void* self, MHD_Connection* connection, void** client, MHD_ConnectionNotificationCode code);
  static void on_completed(void* self, MHD_Connection* connection, void** seen, MHD_RequestTerminationCode code);
  static MHD_Result on_request(void* self, MHD_Connection* connection, const char* url, const char* method,
                               const char* version, const char* upload, size_t* upload_size, void** seen);

  const int listener_;
  const Bell& fresh_;
  const OnGet on_get_;
  const Bell end_;
  Clients clients_;
  gint64 rests_until_ = 0, asks_again_ = 0;
  std::unique_ptr<MHD_Daemon, Stop> daemon_;
  std::thread thread_;
};

Server::Loop::Loop(int listener, const Bell& fresh, OnGet on_get, gint64 patience)
    : listener_(listener), fresh_(fresh), on_get_(std::move(on_get)), clients_(patience) {
  // Connections are accepted here: libmicrohttpd retries without pause when descriptors run out, and its limit
  // locks out all newcomers.
  daemon_.reset(MHD_start_daemon(MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET | MHD_ALLOW_SUSPEND_RESUME, 0, nullptr,
                                 nullptr, on_request, this, MHD_OPTION_NOTIFY_CONNECTION, on_connection, this,
                                 MHD_OPTION_NOTIFY_COMPLETED, on_completed, this, MHD_OPTION_CONNECTION_LIMIT,
                                 kMostConnections, MHD_OPTION_END));
  if (!daemon_) throw std::runtime_error("cannot start the server");
  thread_ = std::thread([this] { run(); });
}

/// libmicrohttpd is stopped after its thread has ended: while another one runs it (0.9.75), a request that it refuses
/// itself (too long, not HTTP) can crash the program.
Server::Loop::~Loop() {
  if (thread_.joinable()) {
    end_.ring();
    thread_.join();
  }
  for (Client& client : clients_.all()) close(client);
  ::close(listener_);
}

void Server::Loop::run() {
  const int epoll = MHD_get_daemon_info(daemon_.get(), MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd;
  pollfd wait[] = {
      {end_.descriptor(), POLLIN, 0}, {fresh_.descriptor(), POLLIN, 0}, {listener_, POLLIN, 0}, {epoll, POLLIN, 0}};
  while (wait[0].revents == 0) {
    wait[2].fd = g_get_monotonic_time() < rests_until_ ? -1 : listener_;
    if (poll(wait, std::size(wait), wait_time()) < 0) continue;
    if (wait[2].revents != 0) accept_some();
    if (wait[1].revents != 0) fresh_.hush();
    if (wait[1].revents != 0 || g_get_monotonic_time() >= asks_again_) ask_again();
    MHD_run(daemon_.get());
    close_surplus_and_late();
  }
}

/// Timeout for poll(), ms.
int Server::Loop::wait_time() const {
  MHD_UNSIGNED_LONG_LONG limit = 0;
  if (MHD_get_timeout(daemon_.get(), &limit) == MHD_YES && limit == 0) return 0;
  const gint64 now = g_get_monotonic_time();
  gint64 until = std::min(now + kLongestWait, clients_.due());
  if (rests_until_ > now) until = std::min(until, rests_until_);
  if (clients_.anyone_waits()) until = std::min(until, asks_again_);
  constexpr gint64 kMs = 1000;
  return static_cast<int>(std::max<gint64>(0, until - now + kMs - 1) / kMs);
}

void Server::Loop::accept_some() {
  for (int i = 0; i < kAcceptedAtOnce; ++i) {
    sockaddr_storage from = {};
    socklen_t size = sizeof(from);
    auto* address = reinterpret_cast<sockaddr*>(&from);
    const int socket = accept4(listener_, address, &size, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (socket < 0) {
      if (errno == EAGAIN || errno == EINTR || errno == ECONNABORTED) return;
      // No descriptor, or no memory. First read the connections of this turn.
      if (i > 0) return;
      if (Client* stalest = clients_.stalest())
        close(*stalest);
      else
        rests_until_ = g_get_monotonic_time() + kRest;  // poll() would return at once for the waiting client
      return;
    }
    // If it fails, it closes the socket.
    (void)MHD_add_connection(daemon_.get(), socket, address, size);
  }
}

void Server::Loop::close_surplus_and_late() {
  while (Client* client = clients_.surplus()) close(*client);
  const gint64 now = g_get_monotonic_time();
  while (Client* client = clients_.late(now)) close(*client);
}

/// libmicrohttpd notices the shutdown, and does the rest.
void Server::Loop::close(Client& client) {
  client.closing = true;
  (void)shutdown(client.socket, SHUT_RDWR);
  if (MHD_Connection* waiting = std::exchange(client.waiting, nullptr)) MHD_resume_connection(waiting);
}

/// Resumes waiting clients; those without an answer wait again.
void Server::Loop::ask_again() {
  for (Client& client : clients_.all())
    if (MHD_Connection* waiting = std::exchange(client.waiting, nullptr)) MHD_resume_connection(waiting);
  asks_again_ = g_get_monotonic_time() + kAskAgain;
}

void Server::Loop::on_connection(void* self, MHD_Connection* connection, void** client,
                                 MHD_ConnectionNotificationCode code) {
  Clients& clients = static_cast<Loop*>(self)->clients_;
  if (code == MHD_CONNECTION_NOTIFY_CLOSED) {
    if (*client) clients.remove(*static_cast<Client*>(*client));
    return;
  }
  const int socket = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
  const sockaddr* address = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS)->client_addr;
  try {
    *client = &clients.add(socket, address, g_get_monotonic_time());
  } catch (const std::exception&) {
    (void)shutdown(socket, SHUT_RDWR);
  }
}

void Server::Loop::on_completed(void*, MHD_Connection* connection, void**, MHD_RequestTerminationCode) {
  if (Client* client = client_of(connection)) client->since = g_get_monotonic_time();
}

MHD_Result Server::Loop::on_request(void* self, MHD_Connection* connection, const char* url, const char* method,
                                    const char*, const char*, size_t* upload_size, void** seen) {
  Client* client = client_of(connection);
  if (!client || client->closing) return MHD_NO;
  // Uploads are refused.
  if (*upload_size > 0) {
    *upload_size = 0;
    return MHD_YES;
  }
  // The first call has only the head; a reply to it would end the connection.
  if (!*seen) {
    *seen = client;
    client->since = g_get_monotonic_time();
    return MHD_YES;
  }
  try {
    return static_cast<Loop*>(self)->take(connection, *client, url, method);
  } catch (const std::exception&) {
    return MHD_NO;
  }
}

MHD_Result Server::Loop::take(MHD_Connection* connection, Client& client, const char* url, const char* method) {
  const std::string_view name = method;
  if (name != MHD_HTTP_METHOD_GET && name != MHD_HTTP_METHOD_HEAD)
    return queue(connection, {MHD_HTTP_METHOD_NOT_ALLOWED, Reply().type, "only GET and HEAD are supported\n"});
  Request request{url, std::nullopt};
  if (const char* host = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_HOST))
    request.host = host;
  if (const std::optional<Reply> reply = on_get_(request)) return queue(connection, *reply);
  client.waiting = connection;
  MHD_suspend_connection(connection);
  return MHD_YES;
}

Server::Server(const std::string& listen, const Bell& fresh, OnGet on_get, gint64 patience) {
  const auto [descriptor, url] = open_socket(listen);
  url_ = url;
  try {
    loop_ = std::make_unique<Loop>(descriptor, fresh, std::move(on_get), patience);
  } catch (const std::runtime_error& e) {
    close(descriptor);
    throw failure(listen, e.what());
  }
}

Server::~Server() = default;

}  // namespace framequality::apps::watch
