// SPDX-License-Identifier: LGPL-2.1-or-later
// framequality-watch's HTTP server: whom it answers, what, and that nobody keeps others out.
#include "apps/watch/clients.h"
#include "apps/watch/hosts.h"
#include "apps/watch/server.h"
#include "apps/watch/site.h"
#include "apps/watch/thumbnails.h"
#include "tests/support/eventually.h"

#include <glib.h>

#include <algorithm>
#include <arpa/inet.h>
#include <atomic>
#include <filesystem>
#include <gtest/gtest.h>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <sys/socket.h>
#include <sys/time.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace framequality::apps::watch {
namespace {

constexpr gint64 kSecond = G_USEC_PER_SEC, kHour = 3600 * kSecond;

// --- Connections that must close ------------------------------------------------------------------------------------

sockaddr_storage address(const char* text) {
  sockaddr_storage storage = {};
  auto& v4 = reinterpret_cast<sockaddr_in&>(storage);
  auto& v6 = reinterpret_cast<sockaddr_in6&>(storage);
  if (inet_pton(AF_INET, text, &v4.sin_addr) == 1)
    v4.sin_family = AF_INET;
  else if (inet_pton(AF_INET6, text, &v6.sin6_addr) == 1)
    v6.sin6_family = AF_INET6;
  else
    ADD_FAILURE() << text;
  return storage;
}

Client& add(Clients& clients, const char* from, gint64 now) {
  const sockaddr_storage storage = address(from);
  return clients.add(-1, reinterpret_cast<const sockaddr*>(&storage), now);
}

TEST(WatchClients, NetworksAreWhatOneClientHas) {
  const auto network = [](const char* text) {
    const sockaddr_storage storage = address(text);
    return network_of(reinterpret_cast<const sockaddr&>(storage));
  };
  EXPECT_EQ(network("10.0.0.1"), network("::ffff:10.0.0.1"));
  EXPECT_NE(network("10.0.0.1"), network("10.0.0.2"));
  EXPECT_EQ(network("2001:db8:0:1::1"), network("2001:db8:0:1:ffff::2"));
  EXPECT_NE(network("2001:db8:0:1::1"), network("2001:db8:0:2::1"));
  EXPECT_NE(network("::1"), network("127.0.0.1"));
}

TEST(WatchClients, OneClientHasItsShare) {
  Clients clients;
  add(clients, "10.0.0.1", 0);
  for (std::size_t i = 0; i < Clients::kMostOfOne; ++i) add(clients, "10.0.0.2", static_cast<gint64>(i) + 1);
  EXPECT_EQ(clients.surplus(), nullptr);
  Client& newest = add(clients, "10.0.0.2", 1000);
  Client* surplus = clients.surplus();
  ASSERT_NE(surplus, nullptr);
  EXPECT_EQ(surplus->since, 1) << "the one that did nothing for longest, of the client that has too many";
  surplus->closing = true;
  EXPECT_EQ(clients.surplus(), nullptr);
  // One that was served meanwhile is not stale.
  surplus = nullptr;
  for (Client& client : clients.all())
    if (client.since == 2) client.since = 2000;
  add(clients, "10.0.0.2", 3000);
  surplus = clients.surplus();
  ASSERT_NE(surplus, nullptr);
  EXPECT_EQ(surplus->since, 3);
  EXPECT_FALSE(newest.closing);
}

TEST(WatchClients, ThoseWithTheMostMakeRoom) {
  Clients clients;
  for (std::size_t i = 0; i < Clients::kMostOfOne; ++i) add(clients, "10.0.0.1", 500);
  for (std::size_t i = 0; i + 1 < Clients::kMost - Clients::kMostOfOne; ++i) add(clients, "10.0.0.2", 400);
  add(clients, "10.0.0.3", 300);
  EXPECT_EQ(clients.surplus(), nullptr);
  add(clients, "10.0.0.4", 600);
  const Client* surplus = clients.surplus();
  ASSERT_NE(surplus, nullptr);
  EXPECT_EQ(surplus->since, 500);
  clients.remove(*surplus);
  EXPECT_EQ(clients.surplus(), nullptr);
}

TEST(WatchClients, OfManyWithOneEachTheStalestGoes) {
  Clients clients;
  for (std::size_t i = 0; i <= Clients::kMost; ++i) {
    const std::string from = "10.0.1." + std::to_string(i);
    add(clients, from.c_str(), i == 70 ? 1 : 100);
  }
  ASSERT_NE(clients.surplus(), nullptr);
  EXPECT_EQ(clients.surplus()->since, 1);
}

TEST(WatchClients, ThoseWhoWaitForUsGoLast) {
  Clients clients;
  std::byte connection{};
  add(clients, "10.0.0.1", 1).waiting = reinterpret_cast<MHD_Connection*>(&connection);
  EXPECT_TRUE(clients.anyone_waits());
  EXPECT_EQ(clients.stalest()->since, 1);
  add(clients, "10.0.0.1", 2);
  EXPECT_EQ(clients.stalest()->since, 2);
}

TEST(WatchClients, ATimeIsForAWholeRequest) {
  Clients clients;
  EXPECT_EQ(clients.due(), G_MAXINT64);
  EXPECT_EQ(clients.late(G_MAXINT64), nullptr);
  Client& client = add(clients, "10.0.0.1", 7);
  add(clients, "10.0.0.1", 8);
  EXPECT_EQ(clients.due(), 7 + Clients::kPatience);
  EXPECT_EQ(clients.late(6 + Clients::kPatience), nullptr);
  EXPECT_EQ(clients.late(7 + Clients::kPatience), &client);
  client.since = 100;  // its request was read
  EXPECT_EQ(clients.due(), 8 + Clients::kPatience);
}

// --- Names ----------------------------------------------------------------------------------------------------------

TEST(WatchHosts, KnowAddressesLocalhostAndTheirNames) {
  const Hosts hosts({"Cameras.Example.org", "k\u00fcche.example"}, "listening.example:9640");
  for (const char* host :
       {"127.0.0.1", "127.0.0.1:9640", "10.1.2.3:80", "[::1]", "[::1]:9640", "[fe80::1%eth0]:1", "[::ffff:1.2.3.4]",
        "localhost", "LocalHost:9640", "localhost.", "localhost.:80", "a.b.localhost", "cameras.example.org",
        "CAMERAS.EXAMPLE.ORG.:443", "cameras.example.org:", "xn--kche-0ra.example", "listening.example"})
    EXPECT_TRUE(hosts.knows(host)) << host;
  for (const char* host : {"",
                           ":80",
                           ".",
                           "example.org",
                           "evil.example",
                           "cameras.example.org.evil.example",
                           "xcameras.example.org",
                           "localhost.evil.example",
                           "notlocalhost",
                           "127.0.0.1.evil.example",
                           "1.2.3.4.5",
                           "127.0.0.1:80x",
                           "[::1",
                           "[::1]x",
                           "[::1]80",
                           "[127.0.0.1]",
                           "[cameras.example.org]",
                           "cameras.example.org:80:80",
                           "a b",
                           "local host",
                           "cameras.example.org/",
                           "user@cameras.example.org",
                           "cameras.example.org..",
                           "\xff",
                           "127.0.0.1, evil.example"})
    EXPECT_FALSE(hosts.knows(host)) << host;
}

TEST(WatchHosts, KnowTheirOwnMachine) {
  const Hosts hosts({});
  const std::vector<std::string> own = own_host_names();
  ASSERT_GE(own.size(), 3u);
  for (const std::string& name : own) EXPECT_EQ(hosts.knows(name + ":9640"), host_name(name).has_value()) << name;
  const std::string label = own[0].substr(0, own[0].find('.'));
  EXPECT_TRUE(hosts.knows(label + ".local"));
  EXPECT_FALSE(hosts.knows(label + ".evil.example"));
}

TEST(WatchHosts, NamesAreHostNames) {
  EXPECT_EQ(host_name("Cam-1_a.Example."), "cam-1_a.example");
  EXPECT_EQ(host_name("K\u00dcCHE"), "xn--kche-0ra");
  for (const std::string& text : {std::string(), std::string("a:80"), std::string("http://a"), std::string("a b"),
                                  std::string("*.example"), std::string("."), std::string(".a"), std::string("a..b"),
                                  std::string("[::1]"), std::string("a\0b", 3), std::string(300, 'a')})
    EXPECT_EQ(host_name(text), std::nullopt) << text;
}

// --- Thumbnails -----------------------------------------------------------------------------------------------------

TEST(WatchThumbnails, AreMadeWhenAskedForAndOnceASecond) {
  int asked = 0, rings = 0;
  Thumbnails thumbnails(
      2, [&](std::size_t camera) { asked += camera == 1 ? 1 : 1000; }, [&] { ++rings; });
  EXPECT_EQ(thumbnails.get(0, false, kSecond), "") << "nothing to wait for";
  EXPECT_EQ(thumbnails.get(2, true, kSecond), "") << "a camera that is not watched";
  EXPECT_EQ(asked, 0) << "nobody looks";
  for (int i = 0; i < 100; ++i) EXPECT_EQ(thumbnails.get(1, true, kSecond + i), std::nullopt);
  EXPECT_EQ(asked, 1) << "once for all";
  thumbnails.put(1, "one", kSecond + 200);
  EXPECT_EQ(rings, 1);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(thumbnails.get(1, true, kSecond + 300 + i), "one");
  EXPECT_EQ(asked, 1);
  EXPECT_EQ(thumbnails.get(1, false, 60 * kSecond), "one") << "the last one of a camera that is lost";
  EXPECT_EQ(thumbnails.get(1, true, 60 * kSecond), std::nullopt) << "it is old";
  EXPECT_EQ(asked, 2);
  thumbnails.put(1, "", 60 * kSecond + 1);
  EXPECT_EQ(thumbnails.get(1, true, 60 * kSecond + 2), "one") << "none could be made";
}

TEST(WatchThumbnails, ACameraThatGivesNoneIsWaitedForOnce) {
  int asked = 0;
  Thumbnails thumbnails(
      1, [&](std::size_t) { ++asked; }, [] {});
  EXPECT_EQ(thumbnails.get(0, true, kSecond), std::nullopt);
  EXPECT_EQ(thumbnails.get(0, true, 3 * kSecond - 1), std::nullopt);
  EXPECT_EQ(thumbnails.get(0, true, 3 * kSecond), "");
  for (int i = 4; i < 100; ++i) EXPECT_EQ(thumbnails.get(0, true, i * kSecond), "") << "answered at once";
  EXPECT_GE(asked, 90) << "an earlier wish may be lost";
  thumbnails.put(0, "late", 100 * kSecond);
  EXPECT_EQ(thumbnails.get(0, true, 100 * kSecond + 1), "late");
  EXPECT_EQ(thumbnails.get(0, true, 102 * kSecond), std::nullopt) << "it gives some again";
}

// --- Answers --------------------------------------------------------------------------------------------------------

TEST(WatchSite, KnowsItsPathsAndNoOthers) {
  Board board;
  const Hosts hosts({"good.example"});
  Thumbnails thumbnails(
      1, [](std::size_t) {}, [] {});
  Status status;
  status.made = g_get_monotonic_time();
  status.cameras.emplace_back();
  status.cameras[0].name = "a/../b";
  status.cameras[0].state = "good";
  board.post(status);
  const auto get = [&](std::string_view path, std::optional<std::string_view> host = std::nullopt) {
    return answer({path, host}, hosts, board, thumbnails);
  };
  EXPECT_EQ(get("/thumbnail/a/../b"), std::nullopt) << "it is on its way";
  thumbnails.put(0, "jpeg", g_get_monotonic_time());
  EXPECT_EQ(get("/")->type, "text/html; charset=utf-8");
  EXPECT_EQ(get("/status.json")->type, "application/json");
  EXPECT_EQ(get("/metrics")->type, "application/openmetrics-text; version=1.0.0; charset=utf-8");
  EXPECT_EQ(get("/healthz")->body, "ok\n");
  EXPECT_EQ(get("/thumbnail/a/../b")->body, "jpeg");
  for (const char* path : {"", "//", "/index.html", "/status.json/", "/../etc/passwd", "/thumbnail/", "/thumbnail/b",
                           "/thumbnail", "/STATUS.JSON", "status.json", "/healthz/"})
    EXPECT_EQ(get(path)->code, 404u) << path;
  for (const char* path : {"/", "/status.json", "/metrics", "/thumbnail/a/../b", "/thumbnail/b", "/nothing"}) {
    const auto reply = get(path, "evil.example\x1b:80");
    EXPECT_EQ(reply->code, 403u) << path;
    EXPECT_NE(reply->body.find("--allow-host"), std::string::npos) << reply->body;
    EXPECT_NE(reply->body.find("allow-hosts"), std::string::npos);
    EXPECT_EQ(reply->body.find('\x1b'), std::string::npos);
    EXPECT_NE(get(path, "good.example:80")->code, 403u) << path;
  }
  EXPECT_LT(get("/", std::string(5000, 'x'))->body.size(), 500u);
  EXPECT_EQ(get("/healthz", "evil.example")->body, "ok\n");
  status.made -= 60 * kSecond;
  board.post(status);
  EXPECT_EQ(get("/healthz")->code, 503u);
}

// --- The server -----------------------------------------------------------------------------------------------------

/// A client on this machine. What it waits for must come within a minute.
class Connection {
 public:
  explicit Connection(const Server& server) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const std::string& url = server.url();
    sockaddr_in to = {};
    to.sin_family = AF_INET;
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    to.sin_port = htons(static_cast<std::uint16_t>(std::stoi(url.substr(url.rfind(':') + 1))));
    const timeval limit{60, 0};
    setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
    EXPECT_EQ(connect(socket_, reinterpret_cast<const sockaddr*>(&to), sizeof(to)), 0) << g_strerror(errno);
  }
  Connection(const Server& server, const std::string& path) : Connection(server) { get(path); }
  ~Connection() { close(socket_); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  /// False once the server has closed it.
  bool say(const std::string& text) const {
    return send(socket_, text.data(), text.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(text.size());
  }
  void get(const std::string& path) const { say("GET " + path + " HTTP/1.0\r\n\r\n"); }
  /// All until it is closed.
  std::string heard() const {
    std::string text;
    char buffer[4096];
    for (ssize_t count; (count = recv(socket_, buffer, sizeof(buffer), 0)) != 0;) {
      if (count < 0) return text + (errno == EAGAIN ? " and nothing more in time" : "");
      text.append(buffer, static_cast<std::size_t>(count));
    }
    return text;
  }
  /// Still open, and nothing has come.
  bool is_quiet() const {
    char byte = 0;
    return recv(socket_, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 && errno == EAGAIN;
  }

 private:
  const int socket_;
};

std::unique_ptr<Connection> connection(const Server& server, const std::string& path) {
  return std::make_unique<Connection>(server, path);
}

TEST(WatchServer, AnAnswerThatIsNotThereYetHoldsUpNobody) {
  std::atomic<bool> ready = false;
  std::atomic<int> asked = 0;
  const Bell bell;
  const Server server(
      "127.0.0.1:0", bell,
      [&](const Request& request) -> std::optional<Reply> {
        if (request.path == "/slow") {
          ++asked;
          if (!ready) return std::nullopt;
        }
        return Reply{200, "text/plain", "the body"};
      },
      kHour);
  std::vector<std::unique_ptr<Connection>> waiting;
  waiting.reserve(40);
  for (int i = 0; i < 40; ++i) waiting.push_back(connection(server, "/slow"));
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(Connection(server, "/fast").heard().ends_with("\r\n\r\nthe body"));
  eventually([&] { return asked >= 40; });
  for (const auto& one : waiting) EXPECT_TRUE(one->is_quiet());
  ready = true;
  bell.ring();
  for (const auto& one : waiting) EXPECT_TRUE(one->heard().ends_with("\r\n\r\nthe body"));
}

TEST(WatchServer, EndsWhileClientsWait) {
  const Bell bell;
  std::vector<std::unique_ptr<Connection>> waiting;
  waiting.reserve(10);
  {
    std::atomic<int> asked = 0;
    const Server server("127.0.0.1:0", bell, [&](const Request&) -> std::optional<Reply> {
      ++asked;
      return std::nullopt;
    });
    for (int i = 0; i < 10; ++i) waiting.push_back(connection(server, "/"));
    eventually([&] { return asked >= 10; });
  }
  for (const auto& one : waiting) EXPECT_EQ(one->heard(), "");
}

TEST(WatchServer, ClientsThatSayLittleKeepNobodyOut) {
  const Bell bell;
  const Server server(
      "127.0.0.1:0", bell,
      [](const Request&) {
        return Reply{200, "text/plain", "ok"};
      },
      kHour);
  std::vector<std::unique_ptr<Connection>> slow;
  for (std::size_t i = 0; i < 2 * Clients::kMost; ++i) {
    slow.push_back(std::make_unique<Connection>(server));
    slow.back()->say("GET / HTTP/1.1\r\nX");
    if (i % 16 == 0) {
      EXPECT_TRUE(Connection(server, "/").heard().ends_with("\r\n\r\nok")) << i;
    }
  }
  const auto open = [&] {
    return static_cast<std::size_t>(
        std::count_if(slow.begin(), slow.end(), [](const auto& one) { return one->is_quiet(); }));
  };
  eventually([&] { return open() <= Clients::kMostOfOne; });
  EXPECT_GT(open(), 0u);
  EXPECT_FALSE(slow.front()->is_quiet());
  EXPECT_TRUE(slow.back()->is_quiet());
}

std::ptrdiff_t descriptors() { return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {}); }

TEST(WatchServer, ARequestEndsHoweverOftenAByteComes) {
  const Bell bell;
  const Server server(
      "127.0.0.1:0", bell, [](const Request&) { return Reply(); }, kSecond / 4);
  const Connection slow(server);
  slow.say("GET / HTTP/1.1\r\n");
  int bytes = 0;
  for (; bytes < 3000 && slow.say("x"); ++bytes) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_LT(bytes, 3000);
}

TEST(WatchServer, AnAnswerThatIsNotReadEnds) {
  // More than what the system keeps for both ends.
  constexpr std::size_t kSize = 32 << 20;
  std::atomic<int> asked = 0;
  const Bell bell;
  const auto get = [&](const Request&) {
    ++asked;
    return Reply{200, "text/plain", std::string(kSize, 'x')};
  };
  const Server server("127.0.0.1:0", bell, get, kSecond / 4);
  const std::ptrdiff_t before = descriptors();
  std::optional<Connection> slow;
  // Whoever is slow to send a request too is hung up on before that.
  eventually([&] {
    if (asked == 0 && (!slow || !slow->is_quiet())) slow.emplace(server, "/");
    return asked > 0;
  });
  eventually([&] { return descriptors() == before + 1; });
  EXPECT_LT(slow->heard().size(), kSize);
}

}  // namespace
}  // namespace framequality::apps::watch
