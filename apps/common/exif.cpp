// SPDX-License-Identifier: LGPL-2.1-or-later
// Exif metadata of an image.
#include "apps/common/exif.h"

#include <gst/tag/tag.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string_view>
#include <system_error>

namespace framequality::apps {

using std::string_view_literals::operator""sv;

namespace {

struct Unref : UnrefTags {
  using UnrefTags::operator();
  void operator()(GstDateTime* time) const { gst_date_time_unref(time); }
  void operator()(GDateTime* time) const { g_date_time_unref(time); }
  void operator()(GstBuffer* buffer) const { gst_buffer_unref(buffer); }
};
template <class T>
using Held = std::unique_ptr<T, Unref>;

constexpr std::string_view kMark("Exif\0\0", 6);

/// Turns a clip's date into its frame's. A date without a time is kept.
void advance(GstTagList* tags, std::uint64_t by) {
  GstDateTime* found = nullptr;
  if (!gst_tag_list_get_date_time(tags, GST_TAG_DATE_TIME, &found)) return;
  const Held<GstDateTime> begun(found);
  if (!gst_date_time_has_second(begun.get())) return;
  const Held<GDateTime> begin(gst_date_time_to_g_date_time(begun.get()));
  if (!begin) return;
  GDateTime* later = g_date_time_add(begin.get(), static_cast<GTimeSpan>(by / 1000));
  if (!later) return;
  const Held<GstDateTime> now(gst_date_time_new_from_g_date_time(later));
  gst_tag_list_add(tags, GST_TAG_MERGE_REPLACE, GST_TAG_DATE_TIME, now.get(), nullptr);
}

}  // namespace

std::string exif_of(const GstTagList* clip, std::optional<std::uint64_t> time, const std::string& description) {
  const Held<GstTagList> tags(clip ? gst_tag_list_copy(clip) : gst_tag_list_new_empty());
  if (time) advance(tags.get(), *time);
  // A maker's own data, of any size, whose offsets would be wrong here.
  gst_tag_list_remove_tag(tags.get(), GST_TAG_APPLICATION_DATA);
  gst_tag_list_add(tags.get(), GST_TAG_MERGE_REPLACE, GST_TAG_IMAGE_ORIENTATION, "rotate-0", GST_TAG_DESCRIPTION,
                   description.c_str(), nullptr);
  const Held<GstBuffer> block(gst_tag_list_to_exif_buffer_with_tiff_header(tags.get()));
  GstMapInfo map;
  if (!block || !gst_buffer_map(block.get(), &map, GST_MAP_READ)) return "";
  std::string bytes(reinterpret_cast<const char*>(map.data), map.size);
  gst_buffer_unmap(block.get(), &map);
  return bytes;
}

std::string exif_in_jpeg(std::string_view bytes) {
  if (!bytes.starts_with("\xff\xd8")) return "";
  const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(bytes[at]); };
  // Segments, each with its length, up to the first that is neither APPn nor a comment.
  for (std::size_t at = 2; at + 4 <= bytes.size() && byte(at) == 0xff;) {
    const unsigned marker = byte(at + 1);
    if ((marker & 0xf0) != 0xe0 && marker != 0xfe) break;
    const std::size_t length = std::max<std::size_t>(byte(at + 2) * 256U + byte(at + 3), 2);
    const std::string_view content = bytes.substr(std::min(at + 4, bytes.size()), length - 2);
    if (marker == 0xe1 && content.size() == length - 2 && content.starts_with(kMark))
      return std::string(content.substr(kMark.size()));
    at += 2 + length;
  }
  return "";
}

namespace {

/// The EXIF block from a PNG's eXIf chunk, wherever it is. `size`: bytes of the file.
std::string exif_in_png(std::ifstream& file, std::uint64_t size) {
  std::array<unsigned char, 8> head{};
  for (std::uint64_t at = 8; at + head.size() <= size;) {
    file.seekg(static_cast<std::streamoff>(at));
    if (!file.read(reinterpret_cast<char*>(head.data()), head.size())) break;
    const std::uint64_t length = GST_READ_UINT32_BE(head.data());
    if (length > size - at) break;
    if (std::equal(head.begin() + 4, head.end(), "eXIf")) {
      std::string block(length, '\0');
      return file.read(block.data(), static_cast<std::streamsize>(length)) ? block : "";
    }
    at += length + 12;
  }
  return "";
}

}  // namespace

ExifBlock exif_in(const std::string& path) {
  constexpr std::size_t kHead = 1 << 18;  // bytes: a few segments of a JPEG, the directories of raw files
  std::error_code none;
  if (!std::filesystem::is_regular_file(path, none)) return {};  // a pipe's data are for the decoder
  std::ifstream file(path, std::ios::binary);
  std::string head(kHead, '\0');
  file.read(head.data(), kHead);
  head.resize(static_cast<std::size_t>(file.gcount()));
  file.clear();
  if (head.starts_with("\x89PNG\r\n")) return {exif_in_png(file, std::filesystem::file_size(path, none))};
  // Olympus and Panasonic use their own marks after the byte order.
  if (head.starts_with("MM\0*"sv) || head.starts_with("II*\0"sv) || head.starts_with("IIU\0"sv) ||
      head.starts_with("IIRO") || head.starts_with("IIRS"))
    return {head};
  return {exif_in_jpeg(head), true};
}

std::unique_ptr<GstTagList, UnrefTags> tags_of_exif(const std::string& block) {
  if (block.empty()) return nullptr;
  // From the date of a clock that was never set, GStreamer makes an empty tag, and complains whenever it is
  // copied.
  constexpr std::string_view kUnset = "0000:00:00 00:00:00", kReal = "1970:01:01 00:00:00";
  std::string sound = block;
  bool unset = false;
  for (std::size_t at = 0; (at = sound.find(kUnset, at)) != std::string::npos; unset = true)
    sound.replace(at, kUnset.size(), kReal);
  const Held<GstBuffer> buffer(gst_buffer_new_allocate(nullptr, sound.size(), nullptr));
  gst_buffer_fill(buffer.get(), 0, sound.data(), sound.size());
  std::unique_ptr<GstTagList, UnrefTags> tags(gst_tag_list_from_exif_buffer_with_tiff_header(buffer.get()));
  if (tags && unset) gst_tag_list_remove_tag(tags.get(), GST_TAG_DATE_TIME);
  return tags;
}

}  // namespace framequality::apps
