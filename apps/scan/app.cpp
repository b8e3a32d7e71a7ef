// SPDX-License-Identifier: LGPL-2.1-or-later
// A run of framequality-scan: when and where each file is scanned, and what happens to the results.
#include "apps/scan/app.h"

#include "apps/common/contexts.h"
#include "apps/common/signals.h"
#include "apps/common/text.h"
#include "apps/common/threads.h"
#include "apps/common/version.h"
#include "apps/scan/choices.h"
#include "apps/scan/job.h"
#include "apps/scan/machine.h"
#include "apps/scan/manifest.h"
#include "apps/scan/options.h"
#include "apps/scan/output_folder.h"
#include "apps/scan/outputs.h"
#include "apps/scan/progress.h"
#include "apps/scan/report.h"
#include "apps/scan/set_pictures.h"
#include "apps/scan/summary.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace framequality::apps::scan {

namespace {

// Squares on a 16:9 image. They hardly cost time.
constexpr int kReportColumns = 16, kReportRows = 9;
constexpr std::size_t kPlenty = 16;  // files whose threads are looked for at once

/// The zones of a report are measured even if the table has none. Uses the GPU that is tried first.
MeterOptions meter_of(const Options& options) {
  MeterOptions meter = options.meter;
  if (!options.gpus.empty()) meter.cuda_device_id = options.gpus.front();
  if (!options.report.empty() && meter.zone_columns * meter.zone_rows == 1) {
    meter.zone_columns = kReportColumns;
    meter.zone_rows = kReportRows;
  }
  return meter;
}

/// Each file's share of the work.
std::vector<double> weights(const std::vector<Input>& inputs, const OutputFolder* folder) {
  std::vector<double> sizes;
  for (const Input& input : inputs) {
    if (folder && folder->is_done(sizes.size())) {
      sizes.push_back(0);
      continue;
    }
    struct stat about = {};
    sizes.push_back(stat(input.name.c_str(), &about) == 0 ? static_cast<double>(about.st_size) + 1 : 1);
  }
  return sizes;
}

class App {
 public:
  explicit App(const Options& options)
      : options_(options),
        machine_(options, [this] { refill(); }),
        meter_(meter_of(options)),
        facts_(try_meter(meter_)),
        table_(options.format, options.meter),
        folder_(options.output.empty()
                    ? nullptr
                    : std::make_unique<OutputFolder>(options, [this](const std::string& text) { fail(text); })),
        weights_(weights(options.inputs, folder_.get())),
        jobs_(options.inputs.size()),
        texts_(options.inputs.size()),
        parts_(options.inputs.size()),
        choices_(options),
        set_pictures_(options, meter_, *picture_threads_, machine_, choices_, calls_of_set()),
        console_(options.progress == ProgressFormat::kJson ? Console::Kind::kJson
                 : options.quiet                           ? Console::Kind::kPlain
                                                           : Console::Kind::kBar),
        loop_(g_main_loop_new(nullptr, FALSE)),
        output_(STDOUT_FILENO, options.inputs.size() + 1, [this] { fail(""); }) {}
  ~App() {
    jobs_.clear();
    for (const guint source : sources_) g_source_remove(source);
    g_main_loop_unref(loop_);
  }
  App(const App&) = delete;
  App& operator=(const App&) = delete;

  /// Runs everything; returns the exit status.
  int run() {
    check_outputs(options_);
    // The header is part 0 of the output.
    if (!folder_) output_.add(0, table_.head());
    output_.finish(0);
    signals_ = std::make_unique<Signals>([this](int signal) { heed(signal); });
    if (console_.interval() > 0) sources_.push_back(g_timeout_add(console_.interval(), call<&App::redraw>, this));
    if (!options_.skipped.empty() && !options_.quiet) say(options_.skipped);
    say_how();
    say_what_is_done();
    start_jobs();
    if (ended_ == jobs_.size()) place();
    if (!placed_) g_main_loop_run(loop_);
    // Streams stop before the last rows are written; then only the rows themselves wait for a reader of stdout.
    output_.release();
    end_waiting();
    const bool complete = placed_;
    if (options_.progress == ProgressFormat::kJson) redraw();  // the final state
    take_finished();
    jobs_.clear();
    FileScan::wait_for_retired();
    const int write_error = output_.close();
    print_texts(true);
    close_folder(complete);
    return status(complete, write_error);
  }

