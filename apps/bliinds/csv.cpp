// SPDX-License-Identifier: LGPL-2.1-or-later
// Tables as CSV files (RFC 4180): a header, then records of as many fields.
#include "apps/bliinds/csv.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <memory>
#include <utility>

namespace framequality::tools {

namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

/// Takes records off the front of a text.
class Reader {
 public:
  Reader(std::string_view text, const Table& table) : text_(text), table_(table) {
    if (text_.starts_with(kByteOrderMark)) text_.remove_prefix(kByteOrderMark.size());
  }

  /// The next record that is not a blank line; nullopt at the end.
  std::optional<Table::Record> next() {
    while (end_line()) continue;
    if (text_.empty()) return std::nullopt;
    Table::Record record{{}, line_};
    do record.fields.push_back(text_.starts_with('"') ? quoted() : plain());
    while (take(","));
    if (!text_.empty() && !end_line()) table_.refuse(line_, "a quote inside a field that does not begin with one");
    return record;
  }

 private:
  bool take(std::string_view what) {
    if (!text_.starts_with(what)) return false;
    text_.remove_prefix(what.size());
    return true;
  }
  bool end_line() {
    const bool ended = take("\r\n") || take("\n");
    line_ += ended;
    return ended;
  }
  std::string plain() {
    std::size_t n = std::min(text_.find_first_of(",\"\n"), text_.size());
    if (n > 0 && n < text_.size() && text_[n] == '\n' && text_[n - 1] == '\r') --n;
    std::string field(text_.substr(0, n));
    text_.remove_prefix(n);
    return field;
  }
  std::string quoted() {
    const std::size_t begin = line_;
    std::string field;
    text_.remove_prefix(1);
    for (;;) {
      const std::size_t n = text_.find('"');
      if (n == text_.npos) table_.refuse(begin, "a quote that does not end");
      field += text_.substr(0, n);
      line_ +=
          static_cast<std::size_t>(std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(n), '\n'));
      text_.remove_prefix(n + 1);
      if (!take("\"")) break;
      field += '"';
    }
    const bool ends = text_.empty() || text_[0] == ',' || text_[0] == '\n' || text_.starts_with("\r\n");
    if (!ends) table_.refuse(line_, "text behind the quote that ends a field");
    return field;
  }

  std::string_view text_;
  const Table& table_;
  std::size_t line_ = 1;
};

}  // namespace

Table::Table(std::string_view text, std::string source) : source_(std::move(source)) {
  Reader reader(text, *this);
  auto header = reader.next();
  if (!header) refuse(1, "no header: the file is empty");
  header_ = std::move(header->fields);
  while (auto record = reader.next()) {
    if (record->fields.size() != header_.size())
      refuse(record->line,
             std::to_string(record->fields.size()) + " fields, but the header has " + std::to_string(header_.size()));
    records_.push_back(std::move(*record));
  }
}

void Table::refuse(std::size_t line, const std::string& reason) const {
  throw CsvError(source_ + ": line " + std::to_string(line) + ": " + reason);
}

std::optional<std::size_t> Table::find_column(std::string_view name) const {
  const auto at = std::find(header_.begin(), header_.end(), name);
  if (at == header_.end()) return std::nullopt;
  if (std::find(at + 1, header_.end(), name) != header_.end()) refuse(1, "two columns '" + std::string(name) + "'");
  return static_cast<std::size_t>(at - header_.begin());
}

std::size_t Table::column(std::string_view name) const {
  const auto at = find_column(name);
  if (!at) refuse(1, "no column '" + std::string(name) + "'");
  return *at;
}

double Table::number(const Record& record, std::size_t column) const {
  const std::string& field = record.fields[column];
  double value = 0;
  const char* end = field.data() + field.size();
  const auto [at, error] = std::from_chars(field.data(), end, value);
  if (error != std::errc() || at != end || !std::isfinite(value))
    refuse(record.line, "column '" + header_[column] + "': '" + field + "' is not a finite number");
  return value;
}

std::size_t Table::whole(const Record& record, std::size_t column) const {
  const std::string& field = record.fields[column];
  std::size_t value = 0;
  const char* end = field.data() + field.size();
  const auto [at, error] = std::from_chars(field.data(), end, value);
  if (error != std::errc() || at != end)
    refuse(record.line, "column '" + header_[column] + "': '" + field + "' is not a whole number");
  return value;
}

Table read_csv(const std::string& path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), std::fclose);
  const auto fail = [&] { return CsvError(path + ": " + std::strerror(errno)); };
  if (!file) throw fail();
  std::string text;
  std::array<char, 65536> part;
  while (const std::size_t n = std::fread(part.data(), 1, part.size(), file.get())) text.append(part.data(), n);
  if (std::ferror(file.get())) throw fail();
  return {text, path};
}

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
