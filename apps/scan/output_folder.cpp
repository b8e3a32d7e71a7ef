// SPDX-License-Identifier: LGPL-2.1-or-later
// --output: a table and a record of each file in one folder, safe against crashes, so that finished files need not be
// scanned again.
#include "apps/scan/output_folder.h"

#include "apps/common/json.h"
#include "apps/common/text.h"
#include "apps/common/threads.h"
#include "apps/common/version.h"
#include "apps/scan/moments.h"
#include "apps/scan/report.h"

#include <glib.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <dirent.h>
#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace framequality::apps::scan {

namespace {

constexpr char kDraft[] = ".framequality-";
constexpr std::size_t kBootDigits = 8, kRandom = 6;
constexpr time_t kSettled = 60, kAbandoned = 86'400;  // s
constexpr std::size_t kMostKept = 64;                 // files that wait for the disk
constexpr unsigned kReaders = 16;  // records read at once: a network's file system takes its time for each
constexpr char kEndings[][7] = {".csv", ".jsonl"};

/// Prefix of this run's drafts: all programs of this kernel see a lock on one, other machines perhaps not.
const std::string& draft_prefix() {
  static const std::string prefix = [] {
    std::string boot(kBootDigits, '0');
    const int descriptor = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    if (descriptor >= 0 && read(descriptor, boot.data(), boot.size()) != static_cast<ssize_t>(boot.size()))
      boot.assign(kBootDigits, '0');
    if (descriptor >= 0) close(descriptor);
    return kDraft + boot + '-';
  }();
  return prefix;
}

/// Removes a draft that no running program writes: locked by nobody on this machine, or a day old.
void clear_draft(const std::string& folder, const std::string& name) {
  if (!name.starts_with(kDraft) || name.size() != draft_prefix().size() + kRandom) return;
  const std::string path = folder + '/' + name;
  const int descriptor = open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  struct stat about = {};
  if (descriptor >= 0 && fstat(descriptor, &about) == 0 && S_ISREG(about.st_mode)) {
    const time_t age = std::time(nullptr) - about.st_mtime;
    // A new one may be about to be locked.
    const bool ours = name.starts_with(draft_prefix()) && age > kSettled;
    if (age > kAbandoned || (ours && flock(descriptor, LOCK_EX | LOCK_NB) == 0)) unlink(path.c_str());
  }
  if (descriptor >= 0) close(descriptor);
}

std::vector<std::array<double, 3>> curve_of(const std::vector<Moment>& moments) {
  std::vector<std::array<double, 3>> curve;
  const std::size_t count = moments.size(), steps = std::min(count, kCurveSteps);
  for (std::size_t step = 0; step < steps; ++step) {
    const std::size_t begin = step * count / steps, end = (step + 1) * count / steps;
    double sum = 0, low = moments[begin].score, high = low;
    for (std::size_t i = begin; i < end; ++i) {
      sum += moments[i].score;
      low = std::min(low, moments[i].score);
      high = std::max(high, moments[i].score);
    }
    curve.push_back({sum / static_cast<double>(end - begin), low, high});
  }
  return curve;
}

Record record_of(const Result& result) {
  Record record;
  record.file = valid_utf8(result.name);
  record.program = kVersion;
  record.rows = result.moments.size();
  record.frames = result.decoded;
  record.error = result.error;
  record.seconds = result.seconds;
  record.width = result.video.width;
  record.height = result.video.height;
  record.rate = result.video.rate_n > 0 ? static_cast<double>(result.video.rate_n) / result.video.rate_d : 0;
  record.format = result.video.format;
  record.codec = valid_utf8(result.video.codec);
  record.length = result.length;
  record.timed = result.timed;
  if (result.moments.empty()) return record;
  std::vector<double> scores;
  scores.reserve(result.moments.size());
  for (const Moment& m : result.moments) scores.push_back(m.score);
  const Statistics s = statistics(std::move(scores));
  const auto extreme = [&](std::size_t at) {
    const Moment& m = result.moments[at];
    return Extreme{m.score, m.frame, m.time};
  };
  record.scores = {extreme(s.min_at), extreme(s.max_at), s.median};
  record.curve = curve_of(result.moments);
  return record;
}

}  // namespace

