// SPDX-License-Identifier: LGPL-2.1-or-later
// Bytes of any kind for what reads text of others: models, baselines, records, EXIF, configuration, names.
// What is wrong may throw what the reader says it throws; nothing else may happen. With clang's libFuzzer or by itself,
// from texts of our own writers that are changed by number.
#include "algorithms/bliinds/model.h"
#include "apps/common/exif.h"
#include "apps/common/jpeg_end.h"
#include "apps/common/json.h"
#include "apps/common/natural_order.h"
#include "apps/common/program.h"
#include "apps/common/record.h"
#include "apps/common/taken.h"
#include "apps/common/text.h"
#include "apps/common/url.h"
#include "gst/camerawatch/baseline_file.h"
#include "gst/sharpnessmeter/h264_losses.h"
#include "tests/fuzz/dice.h"
#if FQ_HAVE_WATCH
#include "apps/watch/config.h"
#endif

#include <array>
#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

namespace framequality::fuzz {
namespace {

using namespace std::string_view_literals;

/// A file that holds these bytes and goes with this.
class File {
 public:
  explicit File(std::string_view bytes) : descriptor_(memfd_create("fuzz", 0)) {
    if (descriptor_ < 0 || write(descriptor_, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size()))
      std::abort();
  }
  ~File() { close(descriptor_); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  std::string path() const { return std::string("/proc/self/fd/").append(std::to_string(descriptor_)); }

 private:
  int descriptor_;
};

/// Reads, and reads again what is written of it. Refused: by the exceptions that the reader's declaration names.
struct Reader {
  const char* name;
  void (*read)(std::string_view bytes);
  std::string (*example)();
};

template <class Refused, class F>
void refusable(F read) {
  try {
    read();
  } catch (const Refused&) {
  }
}

void demand(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "fuzz: %s\n", what);
  std::abort();
}

apps::Record record_example() {
  apps::Record record;
  record.file = "a/b \"c\".mp4";
  record.size = 123456789;
  record.modified = 1700000000123456789;
  record.options = {{"metric", "\"tenengrad\""}, {"zones", "[8,6]"}};
  record.table = "b.csv";
  record.rows = record.frames = 3;
  record.scores = apps::ScoreFacts{{}, {}, 2.5};
  record.curve = {{{1, 2, 3}}, {{4, 5, 6}}};
  return record;
}

// Parameter sets and an IDR slice, behind start codes.
constexpr std::string_view kH264 =
    "\0\0\0\1\x67\x42\xc0\x0d\xd9\x01\x41\xfb\x01\x10\0\0\3\0\x10\0\0\3\3\xc0\xf1\x42\xa4\x80"
    "\0\0\0\1\x68\xcb\x83\xcb\x20\0\0\0\1\6\6\1\xc4\x80\0\0\0\1\x65\x88\x84\x0a\xff"sv;

constexpr std::string_view kConfig = R"(listen = "127.0.0.1:9640"
snapshots-most = 1000
[defaults]
watch-for = ["defocused", "dark"]
hold-time = 10
interval = 0.2
[[camera]]
name = "gate"
url = "rtsp://user:secret@127.0.0.1:554/x?y=z"
transport = "tcp"
roi = [0, 100, 1920, 980]
significant-bits = 14
[[camera]]
name = "own"
pipeline = "v4l2src device=/dev/video2 ! video/x-raw,width=1280"
)";

// An APP1 segment with EXIF, one entry: orientation.
constexpr std::string_view kJpeg(
    "\xff\xd8\xff\xe1\x00\x22"
    "Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0\xff\xda\0\x02\xff\xd9",
    44);

const Reader kReaders[] = {
    {"model",
     [](std::string_view bytes) {
       refusable<std::invalid_argument>([&] {
         const bliinds::Model model = bliinds::parse_model(bytes);
         demand(bliinds::text_of(bliinds::parse_model(bliinds::text_of(model))) == bliinds::text_of(model),
                "a model does not come back");
       });
     },
     [] { return bliinds::text_of(bliinds::published_model()); }},
    {"baseline",
     [](std::string_view bytes) {
       refusable<BadBaseline>([&] {
         Baseline baseline;
         ScoreKind kind;
         from_text(std::string(bytes), baseline, kind);
       });
     },
     [] { return to_text(Baseline{}, {.metric = "tenengrad", .normalize = "mean", .width = 640, .height = 480}); }},
    {"record",
     [](std::string_view bytes) {
       const File file(bytes);
       for (const bool curve : {true, false})
         refusable<std::runtime_error>([&] { (void)apps::record_json(apps::read_record(file.path(), curve)); });
     },
     [] { return apps::record_json(record_example()); }},
    {"exif",
     [](std::string_view bytes) {
       const File file(bytes);
       const std::string block = apps::exif_in(file.path()).bytes;
       (void)apps::tags_of_exif(block);
       (void)apps::taken_of(block);
       (void)apps::is_cut_jpeg(file.path());
       (void)apps::taken_of(bytes);
     },
     [] { return std::string(kJpeg); }},
    {"text",
     [](std::string_view bytes) {
       const std::string utf8 = apps::valid_utf8(bytes);
       demand(g_utf8_validate(utf8.data(), static_cast<gssize>(utf8.size()), nullptr), "not UTF-8");
       for (const std::string& text :
            {apps::printable(bytes), apps::dump(apps::json_text(bytes)), apps::csv_field(bytes),
             apps::shortened(bytes, 7), apps::json_for_html(bytes), apps::base64(bytes)})
         (void)text;
       const std::string_view half = bytes.substr(0, bytes.size() / 2), rest = bytes.substr(half.size());
       demand(!(apps::natural_less(half, rest) && apps::natural_less(rest, half)), "no order");
       demand(!apps::natural_less(half, half), "no order");
     },
     [] { return std::string("IMG_0009.JPG\xc3\xa4\xff\x1b[0m<&\"'00012"); }},
#if FQ_HAVE_WATCH
    {"config",
     [](std::string_view bytes) {
       const File file(bytes);
       try {
         const apps::watch::Config config(file.path());
         apps::watch::Settings settings;
         apps::watch::CameraSettings defaults;
         config.read_program(settings);
         config.read_defaults(defaults);
         config.read_cameras(settings, defaults);
       } catch (const apps::UsageError&) {
       } catch (const std::runtime_error&) {
       }
     },
     [] { return std::string(kConfig); }},
#endif
    {"secrets",
     [](std::string_view bytes) {
       (void)apps::without_url_passwords(bytes);
       (void)apps::shown_url(bytes);
       if (const auto url = apps::split_url(bytes)) (void)apps::doubtful_parts(*url);
       demand(apps::percent_decoded(apps::percent_encoded(bytes)) == bytes, "percent signs");
       (void)apps::percent_decoded(bytes);
     },
     [] { return std::string("rtsp://a:b%40c@d/e?f=g&password=h"); }},
    {"H.264",
     [](std::string_view bytes) {
       const std::span all(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
       H264Losses stream({}, 0), recorded(all, 320);
       for (const bool lost : {false, true})
         for (std::size_t begin = 0; begin < all.size(); begin += 1 + all.size() / 8) {
           stream.take(all.subspan(begin), lost);
           recorded.take(all.subspan(begin), lost);
         }
     },
     [] { return std::string(kH264); }},
};

}  // namespace
}  // namespace framequality::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace framequality::fuzz;
  [[maybe_unused]] static const bool is_ready = (gst_init(nullptr, nullptr), true);
  if (size == 0) return 0;
  kReaders[data[0] % std::size(kReaders)].read({reinterpret_cast<const char*>(data) + 1, size - 1});
  return 0;
}

