// SPDX-License-Identifier: LGPL-2.1-or-later
// The iteration over a plan's regions, tile by tile, that passes blocks of sample rows to the host's kernels.
#include "cpu/sharpness/meter.h"

#include "algorithms/sharpness/metrics/all.h"
#include "cpu/dispatch.h"
#include "cpu/sharpness/kernels.h"
#include "cpu/sharpness/route.h"
#include "cpu/sharpness/statistics.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <string>
#include <type_traits>

namespace framequality::cpu {

using namespace sharpness;

namespace {

/// Rows of a block. More rows share the two halo rows among more, fewer keep a block's rows in the first-level cache
/// and its streams within what prefetchers follow.
constexpr int kBlockRows = 48;
/// The same of words where they lie, whose rows are twice as long. With the halo rows they are fewer streams than the
/// 32 that some prefetchers follow.
constexpr int kWordBlockRows = 28;
/// Columns of a tile whose samples are more than codes, its neighbours included: eight 64-byte vectors.
constexpr int kTileColumns = 512;
/// Samples of a cell from which on counting pairs pays for folding 65,536 counters (7 us, 0.15 ns a sample saved).
constexpr std::uint64_t kPairsFrom = 1 << 16;
constexpr int kVectorColumns = 64;  // of the widest vector
constexpr int kOverrun = 4;         // bytes that the prefilter reads past its last vector
constexpr int kMaxRadius = 2, kMaxDownscale = 4;
constexpr int kHaloRows = 2;    // at most one row up and one down
constexpr int kValueBytes = 4;  // of the widest values
constexpr std::size_t kPitch = kSplitBytes;
static_assert(kPitch >= kTileColumns + 2 * kMaxRadius + kSlack && kPitch % 64 == 0);

/// Byte rows of one tile, with room for a vector to overrun.
class RowBuffer {
 public:
  RowBuffer(int rows, std::size_t columns, std::size_t bytes)
      : pitch_(columns * bytes), data_((static_cast<std::size_t>(rows) * pitch_ + kSlack) / sizeof(Line) + 1) {}
  std::uint8_t* row(int y) {
    return reinterpret_cast<std::uint8_t*>(data_.data()) + static_cast<std::size_t>(y) * pitch_;
  }

 private:
  struct alignas(64) Line {
    std::uint8_t bytes[64] = {};
  };
  std::size_t pitch_;
  std::vector<Line> data_;
};

/// Columns x0...x1-1 of rows y0...y1-1.
struct Made {
  int x0 = 0, x1 = 0, y0 = 0, y1 = 0;
  bool holds(const Made& m) const { return m.x0 >= x0 && m.x1 <= x1 && m.y0 == y0 && m.y1 == y1; }
};

/// The neighbours of a pixel, for metrics that are computed one pixel at a time.
struct PlainNeighbours {
  int left, centre, right;
  int l() const { return left; }
  int c() const { return centre; }
  int r() const { return right; }
};
struct PlainSums {
  std::int64_t* totals;
  template <int i>
  void add(int v) {
    totals[i] += v;
  }
  template <int i>
  void add_product(int a, int b) {
    totals[i] += std::int64_t{a} * b;
  }
};

class CpuMeter final : public Meter {
 public:
  /// instruction_set: of the kernels.
  CpuMeter(const Geometry& geometry, std::string_view instruction_set, const SharpnessKernels& kernels,
           const StatisticsKernels& statistics)
      : geometry_(geometry), instruction_set_(instruction_set), kernels_(kernels), statistics_(statistics, kernels) {}

  void submit(const Task& task) override {
    const auto& [frame, plan] = task;
    if (plan_) throw std::logic_error("cpu meter: a frame is pending");
    if (!plan || !plan->refusal.empty() || plan->geometry != geometry_ || frame.memory != Memory::kHost)
      throw std::invalid_argument("cpu meter: not a plan or a frame of this meter");
    frame_ = frame;
    plan_ = plan;
    route_ = cpu::route(*plan, kernels_);
    companion_routes_.clear();
    for (const Plan::Companion& c : plan->companions) companion_routes_.push_back(cpu::route(*c.plan, kernels_));
  }

