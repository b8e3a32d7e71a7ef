// SPDX-License-Identifier: LGPL-2.1-or-later
// The table of scores: its rows as text, and output to stdout that keeps every file's rows together and in order.
#include "apps/scan/table.h"

#include "apps/common/json.h"
#include "apps/common/text.h"
#include "apps/common/threads.h"

#include <cerrno>
#include <nlohmann/json.hpp>
#include <unistd.h>
#include <utility>

namespace framequality::apps::scan {

namespace {

constexpr std::size_t kEnough = 1 << 20;  // bytes of the current file that may wait

}  // namespace

Table::Table(Format format, const MeterOptions& meter)
    : format_(format),
      metric_(meter.metric),
      columns_(static_cast<std::size_t>(meter.zone_columns)),
      rows_(static_cast<std::size_t>(meter.zone_rows)) {}

std::string Table::head() const {
  if (format_ == Format::kJsonLines) return "";
  std::string line = "file,frame,time,metric,score";
  if (columns_ * rows_ > 1)
    for (std::size_t row = 0; row < rows_; ++row)
      for (std::size_t column = 0; column < columns_; ++column)
        line += ",zone_" + std::to_string(row) + '_' + std::to_string(column);
  return line + ",damaged\n";
}

std::string Table::prefix(const std::string& file) const {
  return format_ == Format::kCsv ? csv_field(file) + ',' : valid_utf8(file);
}

void Table::append(std::string& text, const std::string& prefix, const Row& row) const {
  if (format_ == Format::kJsonLines) {
    text += dump(json_of(prefix, row)) + '\n';
    return;
  }
  text += prefix + std::to_string(row.frame) + ',';
  if (row.time) text += seconds(*row.time);
  text += ',' + metric_ + ',' + number(row.score);
  if (columns_ * rows_ > 1)
    for (const double zone : row.zones) text += ',' + number(zone);
  text += row.damaged ? ",1\n" : ",0\n";
}

Json Table::json_of(const std::string& file, const Row& row) const {
  Json json = {{"file", file},
               {"frame", row.frame},
               {"time", json_seconds(row.time)},
               {"metric", metric_},
               {"score", json_number(row.score)}};
  if (columns_ * rows_ > 1) {
    Json& zones = json["zones"] = Json::array();
    for (std::size_t i = 0; i < row.zones.size(); ++i) {
      if (i % columns_ == 0) zones.push_back(Json::array());
      zones.back().push_back(json_number(row.zones[i]));
    }
  }
  json["damaged"] = row.damaged;
  return json;
}

OrderedOutput::OrderedOutput(int descriptor, std::size_t files, std::function<void()> failed)
    : descriptor_(descriptor), failed_(std::move(failed)), parts_(files), thread_(make_thread([this] { run(); })) {}

OrderedOutput::~OrderedOutput() {
  if (thread_.joinable()) close();
}

void OrderedOutput::add(std::size_t index, std::string_view text) {
  std::unique_lock lock(mutex_);
  written_.wait(lock,
                [&] { return index != current_ || parts_[index].text.size() < kEnough || released_ || error_ != 0; });
  if (error_ != 0) return;
  parts_[index].text += text;
  if (index == current_) to_write_.notify_one();
}

void OrderedOutput::finish(std::size_t index) {
  const std::lock_guard lock(mutex_);
  parts_[index].finished = true;
  to_write_.notify_one();
}

void OrderedOutput::release() {
  const std::lock_guard lock(mutex_);
  released_ = true;
  written_.notify_all();
}

int OrderedOutput::close() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    released_ = true;
    to_write_.notify_one();
    written_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
  return error_;
}

int OrderedOutput::error() const {
  const std::lock_guard lock(mutex_);
  return error_;
}

void OrderedOutput::run() {
  std::unique_lock lock(mutex_);
  std::string text;
  while (error_ == 0 && current_ < parts_.size()) {
    Part& part = parts_[current_];
    if (part.text.empty()) {
      // At the end, text of later files follows, finished or not.
      if (part.finished || closed_) {
        std::string().swap(part.text);  // frees its memory too
        ++current_;
      } else {
        to_write_.wait(lock);
      }
      continue;
    }
    text.clear();
    std::swap(text, part.text);
    written_.notify_all();
    lock.unlock();
    const int failure = write(text) ? 0 : errno;
    lock.lock();
    error_ = failure;
  }
  written_.notify_all();
  if (error_ == 0) return;
  lock.unlock();
  failed_();
}

bool OrderedOutput::write(const std::string& text) {
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t count = ::write(descriptor_, text.data() + done, text.size() - done);
    if (count < 0 && errno != EINTR) return false;
    if (count > 0) done += static_cast<std::size_t>(count);
  }
  return true;
}

}  // namespace framequality::apps::scan
