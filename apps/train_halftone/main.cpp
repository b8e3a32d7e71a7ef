// SPDX-License-Identifier: LGPL-2.1-or-later
// framequality-train-halftone: trains the tables of the halftoning methods, and measures the quality of halftones.
#include "algorithms/halftone/filter.h"
#include "algorithms/halftone/tables.h"
#include "apps/common/nearest.h"
#include "apps/train_halftone/dot_search.h"
#include "apps/train_halftone/report.h"
#include "apps/train_halftone/training.h"
#include "apps/train_halftone/void_and_cluster.h"
#include "host/cores.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

using namespace framequality;
using namespace framequality::tools;

namespace {

constexpr char kUsage[] =
    R"(usage: framequality-train-halftone pattern [--seed N]
       framequality-train-halftone mask [--seed N]
       framequality-train-halftone table [OPTION...]
       framequality-train-halftone evaluate [OPTION...]

pattern   prints the dot pattern of middle grey that selects thresholds, as algorithms/halftone/data/dot_pattern.cpp
mask      prints the blue noise mask, as algorithms/halftone/data/blue_noise_mask.cpp
table     trains tone-dependent error diffusion, and prints weights and thresholds as a file of
          algorithms/halftone/data
  --swath-rows N       train for swaths of this many rows, 1 to 64 (default 4)
evaluate  prints, for every method, results on flat patches of the darker tones: the mean cost against dot patterns per
          frequency bin, the mean anisotropy, and the largest error of the mean
  --tone-step N        evaluate every N-th tone (default 1: all 127)
table and evaluate:
  --threads N          use this many threads (default 0: one per core); results do not depend on it
all:
  --seed N             seed the random numbers (default 1; for evaluate 1000, which training does not use)

Progress goes to stderr. Exit status: 0 done, 1 the output failed, 2 wrong usage.
)";

/// Invalid command line.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct Options {
  std::uint64_t seed = 1;
  int swath_rows = 4, threads = 0, tone_step = 1;
};

template <class T>
void parse(const std::string& name, const std::string& text, T least, T most, T& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < least || value > most)
    throw UsageError(name + " must be a whole number from " + std::to_string(least) + " to " + std::to_string(most) +
                     ", not '" + text + "'");
}

const std::vector<std::string> kCommands = {"pattern", "mask", "table", "evaluate"};

[[noreturn]] void refuse_option(const std::string& command, const std::string& name) {
  std::vector<std::string> known = {"--seed"};
  if (command == "table") known.insert(known.end(), {"--swath-rows", "--threads"});
  if (command == "evaluate") known.insert(known.end(), {"--tone-step", "--threads"});
  throw UsageError(command + " has no option '" + name + "'" + suggestion(name, known));
}

Options parse_options(const std::string& command, const std::vector<std::string>& words) {
  Options o;
  const bool table = command == "table", evaluates = command == "evaluate";
  if (evaluates) o.seed = 1000;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::size_t equals = words[i].find('=');
    const std::string name = words[i].substr(0, equals);
    int* number = table && name == "--swath-rows"               ? &o.swath_rows
                  : evaluates && name == "--tone-step"          ? &o.tone_step
                  : (table || evaluates) && name == "--threads" ? &o.threads
                                                                : nullptr;
    if (!number && name != "--seed") refuse_option(command, name);
    if (equals == name.npos && i + 1 == words.size()) throw UsageError(name + " needs a value");
    const std::string value = equals == name.npos ? words[++i] : words[i].substr(equals + 1);
    if (!number)
      parse<std::uint64_t>(name, value, 0, 0xffffffff, o.seed);
    else if (number == &o.swath_rows)
      parse(name, value, 1, halftone::kMaxSwathRows, *number);
    else
      parse(name, value, number == &o.threads ? 0 : 1, 1024, *number);
  }
  if (o.threads == 0) o.threads = host::usable_cores();
  return o;
}

/// Writes to stdout; an incomplete table must not look complete.
void print(const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0)
    throw std::runtime_error(std::string("cannot write to stdout: ") + std::strerror(errno));
}

