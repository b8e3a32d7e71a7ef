// SPDX-License-Identifier: LGPL-2.1-or-later
// Records of CSV files (RFC 4180) as text.
#include "apps/bliinds/csv.h"

#include <array>
#include <charconv>

namespace framequality::tools {

std::string csv_record(const std::vector<std::string>& fields) {
  std::string record;
  for (const std::string& field : fields) {
    if (&field != fields.data()) record += ',';
    if (field.find_first_of(",\"\r\n") == field.npos) {
      record += field;
      continue;
    }
    record += '"';
    for (const char c : field) {
      if (c == '"') record += c;
      record += c;
    }
    record += '"';
  }
  return record + '\n';
}

std::string digits(double value) {
  std::array<char, 32> text;
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), value).ptr};
}

}  // namespace framequality::tools
