// SPDX-License-Identifier: LGPL-2.1-or-later
// The program: all cameras, and their reports.
#include "apps/watch/program.h"

#include "apps/common/contexts.h"
#include "apps/common/program.h"
#include "apps/common/text.h"
#include "apps/watch/address.h"

#include <glib-unix.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <unistd.h>
#include <utility>

namespace framequality::apps::watch {

namespace {

constexpr int kThumbnailLength = 320;
constexpr gint64 kPicturePatience = gint64{3} * G_USEC_PER_SEC;
constexpr std::size_t kMostPending = 64;
constexpr std::chrono::milliseconds kEndPatience{1500}, kLogPatience{500};

/// Runs an action in the main loop; any thread.
void in_main_loop(std::function<void()> action) {
  g_idle_add_full(
      G_PRIORITY_DEFAULT,
      [](gpointer data) -> gboolean {
        (*static_cast<std::function<void()>*>(data))();
        return G_SOURCE_REMOVE;
      },
      new std::function<void()>(std::move(action)),
      [](gpointer data) { delete static_cast<std::function<void()>*>(data); });
}

void make_folder(const std::string& path) {
  if (g_mkdir_with_parents(path.c_str(), 0777) != 0)
    throw std::runtime_error("cannot make the folder " + printable(path) + ": " + std::strerror(errno));
}

}  // namespace

Program::Program(const Settings& settings)
    : settings_(settings),
      loop_(g_main_loop_new(nullptr, FALSE)),
      hosts_(settings.allow_hosts, settings.listen),
      thumbnails_(
          settings.cameras.size(), [this](std::size_t camera) { taps_[camera]->wish({}); }, [this] { fresh_.ring(); }),
      encoder_(std::make_unique<Encoder>()),
      pending_(settings.cameras.size()) {
  if (!settings.snapshots.empty())
    snapshots_ =
        std::make_unique<Snapshots>(settings.snapshots, settings.snapshots_most, settings.snapshots_most_bytes);
  if (!settings.baselines.empty()) make_folder(settings.baselines);
  (void)try_meter(settings.cameras.front().watch.meter);
  for (std::size_t i = 0; i < settings.cameras.size(); ++i) {
    const CameraSettings& camera = settings.cameras[i];
    const std::string baseline =
        settings.baselines.empty() ? "" : settings.baselines + '/' + file_name_of(camera.name) + ".baseline";
    const Camera::Outlet outlet{
        [this, i](Event event) { take_event(i, std::move(event)); },
        [this, i](Owned<GstSample> frame, const Wish& wish) { take_picture(i, std::move(frame), wish); },
        snapshots_ != nullptr};
    const auto seed = static_cast<std::uint64_t>(g_get_real_time()) + i;
    cameras_.push_back(std::make_unique<Camera>(camera, baseline, seed, settings.secrets, chores_, outlet));
    taps_.push_back(cameras_.back()->tap());
  }
  log_ = std::make_unique<Log>(settings.log, [this](const std::string& text, bool reader_left) {
    in_main_loop([this, text, reader_left] {
      if (!reader_left) return say(text);
      reader_left_ = true;
      quit();
    });
  });
  post_status();
  if (settings.listen != "none")
    server_ = std::make_unique<Server>(settings.listen, fresh_, [this](const Request& request) {
      return answer(request, hosts_, board_, thumbnails_);
    });
}

Program::~Program() {
  stop();
  for (const guint source : sources_) g_source_remove(source);
  g_main_loop_unref(loop_);
}

/// A name that is unique on the page.
std::string Program::unique_name(const std::string& wanted) const {
  const auto is_taken = [this](const std::string& name) {
    return std::any_of(settings_.cameras.begin(), settings_.cameras.end(),
                       [&](const auto& c) { return c.name == name; }) ||
           std::any_of(rejected_.begin(), rejected_.end(), [&](const auto& c) { return c.name == name; });
  };
  std::string name = wanted;
  for (int copy = 2; is_taken(name); ++copy) name = wanted + '~' + std::to_string(copy);
  return name;
}

int Program::run() {
  // Before announcing that it serves: from then on others may stop it, or rotate its log.
  heed<SIGINT>();
  heed<SIGTERM>();
  heed<SIGHUP>();
  if (server_ && (!settings_.quiet || settings_.listen.ends_with(":0"))) say("serving " + server_->url());
  for (const std::string& warning : settings_.warnings)
    if (!settings_.quiet) say("warning: " + settings_.secrets.hide(warning));
  for (const Rejected& camera : settings_.rejected) {
    say(camera.reason);
    const gint64 now = g_get_real_time();
    Event event;
    event.time = now;
    event.camera = camera.name;
    event.state = "error";
    event.reason = camera.reason;
    log_->write(json_line(event));
    CameraStatus status;
    status.name = unique_name(camera.name);
    status.state = "error";
    status.reason = camera.reason;
    status.since = now;
    rejected_.push_back(std::move(status));
  }
  for (const auto& camera : cameras_) camera->start();
  post_status();
  sources_.push_back(g_timeout_add_seconds(
      1,
      [](gpointer self) -> gboolean {
        static_cast<Program*>(self)->tick();
        return G_SOURCE_CONTINUE;
      },
      this));
  g_main_loop_run(loop_);
  const int result = status();
  end_soon(result);
  stop();
  // Threads blocked by a dead server or a device would use unloaded libraries.
  if (!chores_.wait(kEndPatience)) _exit(result);
  return result;
}

int Program::status() const {
  if (reader_left_) return kSignalled + SIGPIPE;
  if (signal_ != 0) return kSignalled + signal_;
  const bool failed =
      std::any_of(cameras_.begin(), cameras_.end(), [](const auto& camera) { return camera->has_failed(); });
  return failed || !settings_.rejected.empty() ? kFailed : 0;
}

template <int signal>
void Program::heed() {
  // Signals that the program's starter ignores, such as nohup, stay ignored.
  struct sigaction now = {};
  if (sigaction(signal, nullptr, &now) != 0 || now.sa_handler == SIG_IGN) return;
  // A second signal of a kind ends the program at once: GLib restores the default action.
  g_unix_signal_add(
      signal,
      [](gpointer self) -> gboolean {
        auto* program = static_cast<Program*>(self);
        if (signal == SIGHUP && !program->settings_.log.empty()) {
          program->log_->reopen();
          return G_SOURCE_CONTINUE;
        }
        program->signal_ = signal;
        program->quit();
        return G_SOURCE_REMOVE;
      },
      this);
}

void Program::quit() { g_main_loop_quit(loop_); }

void Program::tick() {
  chores_.retry();
  for (const auto& camera : cameras_) camera->tick();
  const gint64 now = g_get_monotonic_time();
  for (std::size_t i = 0; i < pending_.size(); ++i) {
    for (Pending& pending : pending_[i])
      if (now >= pending.until) pending.waits = false;
    write_out(i);
  }
  post_status();
  // Their last events have been logged by then.
  const bool over = std::all_of(cameras_.begin(), cameras_.end(), [](const auto& camera) { return camera->is_over(); });
  const bool all_out = std::all_of(pending_.begin(), pending_.end(), [](const auto& queue) { return queue.empty(); });
  if (over && all_out) quit();
}

void Program::post_status() {
  status_is_old_ = false;
  Status status;
  status.time = g_get_real_time();
  status.made = g_get_monotonic_time();
  // Thumbnails identify cameras by their index here.
  for (const auto& camera : cameras_) status.cameras.push_back(camera->status());
  status.cameras.insert(status.cameras.end(), rejected_.begin(), rejected_.end());
  board_.post(std::move(status));
}

// --- Events and images ----------------------------------------------------------------------------------------------

void Program::take_event(std::size_t camera, Event event) {
  auto& queue = pending_[camera];
  const bool waits = event.picture != 0;
  queue.push_back({std::move(event), waits, g_get_monotonic_time() + kPicturePatience});
  if (queue.size() > kMostPending) queue.front().waits = false;
  write_out(camera);
  // Once for all events of this moment.
  if (!std::exchange(status_is_old_, true)) in_main_loop([this] { post_status(); });
}

void Program::write_out(std::size_t camera) {
  for (auto& queue = pending_[camera]; !queue.empty() && !queue.front().waits; queue.pop_front())
    log_->write(json_line(queue.front().event));
}

/// Called in a streaming thread, which must not be held up.
void Program::take_picture(std::size_t camera, Owned<GstSample> frame, const Wish& wish) {
  // If the encoder is busy, a later frame is used.
  if (wish.event == 0) {
    const auto put = [this, camera](const std::string& jpeg, const std::string&) {
      thumbnails_.put(camera, jpeg, g_get_monotonic_time());
    };
    if (!encoder_->submit(std::move(frame), kThumbnailLength, put)) taps_[camera]->wish(wish);
    return;
  }
  const auto save = [this, camera, wish](const std::string& jpeg, std::string error) {
    std::string path;
    try {
      if (error.empty()) path = snapshots_->save(settings_.cameras[camera].name, wish.time, wish.state, jpeg);
    } catch (const std::runtime_error& e) {
      error = e.what();
    }
    in_main_loop([this, camera, wish, path, error] { picture_done(camera, wish.event, path, error); });
  };
  if (!encoder_->submit(std::move(frame), std::numeric_limits<int>::max(), save)) taps_[camera]->wish(wish);
}

void Program::picture_done(std::size_t camera, guint32 wish, const std::string& path, const std::string& error) {
  for (Pending& pending : pending_[camera]) {
    if (pending.event.picture != wish) continue;
    pending.event.snapshot = path;
    pending.waits = false;
  }
  write_out(camera);
  const bool fails = !error.empty();
  if (fails && !snapshots_fail_) {
    Event event;
    event.time = g_get_real_time();
    event.camera = settings_.cameras[camera].name;
    event.state = "error";
    event.reason = settings_.secrets.hide(error);
    take_event(camera, std::move(event));
    say(settings_.secrets.hide(error));
  }
  snapshots_fail_ = fails;
}

void Program::say(const std::string& text) const { std::fprintf(stderr, "%s: %s\n", kName, text.c_str()); }

// --- End ------------------------------------------------------------------------------------------------------------

void Program::stop() {
  end_waiting();
  if (!encoder_) return;
  server_.reset();
  // With the sources gone, nothing delays the rest, which saves learned values.
  cameras_.clear();
  encoder_.reset();
  for (std::size_t i = 0; i < pending_.size(); ++i) {
    for (Pending& pending : pending_[i]) pending.waits = false;
    write_out(i);
  }
  if (log_) log_->close(kLogPatience);
  log_.reset();
}

}  // namespace framequality::apps::watch
