// SPDX-License-Identifier: LGPL-2.1-or-later
// Luma values from every instruction set's kernels, in a buffer and where they lie, with nothing to read on either side
// of the row.
#include "cpu/dispatch.h"
#include "cpu/sharpness/kernels.h"
#include "cpu/sharpness/meter.h"
#include "tests/support/effort.h"
#include "tests/support/layouts.h"
#include "tests/support/random.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <gtest/gtest.h>
#include <iterator>
#include <memory>
#include <numeric>
#include <string>
#include <string_view>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

namespace framequality::test {

using namespace sharpness;

namespace {

constexpr int kWidest = 200;

const cpu::SharpnessKernels& kernels(std::string_view isa) {
  using namespace cpu;
  constexpr KernelTables<SharpnessKernels> kTables = FQ_KERNEL_TABLES(sharpness_kernels);
  return find_kernels(kTables, isa);
}

/// A page of which both neighbours end a process that touches them.
class GuardedPage {
 public:
  GuardedPage() : size_(static_cast<std::size_t>(sysconf(_SC_PAGESIZE))) {
    void* pages = mmap(nullptr, 3 * size_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) return;
    start_ = static_cast<std::uint8_t*>(pages);
    ok_ = mprotect(page(), size_, PROT_READ | PROT_WRITE) == 0;
  }
  GuardedPage(const GuardedPage&) = delete;
  GuardedPage& operator=(const GuardedPage&) = delete;
  ~GuardedPage() {
    if (start_) munmap(start_, 3 * size_);
  }

  bool ok() const { return ok_; }
  /// n random bytes that begin where the page does, or end where it ends.
  std::uint8_t* place(std::size_t n, bool at_end, Random& random) {
    std::uint8_t* p = page() + (at_end ? size_ - n : 0);
    std::generate_n(p, n, [&] { return static_cast<std::uint8_t>(random.below(256)); });
    return p;
  }

 private:
  std::uint8_t* page() const { return start_ + size_; }

  std::size_t size_;
  std::uint8_t* start_ = nullptr;
  bool ok_ = false;
};

/// What luma_code() says of pixels x...x+n-1, in bytes or words.
std::vector<std::uint8_t> expected_codes(const PixelLayout& l, const std::uint8_t* const* rows, int x, int n) {
  const std::size_t bytes = l.depth == 8 ? 1 : 2;
  std::vector<std::uint8_t> codes(static_cast<std::size_t>(n) * bytes);
  for (int i = 0; i < n; ++i) {
    const auto code = static_cast<std::uint16_t>(luma_code(l, rows[0], rows[1], rows[2], x + i));
    codes[static_cast<std::size_t>(i) * bytes] = static_cast<std::uint8_t>(code);
    if (bytes == 2) codes[static_cast<std::size_t>(i) * 2 + 1] = static_cast<std::uint8_t>(code >> 8);
  }
  return codes;
}

/// One sample of every place in pixels of up to eight bytes.
std::vector<NamedLayout> channels() {
  std::vector<NamedLayout> all;
  for (int bytes = 1; bytes <= 2; ++bytes)
    for (int stride = bytes; stride <= 8; ++stride)
      for (int offset = 0; offset + bytes <= stride; ++offset)
        for (const bool big_endian : {false, true}) {
          const std::string name = std::to_string(8 * bytes) + (big_endian ? " BE" : "") + " stride " +
                                   std::to_string(stride) + " offset " + std::to_string(offset);
          if (bytes == 2 || !big_endian)
            all.push_back({name, luma_layout(8 * bytes, bytes, 0, big_endian, stride, offset)});
          if (bytes == 2) all.push_back({name + " 10 bits", luma_layout(10, 2, 4, big_endian, stride, offset)});
        }
  return all;
}

/// R, G and B in every order in pixels of up to four samples.
std::vector<NamedLayout> packed() {
  std::vector<NamedLayout> all;
  for (int samples = 3; samples <= 4; ++samples) {
    std::vector<int> at{0, 1, 2, 3};
    do {
      if (std::max({at[0], at[1], at[2]}) >= samples) continue;
      const auto add = [&](int depth, int shift, bool big_endian) {
        const int bytes = depth > 8 ? 2 : 1;
        PixelLayout l = packed_rgb(depth, samples * bytes, at[0] * bytes, at[1] * bytes, at[2] * bytes, big_endian);
        l.shift = static_cast<std::uint8_t>(shift);
        all.push_back({std::to_string(depth) + (big_endian ? " BE" : "") + " RGB at " + std::to_string(at[0]) +
                           std::to_string(at[1]) + std::to_string(at[2]) + " of " + std::to_string(samples),
                       l});
      };
      add(8, 0, false);
      for (const bool big_endian : {false, true}) {
        add(16, 0, big_endian);
        add(12, 4, big_endian);
      }
    } while (std::next_permutation(at.begin(), at.end()));
  }
  return all;
}

void expect_codes(const std::vector<NamedLayout>& named_layouts) {
  Random random(5);
  GuardedPage pages[3], made;
  ASSERT_TRUE(made.ok() && std::all_of(std::begin(pages), std::end(pages), [](const auto& p) { return p.ok(); }));
  for (const NamedLayout& named : named_layouts) {
    const PixelLayout& l = named.layout;
    for (int width = 1; width <= kWidest; ++width)
      for (const bool at_end : {false, true}) {
        const std::uint8_t* rows[3] = {};
        for (int p = 0; p < l.planes(); ++p) rows[p] = pages[p].place(l.row_bytes(p, width), at_end, random);
        const int x = l.kind == PixelLayout::Kind::kGray10x3 ? width / 3 : random.below(std::min(width, 4));
        const std::vector<std::uint8_t> expected = expected_codes(l, rows, x, width - x);
        for (const std::string_view isa : cpu::instruction_sets()) {
          std::uint8_t* out = made.place(expected.size(), at_end, random);
          kernels(isa).luma(l, rows, x, width - x, out);
          ASSERT_TRUE(std::equal(expected.begin(), expected.end(), out))
              << named.name << ", " << isa << ", from " << x << " of " << width;
        }
      }
  }
}

TEST(Luma, EveryInstructionSetTakesTheCodesOfEveryLayout) { expect_codes(layouts()); }

TEST(Luma, EveryInstructionSetTakesAnySampleOfAPixel) { expect_codes(channels()); }

TEST(Luma, EveryInstructionSetTakesColoursInAnyOrder) { expect_codes(packed()); }

TEST(Luma, EveryInstructionSetWeighsEveryColourOfBytes) {
  constexpr std::size_t kValues = 256;
  std::vector<std::uint8_t> red(kValues), green(kValues), blue(kValues), pixels(3 * kValues), codes(kValues);
  std::iota(blue.begin(), blue.end(), std::uint8_t{0});
  const std::uint8_t *planes[] = {red.data(), green.data(), blue.data()}, *packed[] = {pixels.data(), nullptr, nullptr};
  const PixelLayout planar_layout = planar_rgb(8, 0, 1, 2), packed_layout = packed_rgb(8, 3, 0, 1, 2);
  for (int r = 0; r < 256; ++r)
    for (int g = 0; g < 256; ++g) {
      std::fill(red.begin(), red.end(), static_cast<std::uint8_t>(r));
      std::fill(green.begin(), green.end(), static_cast<std::uint8_t>(g));
      for (std::size_t i = 0; i < pixels.size(); ++i) pixels[i] = planes[i % 3][i / 3];
      const std::vector<std::uint8_t> expected = expected_codes(planar_layout, planes, 0, 256);
      for (const std::string_view isa : cpu::instruction_sets()) {
        kernels(isa).luma(planar_layout, planes, 0, 256, codes.data());
        ASSERT_EQ(codes, expected) << isa << ", planes, red " << r << ", green " << g;
        kernels(isa).luma(packed_layout, packed, 0, 256, codes.data());
        ASSERT_EQ(codes, expected) << isa << ", packed, red " << r << ", green " << g;
      }
    }
}

/// The same codes where nothing else is: bytes side by side, or words the other way round, which are never measured
/// where they lie.
struct Apart {
  PixelLayout layout;
  std::vector<std::uint8_t> bytes;