 private:
  template <gboolean (App::*method)()>
  static gboolean call(gpointer self) {
    return (static_cast<App*>(self)->*method)();
  }

  void heed(int signal) {
    signal_ = signal;
    // The main loop itself may be waiting for a reader of stdout that does not read.
    output_.release();
    g_idle_add(call<&App::quit>, this);
  }

  /// Starts files first, then further parts of long ones.
  void start_jobs() {
    while (next_ < jobs_.size() && next_ - ended_ < machine_.files() && machine_.has_place() && may_begin())
      start_job(next_++);
    std::erase_if(long_files_, [this](std::size_t i) { return !jobs_[i]; });
    // In turn, so that they share the free places.
    for (bool any = true; any && machine_.has_spare();) {
      any = false;
      for (const std::size_t i : long_files_) {
        Job& job = *jobs_[i];
        if (!machine_.has_spare() || job.scans() >= machine_.scans_of_a_file(job.is_on_gpu())) continue;
        const int gpu = machine_.take_place();
        if (job.add_scan(gpu))
          any = true;
        else
          machine_.free_place(gpu);
      }
    }
  }

  /// Where threads are scarce, a file waits for others: probing for threads must take none from a file that is being
  /// opened.
  bool may_begin() {
    if (next_ == ended_ && !has_plenty_)
      has_plenty_ = has_threads(kThreadsToBegin * std::min(machine_.files(), kPlenty));
    if (next_ == ended_ || has_plenty_) return true;
    const bool opening =
        std::any_of(jobs_.begin(), jobs_.end(), [](const auto& job) { return job && job->frames() == 0; });
    return !opening && has_threads(kThreadsToBegin);
  }

  void start_job(std::size_t i) {
    if (folder_ && folder_->is_done(i)) {
      texts_[i] = "";
      ++ended_;
      return;
    }
    if (folder_) folder_->begin(i);
    const std::string& name = options_.inputs[i].name;
    RowOutput& output = folder_ ? static_cast<RowOutput&>(*folder_) : output_;
    Job::Outlet outlet{table_, output, *picture_threads_, {}, {}, {}, {}, {}, {}};
    outlet.warned = [this, &name](const std::string& text) { say(printable(name) + ": warning: " + printable(text)); };
    outlet.failed = [this](const std::string& text) { fail(text); };
    outlet.decoded = [this](bool on_gpu) { machine_.saw_decoder(on_gpu); };
    outlet.cuttable = [this, i] {
      long_files_.push_back(i);
      start_jobs();
    };
    outlet.freed = [this](int gpu) {
      machine_.free_place(gpu);
      g_idle_add(call<&App::refill>, this);
    };
    outlet.ended = [this, i] {
      finished_.push_back(i);
      g_idle_add(call<&App::reap>, this);
    };
    // Part 0 of the output is its header.
    jobs_[i] = std::make_unique<Job>(options_.inputs[i], folder_ ? i : i + 1, options_, meter_, machine_.take_place(),
                                     std::move(outlet));
    jobs_[i]->start();
  }

  gboolean refill() {
    const std::size_t ended = ended_;
    start_jobs();
    // Its remaining work was done already.
    if (ended_ > ended && ended_ == jobs_.size()) g_idle_add(call<&App::place>, this);
    return G_SOURCE_REMOVE;
  }