  std::span<const std::int64_t> collect() override {
    if (!plan_) throw std::logic_error("cpu meter: no frame is pending");
    const auto plan = std::move(plan_);
    totals_.assign(static_cast<std::size_t>(plan->totals()), 0);
    const bool has_statistics = plan->request.measures_statistics();
    if (has_statistics) statistics_.begin(*plan, frame_, route_.exposes);
    measure(*plan, route_, totals_.data());
    for (std::size_t i = 0; i < plan->companions.size(); ++i)
      measure(*plan->companions[i].plan, companion_routes_[i], totals_.data() + plan->companions[i].at);
    if (has_statistics) statistics_.finish(std::span(totals_).subspan(static_cast<std::size_t>(plan->cell_totals())));
    return totals_;
  }

  std::string route() const override { return instruction_set_ + ", " + to_string(route_); }

 private:
  void measure(const Plan& plan, const Route& route, std::int64_t* totals) {
    with_metric(plan.request.metric, [&](auto m) {
      for (const Grid& grid : plan.grids) Region<decltype(m)>(*this, plan, grid, route, totals).measure();
    });
  }

  /// One grid of a plan, measured with metric M. totals: of the plan's cells.
  template <class M>
  class Region {
   public:
    Region(CpuMeter& meter, const Plan& plan, const Grid& grid, const Route& route, std::int64_t* totals)
        : meter_(meter),
          kernels_(meter.kernels_),
          route_(route),
          cells_(totals),
          plan_(plan),
          grid_(grid),
          layout_(plan.geometry.layout),
          samples_(plan.samples),
          width_(plan.size[grid.field].width),
          height_(plan.size[grid.field].height) {
      for (int p = 0; p < layout_.planes(); ++p) {
        stride_[p] = meter.frame_.stride[p] * plan.fields;
        plane_[p] = meter.frame_.plane[p] + meter.frame_.stride[p] * grid.field;
      }
      if constexpr (!M::kHistogram) reach_ = M::kReach;
    }

    void measure() {
      for (int j = 0; j < grid_.rows; ++j) {
        // A histogram is finished cell by cell; everything else goes along the rows, as memory does.
        const int y1 = grid_.row(j + 1),
                  block = is_in_place() && route_.sample_bytes == 2 ? kWordBlockRows : kBlockRows;
        const int step = M::kHistogram ? std::max(1, y1 - grid_.row(j)) : block;
        for (int y0 = grid_.row(j); y0 < y1; y0 += step) {
          for (int i = 0; i < grid_.columns; ++i) {
            const int cell = grid_.first_cell + j * grid_.columns + i;
            totals_ = cells_ + static_cast<std::ptrdiff_t>(cell) * plan_.words;
            has_pairs_ = plan_.pixels[static_cast<std::size_t>(cell)] >= kPairsFrom;
            for (int y = y0; y < std::min(y0 + step, y1); y += block)
              for (int x = grid_.column(i), end = x; x < grid_.column(i + 1); x = end) {
                const int bottom = std::min(y + block, y1);
                end = std::min(x + tile_columns(x, y, bottom), grid_.column(i + 1));
                measure_tile(x, end, y, bottom);
              }
            if constexpr (M::kHistogram) kernels_.fold(meter_.counters_.data(), has_pairs_, totals_);
          }
          if (plan_.request.measures_statistics())
            meter_.statistics_.advance(grid_.field, std::min(y0 + step, y1) * samples_.downscale);
        }
      }
    }