  Apart(const PixelLayout& l, const std::uint8_t* row, int width, std::size_t row_bytes) : layout(l) {
    if (l.word_bytes == 1) {
      const std::uint8_t* const rows[] = {row, nullptr, nullptr};
      layout = luma_layout(8, 1);
      bytes = expected_codes(l, rows, 0, width);
    } else {
      layout.big_endian = true;
      for (std::size_t i = 0; i < row_bytes; ++i) bytes.push_back(row[i ^ 1]);
    }
  }
};

std::vector<std::int64_t> totals_of(const Geometry& geometry, const std::uint8_t* row, std::ptrdiff_t stride,
                                    const Request& request, std::string_view isa) {
  Frame frame;
  frame.plane[0] = row;
  frame.stride[0] = stride;
  const auto meter = cpu::make_meter(geometry, isa);
  meter->submit({frame, std::make_shared<const Plan>(make_plan(geometry, request))});
  const auto totals = meter->collect();
  return {totals.begin(), totals.end()};
}

/// One row that serves as all of a frame's, so that all ends where it does.
TEST(Luma, WordsAreMeasuredWhereTheyLieWithoutWhatIsBesideThem) {
  Random random(7);
  GuardedPage page;
  ASSERT_TRUE(page.ok());
  constexpr int kRows = 5, kZones = 4;
  const PixelLayout parts[] = {luma_layout(8, 1, 0, false, 2), luma_layout(8, 1, 0, false, 2, 1), luma_layout(10, 2),
                               luma_layout(12, 2), luma_layout(10, 2, 6)};
  for (const PixelLayout& layout : parts)
    for (int width = cpu::kSlack - 1; width <= kWidest; width += is_quick() ? 5 : 1)
      for (const bool at_end : {false, true}) {
        const std::size_t row_bytes = layout.row_bytes(0, width);
        const std::uint8_t* row = page.place(row_bytes, at_end, random);
        const Apart apart(layout, row, width, row_bytes);
        Request request;
        request.mean = true;
        request.zone_columns = 1 + random.below(kZones);
        for (request.metric = 0; request.metric < kMetricCount; ++request.metric)
          for (const std::string_view isa : cpu::instruction_sets())
            ASSERT_EQ(totals_of({width, kRows, layout}, row, 0, request, isa),
                      totals_of({width, kRows, apart.layout}, apart.bytes.data(), 0, request, isa))
                << metric_info(request.metric).name << ", " << isa << ", " << int{layout.depth} << " bits, shift "
                << int{layout.shift} << ", offset " << int{layout.offset[0]} << ", width " << width;
      }
}

}  // namespace
}  // namespace framequality::test
