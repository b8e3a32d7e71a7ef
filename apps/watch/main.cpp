// SPDX-License-Identifier: LGPL-2.1-or-later
// framequality-watch: watches cameras, reports faults, and serves a page.
#include "apps/common/program.h"
#include "apps/common/url.h"
#include "apps/common/version.h"
#include "apps/watch/options.h"
#include "apps/watch/program.h"

#include <clocale>
#include <csignal>
#include <cstdio>
#include <exception>
#include <string>

namespace framequality::apps::watch {

namespace {

int run(int argc, char** argv) {
  try {
    const Settings settings = parse_options(argc, argv);
    if (settings.version) {
      std::printf("%s %s\n", kName, kVersion);
      return 0;
    }
    return Program(settings).run();
  } catch (const UsageError& e) {
    std::fprintf(stderr, "%s: %s\nusage: %s [OPTION...] [NAME=]URL...   (see --help)\n", kName,
                 without_url_passwords(e.what()).c_str(), kName);
    return kMisused;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s: %s\n", kName, without_url_passwords(e.what()).c_str());
    return kFailed;
  }
}

}  // namespace

}  // namespace framequality::apps::watch

int main(int argc, char** argv) {
  // Characters as in the user's terminal, but numbers and messages as everywhere.
  std::setlocale(LC_CTYPE, "");
  std::signal(SIGPIPE, SIG_IGN);
  framequality::apps::keep_standard_descriptors();
  framequality::apps::allow_many_open_files();
  return framequality::apps::leave(framequality::apps::watch::run(argc, argv));
}
