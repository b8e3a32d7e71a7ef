// SPDX-License-Identifier: LGPL-2.1-or-later
// Values of the property `device` and their descriptions, made from the list of backends.
#include "gst/base/device_choice.h"

#include "device/backend.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

namespace framequality {

namespace {

/// "a, b or c", or with another last word.
std::string listed(const std::vector<std::string>& words, const char* last) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) text += (i == 0 ? "" : i + 1 < words.size() ? ", " : last) + words[i];
  return text;
}

/// All backends by the number of their value, which does not change when others are inserted.
std::vector<const Backend*> by_number() {
  const auto all = backends();
  std::vector<const Backend*> sorted(all.begin(), all.end());
  std::sort(sorted.begin(), sorted.end(), [](const Backend* a, const Backend* b) { return a->number < b->number; });
  return sorted;
}

}  // namespace

}  // namespace framequality

using namespace framequality;

GType fq_device_choice_get_type() {
  static const GType type = [] {
    std::vector<std::string> better;
    for (const Backend* backend : backends())
      if (!is_cpu(*backend)) better.emplace_back(backend->title);
    const std::string best =
        listed(better, " or ") + " where a usable device is cheaper, else " + cpu_place().backend->title;
    // GLib keeps all of it forever.
    static auto& values = *new std::vector<GEnumValue>;
    values.push_back({static_cast<int>(DeviceChoice::kAuto), g_strdup(best.c_str()), "auto"});
    for (const Backend* backend : by_number()) {
      const std::string text = std::string(backend->title) +
                               (is_cpu(*backend) ? "" : "; without a usable device, the change to READY fails");
      values.push_back({backend->number, g_strdup(text.c_str()), backend->name});
    }
    values.push_back({});
    return g_enum_register_static("FqDevice", values.data());
  }();
  return type;
}

const char* framequality::active_device_text() {
  std::vector<std::string> names;
  for (const Backend* backend : by_number()) names.emplace_back(backend->name);
  return g_intern_string(("Report the device in use: " + listed(names, " or ") + "; empty in state NULL").c_str());
}
