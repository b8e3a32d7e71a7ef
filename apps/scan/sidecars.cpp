// SPDX-License-Identifier: LGPL-2.1-or-later
// Ratings of photographs for other programs: XMP files next to the originals.
#include "apps/scan/sidecars.h"

#include "apps/common/draft_file.h"
#include "apps/common/raw.h"
#include "apps/scan/originals.h"

#include <array>
#include <fstream>
#include <optional>
#include <sys/stat.h>
#include <unistd.h>

namespace framequality::apps::scan {

namespace {

constexpr int kChosen = 5, kOther = 1, kMost = 5;

enum class Found { kNothing, kOurs, kSame, kForeign };

/// The kind of file at `path`, before `wanted` is written there. A link is never followed.
Found look_at(const std::string& path, const std::string& wanted) {
  struct stat about = {};
  if (lstat(path.c_str(), &about) != 0) return Found::kNothing;
  if (!S_ISREG(about.st_mode) || static_cast<std::size_t>(about.st_size) != wanted.size()) return Found::kForeign;
  std::ifstream file(path, std::ios::binary);
  std::string there(wanted.size() + 1, '\0');
  file.read(there.data(), static_cast<std::streamsize>(there.size()));
  there.resize(static_cast<std::size_t>(file.gcount()));
  if (there == wanted) return Found::kSame;
  for (int rating = 1; rating <= kMost; ++rating)
    if (there == sidecar(rating)) return Found::kOurs;
  return Found::kForeign;
}

void rate(const std::string& photograph, int rating, SidecarCounts& counts) {
  if (photograph.empty()) return;
  const std::string path = sidecar_path(photograph), content = sidecar(rating);
  switch (look_at(path, content)) {
    case Found::kNothing:
      // Another program may be writing it now.
      if (DraftFile(path, content).publish_new())
        ++counts.written;
      else
        counts.kept.push_back(path);
      break;
    case Found::kOurs:
      DraftFile(path, content).publish();
      ++counts.written;
      break;
    case Found::kSame:
      ++counts.same;
      break;
    case Found::kForeign:
      counts.kept.push_back(path);
      break;
  }
}

}  // namespace

std::string sidecar_path(const std::string& photograph) {
  const auto dot = photograph.rfind('.');
  return (is_raw_name(photograph) ? photograph.substr(0, dot) : photograph) + ".xmp";
}

std::string sidecar(int rating) {
  return "<?xpacket begin=\"\xef\xbb\xbf\" id=\"W5M0MpCehiHzreSzNTczkc9d\"?>\n"
         "<x:xmpmeta xmlns:x=\"adobe:ns:meta/\" x:xmptk=\"framequality-scan\">\n"
         " <rdf:RDF xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\">\n"
         "  <rdf:Description rdf:about=\"\" xmlns:xmp=\"http://ns.adobe.com/xap/1.0/\" xmp:Rating=\"" +
         std::to_string(rating) +
         "\"/>\n"
         " </rdf:RDF>\n"
         "</x:xmpmeta>\n"
         "<?xpacket end=\"w\"?>\n";
}

SidecarCounts write_sidecars(const Selected& selected) {
  SidecarCounts counts;
  for (const ChosenFrame& frame : selected.chosen)
    if (frame.picture) rate(local_file(frame.source), kChosen, counts);
  for (const RejectedInput& input : selected.rejected)
    if (input.picture && input.score) rate(local_file(input.source), kOther, counts);
  return counts;
}

}  // namespace framequality::apps::scan