  void take_finished() {
    for (const std::size_t i : finished_) {
      Result& result = jobs_[i]->result();
      std::string text;
      if (!result.moments.empty() && !options_.quiet && options_.progress != ProgressFormat::kJson)
        text = summary(result, meter_);
      if (!result.error.empty()) {
        ++failed_;
        text += (text.empty() ? "" : "\n") + std::string(kName) + ": " + printable(result.name) + ": " +
                printable(result.error);
      }
      texts_[i] = text;
      if (folder_ && !folder_->keep(i, result))
        say(printable(result.name) + ": warning: the file changed during the scan");
      if (!options_.report.empty()) parts_[i] = report_part(result);
      devices_.insert(result.video.devices.begin(), result.video.devices.end());
      frames_ += jobs_[i]->frames();
      done_ += weights_[i];
      try {
        choices_.add(i, std::move(result));
      } catch (const std::exception& e) {
        fail(e.what());
      }
      jobs_[i].reset();
      ++ended_;
    }
    finished_.clear();
  }

  gboolean reap() {
    take_finished();
    print_texts(false);
    start_jobs();
    if (ended_ == jobs_.size()) g_idle_add(call<&App::place>, this);
    return G_SOURCE_REMOVE;
  }

  /// Places one chosen image at a time, so that signals are handled in between.
  gboolean place() {
    try {
      if (signal_ == 0 && !has_failed()) {
        if (choices_.place_next()) return G_SOURCE_CONTINUE;
        if (set_pictures_.next()) return G_SOURCE_REMOVE;
        placed_ = true;
      }
    } catch (const std::exception& e) {
      fail(e.what());
    }
    g_main_loop_quit(loop_);
    return G_SOURCE_REMOVE;
  }

  /// Prints in the order of the files; `all`: also those that would wait for another.
  void print_texts(bool all) {
    for (; printed_ < texts_.size() && (all || texts_[printed_]); ++printed_)
      if (texts_[printed_] && !texts_[printed_]->empty()) console_.line(*texts_[printed_]);
  }

  SetPictures::Calls calls_of_set() {
    return {[this](const std::string& name, const std::string& text) {
              say(printable(name) + ": warning: " + printable(text));
            },
            [this](const std::string& why) { fail(why); }, [this] { g_idle_add(call<&App::place>, this); }};
  }

  std::vector<int> gpus() const {
    std::vector<int> all;
    for (const auto& [gpu, scans] : machine_.gpus()) all.push_back(gpu);
    return all;
  }

  /// Prints the options that reproduce a set's scores.
  void say_how() {
    if (!options_.set || options_.quiet) return;
    const MeterOptions& m = options_.meter;
    console_.line("scored with --metric " + m.metric + " --prefilter " + m.prefilter + " --downscale " +
                  std::to_string(m.downscale) + (m.normalize == "none" ? "" : " --normalize " + m.normalize) +
                  (m.noise_correction ? " --noise-correction" : ""));
  }

  void say_what_is_done() {
    if (!options_.resume || options_.quiet) return;
    std::size_t done = 0;
    for (std::size_t i = 0; i < jobs_.size(); ++i) done += folder_->is_done(i) ? 1 : 0;
    console_.line(std::to_string(done) + " of " + std::to_string(jobs_.size()) + " files were already done");
  }

  void close_folder(bool complete) {
    try {
      if (folder_) folder_->close(complete);
    } catch (const std::runtime_error& e) {
      fail(e.what());
    }
  }

  void say(const std::string& text) { console_.line(std::string(kName) + ": " + text); }

  gboolean redraw() {
    double done = done_;
    std::uint64_t frames = frames_;
    std::optional<std::size_t> shown;
    for (std::size_t i = 0; i < next_; ++i) {
      if (!jobs_[i]) continue;
      if (!shown) shown = i;
      done += weights_[i] * jobs_[i]->done();
      frames += jobs_[i]->frames();
    }
    double all = 0;
    for (const double weight : weights_) all += weight;
    console_.show({shown ? options_.inputs[*shown].name : "", shown ? *shown + 1 : options_.inputs.size(),
                   options_.inputs.size(), std::min(1.0, all > 0 ? done / all : 1), frames, ended_, failed_});
    return G_SOURCE_CONTINUE;
  }

  /// Ends the run with this reason; an empty one stands for the output's error. Any thread.
  void fail(const std::string& reason) {
    {
      const std::lock_guard lock(mutex_);
      failing_ = true;
      if (fatal_.empty()) fatal_ = reason;
    }
    // Not quit directly: the loop may not be running yet.
    g_idle_add(call<&App::quit>, this);
  }