   private:
    /// True if samples of rows y0...y1-1 are computed on the fly and not stored, which excludes rows that reflect
    /// them.
    bool measures_values(int y0, int y1) const {
      return route_.path == SamplePath::kAsMeasured && !(M::kReflect && (y0 == 0 || y1 == height_));
    }
    bool is_in_place() const { return route_.path == SamplePath::kInPlace; }
    /// Room in a row of values, which narrow ones have more of: the longer the rows, the better the machine's
    /// prefetchers follow the frame's (a third of an RGB frame's time), and the second-level cache suffices. Codes that
    /// are summed have a buffer of their own.
    int made_columns() const {
      return static_cast<int>(kPitch) * (samples_.downscale == 1 ? kValueBytes / route_.value_bytes : 1);
    }

    /// Columns of a tile of rows y0...y1-1 that starts at x. Tiles at the image's edges, where rows have to be copied
    /// to repeat the edge, are kept small when the others can be prefiltered in place.
    int tile_columns(int x, int y0, int y1) const {
      if (is_in_place()) return width_;
      if (route_.reads_frame && measures_values(y0, y1)) {
        const int step = kernels_.vector_bytes / route_.value_bytes - reach_.left - reach_.right;
        const int first = reach_.left + samples_.radius, room = width_ - reach_.right - samples_.radius - x;
        return x < first || room < step ? step : room / step * step;
      }
      const int margin = reach_.left + reach_.right + (route_.is_split() ? 1 : 0);
      if (route_.path == SamplePath::kCodes) return made_columns() - kSlack - margin;
      if (!route_.is_split() || !route_.reads_frame) return kTileColumns - margin;
      const int start = x - reach_.left - 1 - samples_.radius;
      if (start < 0) return kVectorColumns - margin;
      const int room = (width_ - start - kOverrun) / kVectorColumns * kVectorColumns;
      return (room < kVectorColumns ? kTileColumns : std::min(room, kTileColumns)) - margin;
    }

    void measure_tile(int x0, int x1, int y0, int y1) {
      if (measures_values(y0, y1) && !(M::kReflect && (x0 == 0 || x1 == width_))) return prefilter_tile(x0, x1, y0, y1);
      const int first = std::max(0, y0 - reach_.up), last = std::min(height_, y1 + reach_.down);
      int left = 0, readable = width_;
      if (!is_in_place()) {
        left = std::max(0, x0 - reach_.left);
        if (route_.is_split()) left -= (std::max(x0, reach_.left) - left) & 1;
        readable = make_samples(left, std::min(width_, x1 + reach_.right), first, last);
      }
      // Rows above the first and below the last are the reflected ones; only a reflecting metric reads them.
      const std::uint8_t* around[kBlockRows + kHaloRows];
      const std::uint8_t** rows = around + 1;
      for (int y = y0 - 1; y <= y1; ++y) {
        const int at = std::clamp(reflect(y, height_), first, last - 1);
        rows[y - y0] = is_in_place() ? plane_[0] + stride_[0] * at : sample_rows_[at - first];
      }
      Block all{rows, y1 - y0, x0 - left, x1 - left, readable, static_cast<int>(samples_.largest()), route_.words};
      if constexpr (M::kHistogram) {
        const int shift = samples_.bits() - 8;
        in_any_order(all, [&](const Block& b) {
          kernels_.count[route_.sample_bytes - 1](b, shift, has_pairs_, meter_.counters_.data());
        });
      } else {
        if (plan_.request.mean)
          in_any_order(all, [&](const Block& b) { kernels_.mean[lane()](b, totals_ + plan_.words - 1); });
        const Block inner = within_reach(all, x0, x1, y0, y1);
        if (inner.x0 < inner.x1 && inner.count > 0) kernels_.measure[metric()][lane()](inner, totals_);
        if constexpr (M::kReflect) {
          if (x0 == 0) reflected_column(all, 0, left);
          if (x1 == width_ && width_ > 1) reflected_column(all, width_ - 1, left);
        }
      }
      if (route_.exposes && grid_.first_cell == 0) meter_.statistics_.expose(rows, y1 - y0, x0, x1);
    }