std::map<std::string, std::string> record_options(const Options& options) {
  const MeterOptions& meter = options.meter;
  std::map<std::string, std::string> all{
      {"format", options.format == Format::kCsv ? "\"csv\"" : "\"jsonl\""},
      {"metric", dump(json_text(meter.metric))},
      {"prefilter", dump(json_text(meter.prefilter))},
      {"downscale", std::to_string(meter.downscale)},
      {"normalize", dump(json_text(meter.normalize))},
      {"noise_correction", meter.noise_correction ? "true" : "false"},
      {"zone_columns", std::to_string(meter.zone_columns)},
      {"zone_rows", std::to_string(meter.zone_rows)},
      {"roi", dump(meter.roi ? Json(*meter.roi) : Json())},
      {"interval_ns", std::to_string(meter.interval)},
  };
  // Not at its default: older records do not have this option.
  if (meter.significant_bits != 0) all["significant_bits"] = std::to_string(meter.significant_bits);
  return all;
}

OutputFolder::OutputFolder(const Options& options, std::function<void(const std::string& text)> failed)
    : options_(options),
      failed_(std::move(failed)),
      record_options_(record_options(options)),
      head_(Table(options.format, options.meter).head()),
      ending_(kEndings[options.format == Format::kJsonLines ? 1 : 0]),
      done_(options.inputs.size()),
      held_(options.inputs.size()) {
  if (g_mkdir_with_parents(options.output.c_str(), 0777) != 0)
    throw std::runtime_error("cannot make the folder " + printable(options.output) + ": " + std::strerror(errno));
  (void)DraftFile::open(options.output + "/table", draft_prefix());  // fails now if the folder is not writable
  const std::unordered_set<std::string> there = clear();
  leave_out_copies();
  if (options.resume) find_done(there);
  thread_ = make_thread([this] { run(); });
}

OutputFolder::~OutputFolder() {
  try {
    close(false);
  } catch (const std::runtime_error&) {  // only of what is written if complete
  }
}

// --- Existing tables ------------------------------------------------------------------------------------------------

