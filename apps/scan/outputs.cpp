// SPDX-License-Identifier: LGPL-2.1-or-later
// The files that a whole run writes at its end: report, manifest, ratings.
#include "apps/scan/outputs.h"

#include "apps/common/draft_file.h"
#include "apps/common/text.h"
#include "apps/scan/app.h"
#include "apps/scan/report.h"
#include "apps/scan/sidecars.h"

#include <cerrno>
#include <cstring>
#include <stdexcept>

namespace framequality::apps::scan {

void check_outputs(const Options& options) {
  // The folder first: the others may lie in it.
  if (!options.export_dir.empty()) {
    if (g_mkdir_with_parents(options.export_dir.c_str(), 0777) != 0)
      throw std::runtime_error("cannot make the folder " + printable(options.export_dir) + ": " + std::strerror(errno));
    DraftFile(options.export_dir + "/" + kName, "");
  }
  if (!options.report.empty()) DraftFile(options.report, "");
  if (!options.manifest.empty()) DraftFile(options.manifest, "");
}

std::vector<std::string> write_outputs(const Options& options, const MeterOptions& meter, const MeterFacts& facts,
                                       const std::vector<std::string>& parts, const Selected& selected,
                                       const RunFacts& run) {
  constexpr std::size_t kNamed = 5;  // sidecars
  std::vector<std::string> said;
  if (!selected.note.empty()) said.push_back(selected.note + "; " + std::to_string(selected.chosen.size()) + " chosen");
  if (!options.report.empty()) DraftFile(options.report, report_page(options, meter, facts, parts, selected)).publish();
  if (!options.manifest.empty())
    DraftFile(options.manifest, manifest(options.manifest, options, meter, facts, selected, run)).publish();
  if (!options.xmp) return said;
  const SidecarCounts counts = write_sidecars(selected);
  said.push_back("XMP files: " + std::to_string(counts.written) + " written, " + std::to_string(counts.same) +
                 " up to date already, " + std::to_string(counts.kept.size()) + " of other programs kept");
  for (std::size_t i = 0; i < counts.kept.size() && i < kNamed; ++i)
    said.push_back("  kept " + printable(counts.kept[i]) + ": framequality-scan did not write it");
  if (counts.kept.size() > kNamed) said.push_back("  and " + std::to_string(counts.kept.size() - kNamed) + " more");
  return said;
}

}  // namespace framequality::apps::scan