    /// As measure_tile(), without storing samples.
    void prefilter_tile(int x0, int x1, int y0, int y1) {
      const int left = std::max(0, x0 - reach_.left), right = std::min(width_, x1 + reach_.right);
      const int first = std::max(0, y0 - reach_.up), taps = 2 * samples_.radius;
      const int vector = kernels_.vector_bytes / route_.value_bytes;
      const int readable = make_values(left, right, first, std::min(height_, y1 + reach_.down),
                                       std::max(right - left, vector) + taps, route_.reads_frame);
      const Block all{
          values_ + (y0 - first), y1 - y0, x0 - left, x1 - left, readable, static_cast<int>(samples_.largest()), {}};
      if (plan_.request.mean) kernels_.mean_prefiltered[lane()](all, route_.prefilter, totals_ + plan_.words - 1);
      const Block inner = within_reach(all, x0, x1, y0, y1);
      if (inner.x0 < inner.x1 && inner.count > 0)
        kernels_.measure_prefiltered[metric()][lane()](inner, route_.prefilter, totals_);
    }

    /// The part of a block, of pixels x0...x1-1 of rows y0...y1-1, where the metric exists.
    Block within_reach(Block b, int x0, int x1, int y0, int y1) const {
      b.x0 += std::max(0, reach_.left - x0);
      b.x1 -= std::max(0, x1 - (width_ - reach_.right));
      if constexpr (!M::kReflect) {
        const int top = std::max(y0, reach_.up);
        b.rows += top - y0;
        b.count = std::min(y1, height_ - reach_.down) - top;
      }
      return b;
    }

    int metric() const { return plan_.request.metric; }
    int lane() const { return static_cast<int>(route_.lane); }

    /// Calls f with blocks that together hold the samples of b, for measurements without neighbourhoods.
    template <class F>
    void in_any_order(const Block& b, F&& f) {
      if (!route_.is_split()) return f(b);
      const std::uint8_t* odd[kBlockRows];
      for (int y = 0; y < b.count; ++y) odd[y] = b.rows[y] + kSplitBytes;
      f({b.rows, b.count, (b.x0 + 1) / 2, (b.x1 + 1) / 2, b.readable / 2, b.largest, {}});
      f({odd, b.count, b.x0 / 2, b.x1 / 2, b.readable / 2, b.largest, {}});
    }

    /// Index v of 0...n-1, continued by reflection without repeating the edge; one sample alone repeats.
    static int reflect(int v, int n) {
      if (n == 1) return 0;
      return v < 0 ? -v : v >= n ? 2 * n - 2 - v : v;
    }

    /// Measures a column with reflected neighbours, with plain integers.
    void reflected_column(const Block& b, int x, int left) {
      PlainSums sink{totals_};
      const auto row = [&](int y) {
        const auto at = [&](int column) -> int {
          const int i = column - left;
          const std::uint8_t* p =
              b.rows[y] + (route_.is_split() ? (i & ~1) + (i & 1) * kSplitBytes : i * route_.sample_bytes);
          if (route_.sample_bytes == 1 || route_.words.is_byte) return *p;
          std::uint16_t v;
          std::memcpy(&v, p, sizeof v);
          return (v & route_.words.mask) >> route_.words.shift;
        };
        return M::template row<int>(PlainNeighbours{at(reflect(x - 1, width_)), at(x), at(reflect(x + 1, width_))});
      };
      for (int y = 0; y < b.count; ++y) M::template pixel<int>(row(y - 1), row(y), row(y + 1), sink);
    }

