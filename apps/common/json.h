// SPDX-License-Identifier: LGPL-2.1-or-later
// JSON documents: values in the form the programs write, and the text of a document. Code that builds one includes
// <nlohmann/json.hpp> itself: it takes long to compile.
#pragma once

#include <array>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace framequality::apps {

/// Members keep the order in which they were added.
using Json = nlohmann::ordered_json;

/// A text; each byte that is not UTF-8 becomes U+FFFD.
Json json_text(std::string_view bytes);

/// Reads back as the same double; without a fraction if it has none. Null if it is not finite.
Json json_number(double value);

/// Rounded to this many significant digits. Null if it is not finite, or empty.
Json json_rounded(std::optional<double> value, int digits);

/// Seconds, exact to the ns, always with a fraction; null if unknown.
Json json_seconds(std::optional<std::uint64_t> ns);

/// Mean, minimum and maximum of equally many rows each, for plots.
Json json_curve(const std::vector<std::array<double, 3>>& curve);

/// The document on one line, harmless to a terminal: control characters are escaped.
std::string dump(const Json& json);

/// JSON that a script element of an HTML page can hold: every `<` inside its strings escaped.
std::string json_for_html(std::string_view json);

// Documents that may be too large for memory are assembled from the texts of their parts.

/// Adds a member to the text of an object.
void add_member(std::string& object, std::string_view name, std::string_view json);

/// An array of texts, each on a line of its own.
std::string array_of_lines(const std::vector<std::string>& items);

}  // namespace framequality::apps
