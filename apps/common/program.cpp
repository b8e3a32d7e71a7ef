// SPDX-License-Identifier: LGPL-2.1-or-later
// Process-wide setup shared by the command-line programs.
#include "apps/common/program.h"

#include "apps/common/contexts.h"
#include "apps/common/nearest.h"
#include "apps/common/text.h"

#include <gst/gst.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <dlfcn.h>
#include <fcntl.h>
#include <memory>
#include <string_view>
#include <sys/resource.h>
#include <unistd.h>

namespace framequality::apps {

namespace {

/// Of the option that the error is about: GLib names it at the end of its text.
std::string suggested_option(const std::string& error, char** words, const std::vector<GOptionEntry>& entries) {
  std::vector<std::string> known = {"--help"};
  for (const GOptionEntry& entry : entries)
    if (entry.long_name && *entry.long_name) known.push_back(std::string("--") + entry.long_name);
  for (char** word = words; *word; ++word) {
    std::string_view name = *word;
    if (!name.starts_with('-') || !error.ends_with(name)) continue;
    name.remove_prefix(std::min(name.find_first_not_of('-'), name.size()));
    return suggestion("--" + std::string(name.substr(0, name.find('='))), known);
  }
  return "";
}

}  // namespace

void parse_command_line(int argc, char** argv, const char* about, const std::vector<GOptionEntry>& entries,
                        const std::string& description, Library library) {
  const std::unique_ptr<GOptionContext, decltype(&g_option_context_free)> context(g_option_context_new(about),
                                                                                  g_option_context_free);
  g_option_context_add_main_entries(context.get(), entries.data(), nullptr);
  if (library == Library::kGStreamer) g_option_context_add_group(context.get(), gst_init_get_option_group());
  g_option_context_set_description(context.get(), description.c_str());
  GError* error = nullptr;
  // What it takes out of the words must still be there to suggest another.
  const std::unique_ptr<char*, decltype(&g_strfreev)> words(g_strdupv(argv), g_strfreev);
  if (g_option_context_parse(context.get(), &argc, &argv, &error)) return;
  std::string reason = printable(error->message);
  if (g_error_matches(error, G_OPTION_ERROR, G_OPTION_ERROR_UNKNOWN_OPTION))
    reason += suggested_option(error->message, words.get() + 1, entries);
  g_error_free(error);
  throw UsageError(reason);
}

std::size_t choice(const std::string& option, const std::string& text, const std::vector<std::string>& words) {
  const auto found = std::find(words.begin(), words.end(), text);
  if (found != words.end()) return static_cast<std::size_t>(found - words.begin());
  std::string all;
  for (const std::string& word : words) all += (all.empty() ? "" : &word == &words.back() ? " or " : ", ") + word;
  throw UsageError(option + " takes " + all + ", not '" + printable(text) + "'" + suggestion(text, words));
}

void keep_standard_descriptors() {
  for (int descriptor = STDIN_FILENO; descriptor <= STDERR_FILENO; ++descriptor)
    if (fcntl(descriptor, F_GETFD) < 0) (void)open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

void allow_many_open_files() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  (void)setrlimit(RLIMIT_NOFILE, &limit);
}

namespace {

std::atomic<bool> has_stuck_threads = false;
constexpr unsigned kPatience = 10;  // s
volatile std::sig_atomic_t leaving_with = 0;

}  // namespace

void expect_stuck_threads() { has_stuck_threads = true; }

void end_soon(int status) {
  std::fflush(nullptr);
  leaving_with = status;
  std::signal(SIGALRM, [](int) { _exit(leaving_with); });
  alarm(kPatience);
}

int leave(int status) {
  // Threads of the driver, of which decoders leave some behind, crash when what they use is taken down around them, by
  // gst_deinit() or by what exit() calls.
  if (has_stuck_threads || dlopen("libcuda.so.1", RTLD_NOLOAD | RTLD_LAZY)) {
    std::fflush(nullptr);
    _exit(status);
  }
  drop_contexts();
  end_soon(status);
  // For tracers: leaks reports at this point.
  if (gst_is_initialized()) gst_deinit();
  return status;
}

}  // namespace framequality::apps