    /// Points sample_rows_[0...y1-y0-1] at the samples of columns x0...x1-1, and returns how many columns may be
    /// loaded; x0 may be -1, never to be measured.
    int make_samples(int x0, int x1, int y0, int y1) {
      const int r = samples_.radius, n = x1 - x0;
      // Bytes are prefiltered in place if no vector can reach past their row.
      const int room = (n + kVectorColumns - 1) / kVectorColumns * kVectorColumns + kOverrun;
      const int readable =
          make_values(x0, x1, y0, y1, route_.is_split() ? room : width_ + 1, route_.reads_frame && route_.is_split());
      if (route_.path == SamplePath::kCodes) {
        std::copy_n(values_, y1 - y0, sample_rows_);
        return readable;
      }
      std::uint16_t* out[kBlockRows + kHaloRows] = {};
      for (int y = y0; y < y1; ++y) {
        sample_rows_[y - y0] = meter_.samples_.row(y - y0);
        out[y - y0] = reinterpret_cast<std::uint16_t*>(meter_.samples_.row(y - y0));
      }
      if (route_.path == SamplePath::kRounded) {
        for (int y = 0; y < y1 - y0; ++y)
          kernels_.round[route_.value_bytes == 4](values_[y], n, samples_.shift, out[y]);
        return static_cast<int>(kPitch);
      }
      kernels_.prefilter[route_.prefilter_kernel](values_, r, y1 - y0, n, samples_.shift, out, meter_.scratch_.data());
      return static_cast<int>(kPitch);
    }

    /// Points values_ at rows y0-radius...y1-1+radius of columns x0-radius...x1-1+radius before the prefilter, the
    /// image's edges repeated, and returns how many columns may be loaded. is_raw: the frame's own bytes or words;
    /// they are used in place if the row has `room` columns from the first on.
    int make_values(int x0, int x1, int y0, int y1, int room, bool is_raw) {
      const int r = samples_.radius, x = x0 - r;
      const int top = std::max(0, y0 - r), bottom = std::min(height_, y1 + r);
      const bool in_place = is_raw && x >= 0 && x + room <= width_;
      if (!in_place && !(!is_raw && made_.holds({x, x1 + r, top, bottom}))) {
        made_ = {x, is_raw ? x1 + r : last_made(x, x1 + r), top, bottom};
        for (int y = top; y < bottom; ++y) make_row(y, meter_.scaled_.row(y - top), is_raw);
      }
      const std::uint8_t** rows = values_ + (top - (y0 - r));
      for (int y = top; y < bottom; ++y)
        rows[y - top] = in_place ? plane_[0] + stride_[0] * y + std::ptrdiff_t{x} * route_.value_bytes
                                 : meter_.scaled_.row(y - top) + std::ptrdiff_t{x - made_.x0} * route_.value_bytes;
      std::fill(values_, rows, rows[0]);
      std::fill(rows + (bottom - top), values_ + (y1 - y0 + 2 * r), rows[bottom - top - 1]);
      const int readable = in_place ? width_ - x : made_columns() - (x - made_.x0);
      if (is_raw && !in_place) made_ = {};  // not what values would be
      return readable;
    }

    /// Where values from column x on end that are made at once: those of the tiles beside are made too, except where
    /// the next tile is below.
    int last_made(int x, int end) const {
      if (M::kHistogram) return end;
      const int last = std::min(width_, grid_.column(grid_.columns) + reach_.right) + samples_.radius;
      return std::max(end, std::min(last, x + made_columns() - kSlack));
    }

    /// Row y of the values that are made.
    void make_row(int y, std::uint8_t* row, bool is_raw) {
      const int a = std::max(0, made_.x0), n = std::min(width_, made_.x1) - a;
      const int left = a - made_.x0, right = made_.x1 - (a + n);
      std::uint8_t* body = row + std::ptrdiff_t{left} * route_.value_bytes;
      if (is_raw)
        std::memcpy(body, plane_[0] + stride_[0] * y + std::ptrdiff_t{a} * route_.value_bytes,
                    static_cast<std::size_t>(n * route_.value_bytes));
      else
        scaled_row(y, a, n, body);
      if (left == 0 && right == 0) return;
      if (route_.value_bytes == 1)
        repeat_edges<std::uint8_t>(body, n, left, right);
      else if (route_.value_bytes == 2)
        repeat_edges<std::uint16_t>(body, n, left, right);
      else
        repeat_edges<std::uint32_t>(body, n, left, right);
    }

