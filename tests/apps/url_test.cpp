// SPDX-License-Identifier: LGPL-2.1-or-later
// URLs: legal ones, those that people write, and texts with them; what is shown of each.
#include "apps/common/url.h"

#include "apps/common/uri.h"

#include <gtest/gtest.h>
#include <string>
#include <utility>

namespace framequality::apps {
namespace {

TEST(Url, IsSplitAsRfc3986Says) {
  const struct {
    const char *text, *user_info, *host, *port, *tail;
    bool valid_port, ip_address;
  } cases[] = {
      {"rtsp://h", "", "h", "", "", true, false},
      {"rtsp://h/", "", "h", "", "/", true, false},
      {"rtsp://cam:554/ch@1", "", "cam", ":554", "/ch@1", true, false},
      {"http://cam/snap@2x.jpg", "", "cam", "", "/snap@2x.jpg", true, false},
      {"rtsp://u:p@h:1/a?b#c", "u:p", "h", ":1", "/a?b#c", true, false},
      {"rtsp://u:p@x:y@h", "u:p@x:y", "h", "", "", true, false},
      {"rtsp://h?q@r/s", "", "h", "", "?q@r/s", true, false},
      {"rtsp://h#f@g", "", "h", "", "#f@g", true, false},
      {"rtsp://10.0.0.7:65535", "", "10.0.0.7", ":65535", "", true, true},
      {"rtsp://10.0.0.777", "", "10.0.0.777", "", "", true, false},
      {"rtsp://[::1]/a", "", "[::1]", "", "/a", true, true},
      {"rtsp://[::1]:554/a@b", "", "[::1]", ":554", "/a@b", true, true},
      {"rtsp://u:p@[fd00::7%25eth0]:554/a", "u:p", "[fd00::7%25eth0]", ":554", "/a", true, true},
      {"rtsp://u:p@[::1]/", "u:p", "[::1]", "", "/", true, true},
      {"rtsp://u:p[1@h", "u:p[1", "h", "", "", true, false},
      {"rtsp://h:/a", "", "h", ":", "/a", true, false},  // an empty port is one
      {"rtsp://h:0", "", "h", ":0", "", false, false},
      {"rtsp://h:65536", "", "h", ":65536", "", false, false},
      {"rtsp://h:+5", "", "h", ":+5", "", false, false},
      {"rtsp://h:5a", "", "h", ":5a", "", false, false},
      {"rtsp://h:5:6", "", "h", ":5:6", "", false, false},
      {"rtsp://fd00::7/a", "", "fd00", "::7", "/a", false, false},
      {"rtsp://[::1]554", "", "[::1]", "554", "", false, true},
      {"rtsp://[::1", "", "[", "::1", "", false, false},
      {"rtsp://admin:pa/ss@h", "", "admin", ":pa", "/ss@h", false, false},
      {"rtsp://admin:12/34@h", "", "admin", ":12", "/34@h", true, false},
  };
  for (const auto& c : cases) {
    const auto url = split_url(c.text);
    ASSERT_TRUE(url) << c.text;
    EXPECT_EQ(url->user_info, c.user_info) << c.text;
    EXPECT_EQ(url->host, c.host) << c.text;
    EXPECT_EQ(url->port, c.port) << c.text;
    EXPECT_EQ(url->tail, c.tail) << c.text;
    EXPECT_EQ(url->has_valid_port(), c.valid_port) << c.text;
    EXPECT_EQ(url->has_ip_address(), c.ip_address) << c.text;
  }
  for (const char* text : {"", "://", "://h", "h", "/a://b", "1x://h", "a b://h", "rtsp:/h", "rtsp:h"})
    EXPECT_FALSE(split_url(text)) << text;
}

TEST(Url, PasswordsAreNotShown) {
  const std::pair<const char*, const char*> cases[] = {
      // Legal ones, with nothing to hide or with a password in its place.
      {"rtsp://cam:554/ch@1", "rtsp://cam:554/ch@1"},
      {"rtsp://cam:554/live?stream@0x1", "rtsp://cam:***@0x1"},
      {"http://cam/snap@2x.jpg", "http://cam/snap@2x.jpg"},
      {"http://10.0.0.7:8080/snap@2x.jpg", "http://10.0.0.7:8080/snap@2x.jpg"},
      {"rtsp://[::1]:554/a@b", "rtsp://[::1]:554/a@b"},
      {"rtsp://[fd00::7]/a@b.c", "rtsp://[fd00::7]/a@b.c"},
      {"rtsp://u:hush@[fd00::7]:554/a@b", "rtsp://u:***@[fd00::7]:554/a@b"},
      {"rtsp://u:hush@[fd00::7]/a", "rtsp://u:***@[fd00::7]/a"},
      {"rtsp://u:hush@10.0.0.7/a@b", "rtsp://u:***@10.0.0.7/a@b"},
      {"rtsp://u:hush@cam/ch@1", "rtsp://u:***@cam/ch@1"},
      {"rtsp://user:hush@host/1", "rtsp://user:***@host/1"},
      {"rtsp://user:hu%40sh@host:554/1?a=b", "rtsp://user:***@host:554/1?a=b"},
      {"rtsp://user:@host/1", "rtsp://user:***@host/1"},
      {"rtsp://:hush@host/1", "rtsp://:***@host/1"},
      {"rtsp://hush@host/1", "rtsp://***@host/1"},
      {"rtsp://host:/1", "rtsp://host:/1"},
      {"a://@", "a://@"},
      {"file:///a:b@c.mp4", "file:///a:b@c.mp4"},
      // What should have been percent-encoded.
      {"rtsp://user:hu@sh@host/1", "rtsp://user:***@host/1"},
      {"rtsp://user:hu:sh@host", "rtsp://user:***@host"},
      {"rtsp://user:hu/sh@host/1", "rtsp://user:***@host/1"},
      {"rtsp://user:hu?sh@host/1", "rtsp://user:***@host/1"},
      {"rtsp://user:hu#sh@host/1", "rtsp://user:***@host/1"},
      {"rtsp://admin:12/34@host", "rtsp://admin:***@host"},
      {"rtsp://admin:2024#cam@host", "rtsp://admin:***@host"},
      {"http://user:123?abc@host:80/x", "http://user:***@host:80/x"},
      {"rtsp://admin:77@secret/x@host", "rtsp://admin:***@host"},
      {"rtsp://admin:7@8/9@10.0.0.1:554/a", "rtsp://admin:***@10.0.0.1:554/a"},
      {"rtsp://admin:/hush@host", "rtsp://admin:***@host"},
      {"rtsp://admin:1/2@3@host/ch@1", "rtsp://admin:***@1"},
      {"rtsp://dom/user:hush@host/1", "rtsp://dom/user:***@host/1"},
      {"rtsp://user:it's \"hush\" <x>@host/1", "rtsp://user:***@host/1"},
      {"rtsp://user:a://b@host/1", "rtsp://user:***@host/1"},
      {"rtsp://user:hush", "rtsp://user:***"},
      {"rtsp://user:hu/sh", "rtsp://user:***"},
      {"rtsp://user:hu@sh:word", "rtsp://user:***@sh:***"},
      {"rtsp://user:hush@", "rtsp://user:***@"},
      {"rtsp://user:12/34@", "rtsp://user:***@"},
      {"rtsp://user:12/34@0", "rtsp://user:***@0"},
      {"rtsp://user:12/34@2130706433", "rtsp://user:***@2130706433"},
      {"rtsp://user:12/34@1:554", "rtsp://user:***@1:554"},
      {"http://proxy/rtsp://user:hush@cam/1", "http://proxy/rtsp:***@cam/1"},
      {"http://10.0.0.7/rtsp://user:hush@cam/1", "http://10.0.0.7/rtsp:***@cam/1"},
      // No URL, but nearly.
      {"user:hush@host/1", "user:***@host/1"},
      {"rtsp:/user:hush@host/1", "rtsp:***@host/1"},
      {"rtsp:user:12/34@host", "rtsp:***@host"},
      {"a@b:c", "a@b:c"},
      {"", ""},
      // Elsewhere.
      {"http://h/v?usr=me&pwd=hush&x=1", "http://h/v?usr=me&pwd=***&x=1"},
      {"http://h/v?pwd=hu&sh;h#u?s/h&x=1", "http://h/v?pwd=***&x=1"},
      {"http://h/v?pwd=hu&sh", "http://h/v?pwd=***"},
      {"http://h/v?loginuse=me&loginpas=hush", "http://h/v?loginuse=me&loginpas=***"},
      {"http://h/v?Token=hush", "http://h/v?Token=***"},
      {"srt://h:9000?mode=caller&passphrase=hush", "srt://h:9000?mode=caller&passphrase=***"},
      {"rtsp://h/user=me_password=hush", "rtsp://h/user=me_password=***"},
  };
  for (const auto& [text, expected] : cases) {
    EXPECT_EQ(shown_url(text), expected) << text;
    EXPECT_EQ(shown_url(shown_url(text)), shown_url(text)) << "it stays as it is: " << text;
  }
}

TEST(Url, PasswordsInTextsAreNotShown) {
  const std::pair<const char*, const char*> cases[] = {
      {"cannot open rtsp://u:hush@a/ (or \"http://u:hush@b\")", "cannot open rtsp://u:***@a/ (or \"http://u:***@b\")"},
      {"rtsp://admin:12/34@host: refused", "rtsp://admin:***@host: refused"},
      {"no answer of rtsp://cam:554: refused, of (http://h:80), and of rtsp://h.",
       "no answer of rtsp://cam:554: refused, of (http://h:80), and of rtsp://h."},
      {"see rtsp://u:hush, or a@b", "see rtsp://u:***@b"},
      {"rtsp://u:hu sh@h/1 failed", "rtsp://u:***@h/1 failed"},
      {"rtsp://u:hush! failed", "rtsp://u:*** failed"},
      {"location=\"rtsp://u:hu sh@h/1\" ! x", "location=\"rtsp://u:***@h/1\" ! x"},
      {"location=\"rtsp://u:12 hu\\\"sh@h/1\" ! x", "location=\"rtsp://u:***@h/1\" ! x"},
      {"'rtsp://u:hu'sh@h/1'", "'rtsp://u:***@h/1'"},
      {"a rtsp://u:hush@h\nb rtsp://v:hush@h", "a rtsp://u:***@h\nb rtsp://v:***@h"},
      {"rtsp://u:hu\nsh", "rtsp://u:***\nsh"},
      {"rtspsrc location=rtsp://h user-id=me user-pw=hush ! x", "rtspsrc location=rtsp://h user-id=me user-pw=*** ! x"},
      {"rtspsrc user-pw=\"hu sh\\\"x\" ! x", "rtspsrc user-pw=*** ! x"},
      {"souphttpsrc user-pw = 'hush' ! x", "souphttpsrc user-pw =*** ! x"},
      {"bypass=1 compass=2 x264enc key-int-max=3", "bypass=1 compass=2 x264enc key-int-max=3"},
      {"pwd=", "pwd="},
      {"pwd=&x=1", "pwd=&x=1"},
      {"://", "://"},
      {"", ""},
  };
  for (const auto& [text, expected] : cases) EXPECT_EQ(without_url_passwords(text), expected) << text;
}

/// Whatever a password is made of, nothing of it is left, in a URL and in a text, and it never takes long.
TEST(Url, NoPasswordOfAnyCharactersIsShown) {
  const std::string characters = "/?#@:%[]&=;'\"<>\\,.!$+*()~| 12";
  for (const char a : characters)
    for (const char b : characters)
      for (const std::string host : {"host", "host:554/ch@1", "10.0.0.1", "[::1]:554/a?b=c", "host/x:y"}) {
        const std::string url = std::string("rtsp://admin:hush") + a + "hush" + b + "hush@" + host;
        EXPECT_EQ(shown_url(url).find("hush"), std::string::npos) << url << " is " << shown_url(url);
        const std::string digits = std::string("rtsp://admin:77") + a + "88" + b + "99@" + host;
        for (const char* part : {"77", "88", "99"})
          EXPECT_EQ(shown_url(digits).find(part), std::string::npos) << digits << " is " << shown_url(digits);
        if (a == ' ' || b == ' ' || a == '\'' || b == '\'' || a == '"' || b == '"' || a == '<' || b == '<' ||
            a == '>' || b == '>')
          continue;
        const std::string text = "cannot open " + digits + " (-5)";
        EXPECT_EQ(without_url_passwords(text).find("99"), std::string::npos) << without_url_passwords(text);
        EXPECT_EQ(without_url_passwords(text).find("77"), std::string::npos) << without_url_passwords(text);
      }
  std::string many;
  for (int i = 0; i < 20'000; ++i) many += "a:b@c/ &d='";
  EXPECT_FALSE(shown_url("rtsp://" + many).empty());
  EXPECT_FALSE(without_url_passwords("x://" + many + "pwd=" + many).empty());
}

TEST(Url, PartsOfOneThatIsAmbiguousAreKnown) {
  const auto parts = [](const char* url) { return doubtful_parts(*split_url(url)); };
  using Parts = std::vector<std::string>;
  EXPECT_EQ(parts("rtsp://admin:12/34@host"), (Parts{"12/34", "admin:12", "/34@"}));
  EXPECT_EQ(parts("http://u:123?abc@host/x"), (Parts{"123?abc", "u:123", "?abc@"}));
  EXPECT_EQ(parts("rtsp://admin:77@secret/x@host"), (Parts{"77@secret/x", "secret", "/x@"}));
  for (const char* clear :
       {"rtsp://cam:554/ch@1", "http://cam/snap@2x.jpg", "rtsp://u:p@h/1", "rtsp://u:p@10.0.0.1/a@b"})
    EXPECT_EQ(parts(clear), Parts()) << clear;
}

TEST(Url, PortsAreDigits) {
  EXPECT_EQ(port_number("0"), 0);
  EXPECT_EQ(port_number("65535"), 65535);
  for (const char* none : {"", "65536", "99999", "4294967376", "-1", "+1", " 1", "1 ", "0x50", "http"})
    EXPECT_FALSE(port_number(none)) << none;
}

TEST(Url, PercentCodesComeAndGo) {
  std::string all;
  for (int c = 0; c < 256; ++c) all += static_cast<char>(c);
  EXPECT_EQ(percent_decoded(percent_encoded(all)), all);
  EXPECT_EQ(percent_decoded("%4"), "%4");
  EXPECT_EQ(percent_decoded("%"), "%");
  EXPECT_EQ(percent_decoded("%zz%41"), "%zzA");
}

TEST(Uri, NamesOfFilesAreShownAsTheyAre) {
  EXPECT_EQ(shown_name("a:b@c/password=d.mp4"), "a:b@c/password=d.mp4");
  EXPECT_EQ(shown_name("http://u:hush@h/a.mp4"), "http://u:***@h/a.mp4");
  EXPECT_EQ(shown_name("file:///a:b@c.mp4"), "file:///a:b@c.mp4");
}

}  // namespace
}  // namespace framequality::apps
