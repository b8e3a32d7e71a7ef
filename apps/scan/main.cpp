// SPDX-License-Identifier: LGPL-2.1-or-later
// framequality-scan: scores every frame of video files; writes a table, images and a report.
#include "apps/common/devices.h"
#include "apps/common/program.h"
#include "apps/common/url.h"
#include "apps/common/version.h"
#include "apps/scan/app.h"

#include <clocale>
#include <csignal>
#include <cstdio>
#include <exception>
#include <string>

namespace framequality::apps::scan {

namespace {

void complain(const std::string& text) { std::fprintf(stderr, "%s: %s\n", kName, without_url_passwords(text).c_str()); }

int run(int argc, char** argv) {
  try {
    const Options options = parse_options(argc, argv);
    if (options.version) {
      std::printf("%s %s\n", kName, kVersion);
      return 0;
    }
    if (options.devices) return print_devices();
    return scan_files(options);
  } catch (const UsageError& e) {
    complain(std::string(e.what()) + "\nusage: " + kName + " [OPTION...] FILE...   (see --help)");
    return kMisused;
  } catch (const std::exception& e) {
    complain(e.what());
    return kFailed;
  }
}

}  // namespace

}  // namespace framequality::apps::scan

int main(int argc, char** argv) {
  // Characters as in the user's terminal, but numbers and messages as everywhere.
  std::setlocale(LC_CTYPE, "");
  std::signal(SIGPIPE, SIG_IGN);
  framequality::apps::keep_standard_descriptors();
  framequality::apps::allow_many_open_files();
  return framequality::apps::leave(framequality::apps::scan::run(argc, argv));
}