    /// Repeats the first of n values `left` times before it and the last one `right` times after it.
    template <class T>
    static void repeat_edges(std::uint8_t* values, int n, int left, int right) {
      T* v = reinterpret_cast<T*>(values);
      for (int i = 1; i <= left; ++i) v[-i] = v[0];
      for (int i = 0; i < right; ++i) v[n + i] = v[n - 1];
    }

    /// Columns x...x+n-1 of row y of luma, box-summed by the downscale.
    void scaled_row(int y, int x, int n, std::uint8_t* out) {
      const int k = samples_.downscale;
      const std::uint8_t* codes[kMaxDownscale] = {};
      for (int j = 0; j < k; ++j) {
        const std::uint8_t* planes[3] = {};
        for (int p = 0; p < layout_.planes(); ++p) planes[p] = plane_[p] + stride_[p] * (y * k + j);
        std::uint8_t* to = k == 1 ? out : meter_.codes_.row(j);
        kernels_.luma(layout_, planes, x * k, n * k, to);
        codes[j] = to;
      }
      if (k > 1) kernels_.box[route_.value_bytes == 4 ? 2 : route_.code_bytes - 1](codes, k, n, out);
    }

    CpuMeter& meter_;
    const SharpnessKernels& kernels_;
    const Route& route_;
    std::int64_t* const cells_;
    const Plan& plan_;
    const Grid& grid_;
    const PixelLayout& layout_;
    const SampleFormat& samples_;
    const int width_, height_;  // of the field, in samples
    const std::uint8_t* plane_[3] = {};
    std::ptrdiff_t stride_[3] = {};
    Reach reach_;
    std::int64_t* totals_ = nullptr;  // of the cell being measured
    bool has_pairs_ = false;          // its histogram is counted in pairs
    Made made_;                       // in the meter's buffer of values
    const std::uint8_t* values_[kBlockRows + kHaloRows + 2 * kMaxRadius] = {};
    const std::uint8_t* sample_rows_[kBlockRows + kHaloRows] = {};
  };

  const Geometry geometry_;
  const std::string instruction_set_;
  const SharpnessKernels& kernels_;
  Route route_;
  std::vector<Route> companion_routes_;
  Frame frame_;
  std::shared_ptr<const Plan> plan_;
  StatisticsMeter statistics_;
  std::vector<std::int64_t> totals_;
  std::vector<std::uint32_t> counters_ = std::vector<std::uint32_t>(kCounters);
  RowBuffer codes_{kMaxDownscale, kPitch* kMaxDownscale, 2};
  RowBuffer scaled_{kBlockRows + kHaloRows + 2 * kMaxRadius, kPitch, kValueBytes};
  RowBuffer samples_{kBlockRows + kHaloRows, kPitch, 2};
  std::vector<std::uint32_t> scratch_ =
      std::vector<std::uint32_t>(std::size_t{kBlockRows + kHaloRows + 2 * kMaxRadius} * (kTileColumns + kSlack));
};

}  // namespace

std::unique_ptr<Meter> make_meter(const Geometry& geometry, std::string_view isa) {
  constexpr KernelTables<SharpnessKernels> kTables = FQ_KERNEL_TABLES(sharpness_kernels);
  constexpr KernelTables<StatisticsKernels> kStatisticsTables = FQ_KERNEL_TABLES(statistics_kernels);
  return std::make_unique<CpuMeter>(geometry, isa.empty() ? instruction_sets().front() : isa,
                                    find_kernels(kTables, isa), find_kernels(kStatisticsTables, isa));
}

}  // namespace framequality::cpu