OutputFolder::State OutputFolder::state_of(const std::string& name) {
  struct stat about = {};
  bool there = stat(name.c_str(), &about) == 0;
  if (gchar* path = there ? nullptr : g_filename_from_uri(name.c_str(), nullptr, nullptr)) {
    there = stat(path, &about) == 0;
    g_free(path);
  }
  if (!there) return {};
  return {static_cast<std::uint64_t>(about.st_size),
          std::int64_t{about.st_mtim.tv_sec} * 1'000'000'000 + about.st_mtim.tv_nsec};
}

/// The names of the records, from one listing: looking up each of 100,000 would take long.
std::unordered_set<std::string> OutputFolder::clear() const {
  const std::unique_ptr<DIR, int (*)(DIR*)> listing(opendir(options_.output.c_str()), closedir);
  if (!listing) throw std::runtime_error("cannot read " + printable(options_.output) + ": " + std::strerror(errno));
  std::unordered_set<std::string> records;
  while (const dirent* entry = readdir(listing.get())) {
    std::string name = entry->d_name;
    clear_draft(options_.output, name);
    if (is_record_name(name)) records.insert(std::move(name));
  }
  return records;
}

void OutputFolder::leave_out_copies() {
  std::unordered_set<std::string_view> seen;
  for (std::size_t i = 0; i < done_.size(); ++i) done_[i] = seen.insert(options_.inputs[i].name).second ? 0 : 1;
}

void OutputFolder::find_done(const std::unordered_set<std::string>& there) {
  std::atomic<std::size_t> next = 0;
  const auto read_some = [&] {
    for (std::size_t i = 0; (i = next++) < done_.size();) {
      if (done_[i]) continue;
      const std::string stem = record_stem(options_.inputs[i].name);
      if (there.contains(stem + kRecordEnding)) look_at(i, stem);
    }
  };
  in_threads(std::min<std::size_t>(kReaders, there.size()), read_some);
}

void OutputFolder::look_at(std::size_t index, const std::string& stem) {
  const std::string& name = options_.inputs[index].name;
  const std::string begin = options_.output + '/' + stem;
  try {
    const Record record = read_record(begin + kRecordEnding, false);
    struct stat table = {};
    if (!record.error.empty() || record.options != record_options_ || record.file != valid_utf8(name) ||
        record.table != stem + ending_ || lstat((begin + ending_).c_str(), &table) != 0 || !S_ISREG(table.st_mode) ||
        static_cast<std::uint64_t>(table.st_size) != record.bytes)
      return;
    const State state = state_of(name);
    done_[index] = state == State{record.size, record.modified} ? 1 : 0;
    held_[index] = record.size && !state.size ? 1 : 0;
  } catch (const std::runtime_error&) {  // an invalid record is replaced
  }
}

// --- Tables being written -------------------------------------------------------------------------------------------

void OutputFolder::begin(std::size_t index) {
  try {
    const std::string& name = options_.inputs[index].name;
    const State state = state_of(name);
    std::unique_ptr<Draft> draft(
        new Draft{DraftFile::open(options_.output + '/' + record_stem(name) + ending_, draft_prefix()), state, 0, {}});
    const std::lock_guard lock(mutex_);
    drafts_[index] = std::move(draft);
  } catch (const std::runtime_error& e) {
    failed_(e.what());
    return;
  }
  add(index, head_);
}

void OutputFolder::add(std::size_t index, std::string_view text) {
  Draft* draft = nullptr;
  {
    const std::lock_guard lock(mutex_);
    const auto found = drafts_.find(index);
    if (broken_ || found == drafts_.end()) return;
    draft = found->second.get();
  }
  try {
    const std::lock_guard lock(draft->mutex);
    draft->table.append(text);
    draft->bytes += text.size();
  } catch (const std::runtime_error& e) {
    {
      const std::lock_guard lock(mutex_);
      broken_ = true;
    }
    failed_(e.what());
  }
}

bool OutputFolder::keep(std::size_t index, const Result& result) {
  if (!result.error.empty()) errors_[index] = result.error;
  const std::string& name = options_.inputs[index].name;
  const State now = state_of(name);
  std::unique_lock lock(mutex_);
  const auto found = drafts_.find(index);
  if (found == drafts_.end()) return true;
  const std::unique_ptr<Draft> draft = std::move(found->second);
  drafts_.erase(found);
  // A file system that is not mounted today must not cost yesterday's tables.
  if (broken_ || (held_[index] != 0 && !result.error.empty() && !draft->state.size)) return true;
  Record record = record_of(result);
  record.size = draft->state.size;
  record.modified = draft->state.modified;
  record.options = record_options_;
  record.unit = unit_of(options_.meter.metric);
  const std::string stem = record_stem(name);
  record.table = stem + ending_;
  record.bytes = draft->bytes;
  changed_.wait(lock, [this] { return kept_.size() < kMostKept || broken_; });
  kept_.push_back({std::move(draft->table), std::move(record), stem});
  changed_.notify_all();
  return now == draft->state;
}

void OutputFolder::close(bool complete) {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    drafts_.clear();
    changed_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
  if (!complete || broken_) return;
  std::string text = "file,error\n";
  for (const auto& [index, error] : errors_)
    text += csv_field(options_.inputs[index].name) + ',' + csv_field(error) + '\n';
  const auto [index, count] = options_.shard;
  const std::string part = count > 1 ? '-' + std::to_string(index) + "-of-" + std::to_string(count) : "";
  DraftFile list = DraftFile::open(options_.output + "/errors" + part + ".csv", draft_prefix());
  list.append(text);
  list.publish();
}

void OutputFolder::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return closed_ || !kept_.empty(); });
    if (kept_.empty()) return;
    std::deque<Kept> batch;
    std::swap(batch, kept_);
    changed_.notify_all();
    const bool broken = broken_;
    lock.unlock();
    std::string failure;
    try {
      if (!broken) publish(batch);
    } catch (const std::runtime_error& e) {
      failure = e.what();
    }
    batch.clear();
    lock.lock();
    if (failure.empty()) continue;
    broken_ = true;
    changed_.notify_all();
    lock.unlock();
    failed_(failure);
    lock.lock();
  }
}

/// Each step reaches the disk before the next begins, so that no record ever describes another table.
void OutputFolder::publish(std::deque<Kept>& batch) const {
  const auto path = [&](const Kept& kept, std::string_view ending) {
    return options_.output + '/' + kept.stem + std::string(ending);
  };
  bool replaced = false;
  for (const Kept& kept : batch)
    for (const std::string_view ending : {kRecordEnding, kEndings[0], kEndings[1]}) {
      // The new table replaces it by itself.
      if (ending == ending_) continue;
      if (unlink(path(kept, ending).c_str()) == 0)
        replaced = true;
      else if (errno != ENOENT)
        throw std::runtime_error("cannot replace " + printable(path(kept, ending)) + ": " + std::strerror(errno));
    }
  if (replaced) sync_folder(options_.output);
  for (Kept& kept : batch) kept.table.publish_unsynced();
  sync_folder(options_.output);
  for (const Kept& kept : batch) {
    DraftFile record = DraftFile::open(path(kept, kRecordEnding), draft_prefix());
    record.append(record_json(kept.record));
    record.publish_unsynced();
  }
  sync_folder(options_.output);
}

}  // namespace framequality::apps::scan