/// A progress bar on stderr.
class Progress {
 public:
  void operator()(int done, int all) {
    constexpr int kWidth = 40;
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
    const std::string bar(static_cast<std::size_t>(kWidth * done / all), '#');
    std::fprintf(stderr, "\r[%-*s] %d of %d tones, %.0f s left ", kWidth, bar.c_str(), done, all,
                 seconds / done * (all - done));
    if (done == all) std::fprintf(stderr, "\r%*s\r", kWidth + 40, "");
  }

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

/// A file that defines an array of numbers.
std::string array_file(const std::string& what, const std::string& command, const std::string& declaration,
                       const std::vector<std::string>& numbers) {
  std::string text =
      "// SPDX-License-Identifier: LGPL-2.1-or-later\n// " + what + ", as written by\n// `" + command +
      "`.\n#include \"algorithms/halftone/tables.h\"\n\nnamespace framequality::halftone {\n\n// clang-format "
      "off\nconst " +
      declaration + " = {";
  std::size_t column = 1000;
  for (const std::string& n : numbers) {
    if (column + n.size() + 2 > 116) text += "\n ", column = 1;
    text += " " + n + ",";
    column += n.size() + 2;
  }
  return text + "\n};\n// clang-format on\n\n}  // namespace framequality::halftone\n";
}

std::string pattern_file(const Options& o, const std::string& command) {
  const Dots dots = search_dots(halftone::kPatternSide, 0.5, o.seed);
  std::vector<std::string> words;
  for (std::size_t i = 0; i < dots.values.size(); i += 32) {
    std::uint32_t word = 0;
    for (std::size_t b = 0; b < 32; ++b) word |= std::uint32_t{dots.values[i + b]} << b;
    char text[16];
    std::snprintf(text, sizeof text, "0x%08x", word);
    words.emplace_back(text);
  }
  return array_file("A halftone of middle grey, 128 x 128, rows of four words, lowest bit first", command,
                    "std::uint32_t kDotPattern[kPatternSide * kPatternSide / 32]", words);
}

std::string mask_file(const Options& o, const std::string& command) {
  std::vector<std::string> ranks;
  for (const std::uint16_t rank : void_and_cluster(128, o.seed)) ranks.push_back(std::to_string(rank));
  return array_file("Ranks of a blue noise mask, 128 x 128", command,
                    "std::uint16_t kBlueNoiseMask[kMaskSide * kMaskSide]", ranks);
}

std::string table_file(const Options& o, const std::string& command) {
  TrainingOptions training;
  training.swath_rows = o.swath_rows;
  training.seed = o.seed;
  training.threads = o.threads;
  const auto table = train_tones(training, halftone::kDotPattern, Progress());
  return file_of(table, "kRows" + std::to_string(o.swath_rows), command);
}

std::string report(const Options& o) {
  std::string text = "                                   cost   anisotropy   tone error\n";
  for (const Quality& q : evaluate(o.tone_step, o.seed, o.threads, Progress())) {
    char line[120];
    std::snprintf(line, sizeof line, "%-30.30s %8.4f %9.2f dB %10.3f %%\n", q.method.c_str(), q.cost, q.anisotropy,
                  100 * q.tone_error);
    text += line;
  }
  return text;
}

int run(const std::vector<std::string>& words) {
  for (const std::string& word : words)
    if (word == "-h" || word == "--help") {
      print(kUsage);
      return 0;
    }
  const std::string command = words.empty() ? "" : words[0];
  if (command == "--version") {
    print("framequality-train-halftone " FQ_VERSION "\n");
    return 0;
  }
  if (std::find(kCommands.begin(), kCommands.end(), command) == kCommands.end())
    throw UsageError(command.empty() ? "pattern, mask, table or evaluate?"
                                     : "no command '" + command + "'" + suggestion(command, kCommands));
  const Options o = parse_options(command, {words.begin() + 1, words.end()});
  // Without --threads, which does not affect results.
  std::string line = "framequality-train-halftone " + command;
  if (command == "table") line += " --swath-rows " + std::to_string(o.swath_rows);
  line += " --seed " + std::to_string(o.seed);
  print(command == "pattern" ? pattern_file(o, line)
        : command == "mask"  ? mask_file(o, line)
        : command == "table" ? table_file(o, line)
                             : report(o));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run({argv + 1, argv + argc});
  } catch (const UsageError& e) {
    std::cerr << "framequality-train-halftone: " << e.what() << "\nframequality-train-halftone --help says more\n";
    return 2;
  } catch (const std::exception& e) {
    std::cerr << "framequality-train-halftone: " << e.what() << '\n';
    return 1;
  }
}
