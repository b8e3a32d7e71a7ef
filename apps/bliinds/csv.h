// SPDX-License-Identifier: LGPL-2.1-or-later
// Tables as CSV files (RFC 4180): a header, then records of as many fields.
#pragma once

#include <cstddef>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace framequality::tools {

/// A file that is not what it should be. what(): file, line and reason.
class CsvError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A table and where it came from. Fields are bytes, names among them too.
class Table {
 public:
  struct Record {
    std::vector<std::string> fields;
    std::size_t line;  ///< that it begins on, from 1
  };

  /// Reads the text of `source`. Blank lines are skipped, LF or CRLF ends a record, a byte order mark is ignored.
  /// Throws CsvError.
  Table(std::string_view text, std::string source);

  const std::vector<Record>& records() const { return records_; }
  /// Place of a column. Throws CsvError if the header has none, or two, of this name.
  std::size_t column(std::string_view name) const;
  std::optional<std::size_t> find_column(std::string_view name) const;
  /// The field as a finite number. Throws CsvError.
  double number(const Record& record, std::size_t column) const;
  /// The field as a whole number from 0. Throws CsvError.
  std::size_t whole(const Record& record, std::size_t column) const;
  [[noreturn]] void refuse(std::size_t line, const std::string& reason) const;

 private:
  std::string source_;
  std::vector<std::string> header_;
  std::vector<Record> records_;
};

/// The whole of a file. Throws CsvError.
Table read_csv(const std::string& path);

/// One record, ended by LF. Fields are quoted where they have to be.
std::string csv_record(const std::vector<std::string>& fields);

/// The shortest digits that read back as this very number.
std::string digits(double value);

}  // namespace framequality::tools
