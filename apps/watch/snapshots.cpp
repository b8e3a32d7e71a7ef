// SPDX-License-Identifier: LGPL-2.1-or-later
// A folder of images with bounded size.
#include "apps/watch/snapshots.h"

#include "apps/common/draft_file.h"
#include "apps/common/text.h"
#include "apps/watch/address.h"
#include "apps/watch/events.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <optional>
#include <stdexcept>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace framequality::apps::watch {

namespace {

constexpr char kMark[] = "framequality-watch";
constexpr char kEnding[] = ".jpg";
constexpr std::string_view kTimeShape = "00000000T000000.000Z";
constexpr std::size_t kRandom = 7;  // ".XXXXXX" of a draft
constexpr std::size_t kHead = 6;    // bytes of a JPEG before the text of its first comment
constexpr std::size_t kDigits = 16;
constexpr std::uint64_t kMostNumber = 1'000'000'000'000'000;  // leaves room for more of as many digits

/// The time in a name in our form, perhaps followed by ~2; none for other names.
std::optional<std::string> time_in(std::string_view name) {
  if (!name.ends_with(kEnding)) return std::nullopt;
  name.remove_suffix(sizeof(kEnding) - 1);
  const auto state = name.rfind('-');
  if (state == std::string_view::npos || state < kTimeShape.size() + 2) return std::nullopt;
  const auto word = name.substr(state + 1);
  if (word.empty() || !std::all_of(word.begin(), word.end(), [](char c) { return g_ascii_islower(c); }))
    return std::nullopt;
  const auto time = name.substr(state - kTimeShape.size(), kTimeShape.size());
  if (name[state - kTimeShape.size() - 1] != '-') return std::nullopt;
  for (std::size_t i = 0; i < time.size(); ++i)
    if (kTimeShape[i] == '0' ? !g_ascii_isdigit(time[i]) : time[i] != kTimeShape[i]) return std::nullopt;
  return std::string(time);
}

/// The JPEG with a comment that marks it as ours, with its number.
std::string marked(std::string_view jpeg, std::uint64_t number) {
  if (jpeg.size() < 2) throw std::runtime_error("cannot encode a snapshot: the encoder returned nothing");
  std::string comment = std::to_string(number);
  comment = kMark + std::string(kDigits - comment.size(), '0') + comment;
  const std::size_t length = 2 + comment.size();
  std::string text(jpeg.substr(0, 2));
  text.append({'\xff', '\xfe', static_cast<char>(length >> 8), static_cast<char>(length & 0xff)});
  return text.append(comment).append(jpeg.substr(2));
}

/// The number in the mark of one of ours, 0 if its mark has none; none if it is another program's.
std::optional<std::uint64_t> number_of(const std::string& path) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (descriptor < 0) return std::nullopt;
  std::array<char, kHead + sizeof(kMark) - 1 + kDigits> begin{};
  const ssize_t count = read(descriptor, begin.data(), begin.size());
  close(descriptor);
  const std::string_view text(begin.data(), count < 0 ? 0 : static_cast<std::size_t>(count));
  if (text.size() < kHead || text.substr(2, 2) != "\xff\xfe") return std::nullopt;
  const auto comment = text.substr(kHead);
  if (!comment.starts_with(kMark)) return std::nullopt;
  const auto digits = comment.substr(sizeof(kMark) - 1);
  // Without a number, image data follow the mark.
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return static_cast<unsigned char>(text[5]) == 2 + comment.size() && digits.size() == kDigits &&
                 end == digits.data() + digits.size() && number < kMostNumber
             ? number
             : 0;
}

}  // namespace

Snapshots::Snapshots(std::string folder, std::uint64_t most, std::uint64_t most_bytes)
    : folder_(std::move(folder)), most_(most), most_bytes_(most_bytes) {
  if (g_mkdir_with_parents(folder_.c_str(), 0777) != 0)
    throw std::runtime_error("cannot make the folder " + printable(folder_) + ": " + std::strerror(errno));
  const DraftFile attempt(folder_ + "/" + kMark, "");  // fails now if the folder is not writable
  find();
  make_room(0);
}

void Snapshots::find() {
  const std::unique_ptr<DIR, int (*)(DIR*)> listing(opendir(folder_.c_str()), closedir);
  if (!listing) throw std::runtime_error("cannot read " + printable(folder_) + ": " + std::strerror(errno));
  while (const dirent* entry = readdir(listing.get())) {
    const std::string name = entry->d_name, path = folder_ + '/' + name;
    struct stat about = {};
    // A killed run may have left a draft.
    const bool draft = name.size() > kRandom && name[name.size() - kRandom] == '.' &&
                       time_in(std::string_view(name).substr(0, name.size() - kRandom));
    const auto time = time_in(name);
    if ((!time && !draft) || lstat(path.c_str(), &about) != 0 || !S_ISREG(about.st_mode)) continue;
    const auto number = number_of(path);
    if (!number) continue;
    if (draft) {
      unlink(path.c_str());
      continue;
    }
    bytes_ += static_cast<std::uint64_t>(about.st_size);
    files_.insert({*number, *time, name, static_cast<std::uint64_t>(about.st_size)});
    last_number_ = std::max(last_number_, *number);
  }
}

void Snapshots::remove(const File& file) {
  const std::string path = folder_ + '/' + file.name;
  // A file that replaced ours is kept.
  if (number_of(path) && unlink(path.c_str()) != 0 && errno != ENOENT)
    throw std::runtime_error("cannot remove " + printable(path) + ": " + std::strerror(errno));
}

void Snapshots::make_room(std::uint64_t bytes) {
  const std::uint64_t one = bytes > 0 ? 1 : 0;
  while (!files_.empty() && (files_.size() + one > most_ || bytes_ + bytes > most_bytes_)) {
    const File oldest = *files_.begin();
    remove(oldest);
    files_.erase(files_.begin());
    bytes_ -= oldest.bytes;
  }
}

std::string Snapshots::save(std::string_view camera, gint64 time, std::string_view state, std::string_view jpeg) {
  std::string when = utc(time);
  std::erase_if(when, [](char c) { return c == '-' || c == ':'; });
  const std::lock_guard lock(mutex_);
  const std::uint64_t number = last_number_ + 1;
  const std::string content = marked(jpeg, number);
  if (content.size() > most_bytes_)
    throw std::runtime_error("a snapshot of " + std::to_string(content.size()) +
                             " bytes exceeds snapshots-most-bytes for " + printable(folder_));
  const std::string name = file_name_of(camera) + '-' + when + '-' + std::string(state) + kEnding;
  make_room(content.size());
  std::string path = folder_ + '/' + name;
  struct stat about = {};
  // A second one within a millisecond, or another program's.
  if (lstat(path.c_str(), &about) == 0)
    throw std::runtime_error("cannot write " + printable(path) + ": it already exists");
  DraftFile(path, content).publish();
  files_.insert({number, when, name, content.size()});
  last_number_ = number;
  bytes_ += content.size();
  return path;
}

}  // namespace framequality::apps::watch
