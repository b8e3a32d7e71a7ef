// SPDX-License-Identifier: LGPL-2.1-or-later
// Metadata on frames as elements of others may attach it.
#include "tests/fuzz/metas.h"

namespace framequality::fuzz {
namespace {

constexpr const char* kNames[] = {"GstSharpnessMeta", "GstSharpnessMeta", "GstSharpnessMeta", "GstBliindsMeta"};

/// All that our elements look for.
const char* any_field(Dice& dice) {
  return dice.of({"score", "metric", "width", "height", "roi", "zones", "zone-columns", "zone-rows",
                  "zone-gradient-energies", "noise", "mean", "clipped-black", "clipped-white", "gradient-energy",
                  "gradient-noise", "normalize", "passed"});
}

void set_roi(Dice& dice, GstStructure* s) {
  GValue array = G_VALUE_INIT, item = G_VALUE_INIT;
  g_value_init(&array, GST_TYPE_ARRAY);
  g_value_init(&item, G_TYPE_INT);
  for (int i = dice.one_in(10) ? dice.small(0, 6) : 4; i > 0; --i) {
    g_value_set_int(&item, dice.one_in(5) ? dice.of({0, -1, G_MAXINT, G_MININT, -50}) : dice.small(0, 120));
    gst_value_array_append_value(&array, &item);
  }
  gst_structure_take_value(s, "roi", &array);
}

void add_scores(Dice& dice, GstBuffer* buffer, const GstVideoInfo* info) {
  GstStructure* s = gst_custom_meta_get_structure(gst_buffer_add_custom_meta(buffer, dice.of(kNames)));
  gst_structure_set(s, "score", G_TYPE_DOUBLE, number(dice), "metric", G_TYPE_STRING,
                    dice.one_in(12) ? "brenner" : "tenengrad", nullptr);
  if (info && !dice.one_in(6))
    gst_structure_set(s, "width", G_TYPE_UINT, static_cast<guint>(GST_VIDEO_INFO_WIDTH(info)), "height", G_TYPE_UINT,
                      static_cast<guint>(GST_VIDEO_INFO_HEIGHT(info)), nullptr);
  if (!dice.one_in(3)) {
    const int columns = dice.small(1, 6), rows = dice.small(1, 6);
    gst_structure_set(s, "zone-columns", G_TYPE_UINT, static_cast<guint>(columns), "zone-rows", G_TYPE_UINT,
                      static_cast<guint>(rows), nullptr);
    const int zones = dice.one_in(10) ? dice.small(0, 40) : columns * rows;
    set_numbers(dice, s, "zones", zones);
    if (dice.one_in(3)) set_numbers(dice, s, "zone-gradient-energies", zones);
  }
  if (dice.one_in(4)) set_roi(dice, s);
  if (dice.one_in(2))
    for (const char* field : {"noise", "mean", "clipped-black", "clipped-white", "gradient-energy", "gradient-noise"})
      gst_structure_set(s, field, G_TYPE_DOUBLE, number(dice), nullptr);
  while (dice.one_in(4)) set_odd(dice, s, any_field(dice));
}

void add_regions(Dice& dice, GstBuffer* buffer) {
  const auto edge = [&] {
    return dice.one_in(4) ? dice.of({0U, G_MAXUINT, static_cast<guint>(G_MAXINT), G_MAXUINT / 2 + 1})
                          : static_cast<guint>(dice.in(0, 100));
  };
  for (int i = dice.one_in(10) ? dice.small(60, 70) : dice.small(1, 3); i > 0; --i) {
    GstVideoRegionOfInterestMeta* roi =
        gst_buffer_add_video_region_of_interest_meta(buffer, "face", edge(), edge(), edge(), edge());
    if (dice.one_in(3))
      gst_video_region_of_interest_meta_add_param(roi, gst_structure_new_empty(dice.of({"sharpness", "a"})));
  }
}

void add_overlay(Dice& dice, GstBuffer* buffer) {
  constexpr guint kSide = 8;
  GstBuffer* pixels = gst_buffer_new_allocate(nullptr, 4 * kSide * kSide, nullptr);
  gst_buffer_memset(pixels, 0, 99, 4 * kSide * kSide);
  gst_buffer_add_video_meta(pixels, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_OVERLAY_COMPOSITION_FORMAT_RGB, kSide, kSide);
  GstVideoOverlayRectangle* rectangle = gst_video_overlay_rectangle_new_raw(
      pixels, dice.small(-20, 200), dice.small(-20, 200), static_cast<guint>(dice.small(1, 90)), kSide,
      GST_VIDEO_OVERLAY_FORMAT_FLAG_NONE);
  GstVideoOverlayComposition* composition = gst_video_overlay_composition_new(rectangle);
  gst_buffer_add_video_overlay_composition_meta(buffer, composition);
  gst_video_overlay_composition_unref(composition);
  gst_video_overlay_rectangle_unref(rectangle);
  gst_buffer_unref(pixels);
}

}  // namespace

void register_metas() {
  static const gchar* no_tags[] = {nullptr};
  for (const char* name : kNames)
    if (!gst_meta_get_info(name)) gst_meta_register_custom(name, no_tags, nullptr, nullptr, nullptr);
}

void add_metas(Dice& dice, GstBuffer* buffer, const GstVideoInfo* info) {
  if (!dice.one_in(3)) add_scores(dice, buffer, info);
  if (dice.one_in(10)) add_regions(dice, buffer);
  if (dice.one_in(20)) add_overlay(dice, buffer);
}

double number(Dice& dice) { return dice.one_in(20) ? dice.odd() : dice.unit() * dice.of({1.0, 100.0, 1e5}); }

void set_numbers(Dice& dice, GstStructure* s, const char* field, int count) {
  const bool are_doubles = !dice.one_in(20);
  GValue array = G_VALUE_INIT, item = G_VALUE_INIT;
  g_value_init(&array, GST_TYPE_ARRAY);
  g_value_init(&item, are_doubles ? G_TYPE_DOUBLE : G_TYPE_INT);
  for (; count > 0; --count) {
    if (are_doubles)
      g_value_set_double(&item, number(dice));
    else
      g_value_set_int(&item, count);
    gst_value_array_append_value(&array, &item);
  }
  gst_structure_take_value(s, field, &array);
}

void set_odd(Dice& dice, GstStructure* s, const char* field) {
  switch (dice.small(0, 8)) {
    case 0:
      return gst_structure_remove_field(s, field);
    case 1:
      return gst_structure_set(s, field, G_TYPE_STRING, dice.of({"", "nan", "tenengrad"}), nullptr);
    case 2:
      return gst_structure_set(s, field, G_TYPE_INT, dice.of({0, -1, 1, G_MAXINT, G_MININT}), nullptr);
    case 3:
      return gst_structure_set(s, field, G_TYPE_UINT, dice.of({0U, 1U, 7U, G_MAXUINT, 65536U}), nullptr);
    case 4:
      return gst_structure_set(s, field, G_TYPE_UINT64, guint64{dice.word()}, nullptr);
    case 5:
      return gst_structure_set(s, field, G_TYPE_BOOLEAN, TRUE, nullptr);
    case 6:
      return set_numbers(dice, s, field, dice.small(0, 5));
    default:
      gst_structure_set(s, field, G_TYPE_DOUBLE, dice.odd(), nullptr);
  }
}

}  // namespace framequality::fuzz