#ifndef FQ_LIBFUZZER
namespace framequality::fuzz {
namespace {

std::string changed(Dice& dice, std::string text) {
  for (int times = dice.of({0, 1, 1, 2, 3, 8, 30}); times > 0; --times) {
    const auto place = [&] { return static_cast<std::size_t>(dice.in(0, static_cast<std::int64_t>(text.size()))); };
    const std::size_t at = place(),
                      length = std::min<std::size_t>(text.size() - at, static_cast<std::size_t>(dice.in(0, 20)));
    switch (dice.small(0, 7)) {
      case 0:
        text.erase(at, length);
        break;
      case 1:
        text.insert(at, text.substr(place(), length));
        break;
      case 2:
        text.insert(at, 1, static_cast<char>(dice.in(0, 255)));
        break;
      case 3:
        if (at < text.size()) text[at] = static_cast<char>(text[at] ^ 1 << dice.small(0, 7));
        break;
      case 4:
        text.insert(at, dice.of({"1e999", "-0", "nan", "99999999999999999999", "\"", "\\u0000", "[[", "{", ",", "\r\n",
                                 "\xef\xbb\xbf", "=", "#", "1e-400", "\xff\xff\xff\xff", "%"}));
        break;
      case 5:
        text.resize(at);
        break;
      case 6:
        for (std::size_t i = at; i < at + length; ++i) text[i] = static_cast<char>(dice.in(0, 255));
        break;
      default:
        if (dice.one_in(30))
          text.insert(
              at, std::string(static_cast<std::size_t>(dice.in(1, 70000)), dice.of({'[', '9', ' ', 'a', '"', '\n'})));
    }
  }
  return text;
}

}  // namespace
}  // namespace framequality::fuzz

int main(int argc, char** argv) {
  using namespace framequality::fuzz;
  std::uint64_t first = 0, cases = UINT64_MAX;
  double seconds = 10;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view option = argv[i];
    if (option == "--first") first = std::strtoull(argv[i + 1], nullptr, 10);
    if (option == "--cases") cases = std::strtoull(argv[i + 1], nullptr, 10);
    if (option == "--seconds") seconds = std::strtod(argv[i + 1], nullptr);
  }
  const auto begin = std::chrono::steady_clock::now();
  std::uint64_t done = 0;
  for (; done < cases; ++done) {
    if (cases == UINT64_MAX &&
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() > seconds)
      break;
    Dice dice((first + done) * 0x9e3779b97f4a7c15u + 1);
    const std::size_t reader = (first + done) % std::size(kReaders);
    std::string input(1, static_cast<char>(reader));
    input += changed(dice, kReaders[reader].example());
    alarm(240);
    try {
      LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
    } catch (const std::exception& e) {
      std::fprintf(stderr, "fuzz: case %" PRIu64 ", %s: %s\n", first + done, kReaders[reader].name, e.what());
      return 1;
    }
  }
  std::printf("%" PRIu64 " cases from number %" PRIu64 " on, none wrong\n", done, first);
  return 0;
}
#endif