  bool has_failed() {
    const std::lock_guard lock(mutex_);
    return failing_;
  }

  gboolean quit() {
    g_main_loop_quit(loop_);
    return G_SOURCE_REMOVE;
  }

  /// The facts, including the devices that measured.
  MeterFacts facts() const {
    MeterFacts facts = facts_;
    if (!devices_.empty()) facts.device.clear();
    for (const std::string& device : devices_) facts.device += (facts.device.empty() ? "" : ", ") + device;
    return facts;
  }

  /// Text about the results that an interrupted run keeps.
  std::string kept() const {
    std::string text = (signal_ == SIGINT ? "interrupted: " : "terminated: ") + std::to_string(ended_) + " of " +
                       std::to_string(texts_.size()) + " files finished";
    text += folder_ ? "; their tables are kept in " + printable(options_.output) +
                          (options_.set && options_.picks() ? "" : ", --resume scans the rest")
                    : "; the rows written so far are kept";
    if (!options_.export_dir.empty())
      text += "; " + std::to_string(choices_.exported()) + " images are kept in " + printable(options_.export_dir);
    for (const std::string* file : {&options_.report, &options_.manifest})
      if (!file->empty()) text += "; " + printable(*file) + " was not written";
    return text;
  }

  int status(bool complete, int write_error) {
    if (write_error == EPIPE) return kSignalled + SIGPIPE;
    if (write_error != 0) fatal_ = std::string("cannot write the table: ") + std::strerror(write_error);
    if (fatal_.empty() && signal_ != 0) {
      if (!complete && !options_.quiet) say(kept());
      return kSignalled + signal_;
    }
    if (fatal_.empty() && complete) {
      try {
        const auto said = write_outputs(options_, meter_, facts(), parts_, choices_.selected(), run_facts());
        for (const std::string& text : said)
          if (!options_.quiet) console_.line(text);
      } catch (const std::runtime_error& e) {
        fatal_ = e.what();
      }
    }
    if (!fatal_.empty()) say(fatal_);
    return fatal_.empty() && (failed_ == 0 || options_.keep_going) ? 0 : kFailed;
  }

  RunFacts run_facts() const {
    return {options_.inputs.size(),
            choices_.failed(),
            frames_,
            static_cast<double>(g_get_monotonic_time() - begun_) / G_USEC_PER_SEC,
            static_cast<int>(machine_.files()),
            gpus(),
            started_};
  }

  const gint64 begun_ = g_get_monotonic_time();
  const std::string started_ = rfc3339_now();
  const Options& options_;
  Machine machine_;
  const MeterOptions meter_;
  const MeterFacts facts_;
  const Table table_;
  const std::unique_ptr<OutputFolder> folder_;  ///< null: one table on stdout
  const std::vector<double> weights_;
  const std::unique_ptr<TaskPool> picture_threads_ = make_picture_threads();
  std::vector<std::unique_ptr<Job>> jobs_;  ///< by file; null before and after the scan
  std::vector<std::optional<std::string>> texts_;
  std::vector<std::string> parts_;  ///< of the report
  std::set<std::string> devices_;   ///< that measured
  Choices choices_;
  SetPictures set_pictures_;
  bool placed_ = false;
  std::vector<std::size_t> finished_;
  std::vector<guint> sources_;
  std::vector<std::size_t> long_files_;  ///< those that can be cut
  std::size_t next_ = 0, ended_ = 0, printed_ = 0;
  std::atomic<int> signal_ = 0;
  std::size_t failed_ = 0;
  bool has_plenty_ = false;  ///< of threads
  double done_ = 0;          ///< weight of the files that are over
  std::uint64_t frames_ = 0;
  std::mutex mutex_;
  bool failing_ = false;
  std::string fatal_;
  Console console_;
  GMainLoop* loop_;
  OrderedOutput output_;
  std::unique_ptr<Signals> signals_;  ///< last: it uses the rest
};

}  // namespace

int scan_files(const Options& options) { return App(options).run(); }

}  // namespace framequality::apps::scan
