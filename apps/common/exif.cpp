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

/// A clip's date becomes its frame's. A mere day stays.
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
  // A maker's own data, of any size; its offsets would be wrong here.
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

std::unique_ptr<GstTagList, UnrefTags> tags_of_jpeg(const std::string& path) {
  std::error_code none;
  if (!std::filesystem::is_regular_file(path, none)) return nullptr;  // what a pipe gives is for the decoder
  std::ifstream file(path, std::ios::binary);
  std::array<unsigned char, 4> head{};
  const auto read = [&](std::size_t count) -> bool {
    return static_cast<bool>(file.read(reinterpret_cast<char*>(head.data()), static_cast<std::streamsize>(count)));
  };
  if (!read(2) || head[0] != 0xff || head[1] != 0xd8) return nullptr;
  // Segments, each with its length, up to the first that is neither APPn nor a comment.
  while (read(4) && head[0] == 0xff && ((head[1] & 0xf0) == 0xe0 || head[1] == 0xfe)) {
    const std::size_t length = head[2] * 256U + head[3];
    std::string content(std::max<std::size_t>(length, 2) - 2, '\0');
    if (!file.read(content.data(), static_cast<std::streamsize>(content.size()))) return nullptr;
    if (head[1] != 0xe1 || !content.starts_with(kMark)) continue;
    const std::size_t size = content.size() - kMark.size();
    const Held<GstBuffer> block(gst_buffer_new_allocate(nullptr, size, nullptr));
    gst_buffer_fill(block.get(), 0, content.data() + kMark.size(), size);
    return std::unique_ptr<GstTagList, UnrefTags>(gst_tag_list_from_exif_buffer_with_tiff_header(block.get()));
  }
  return nullptr;
}

}  // namespace framequality::apps
