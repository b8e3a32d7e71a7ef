// SPDX-License-Identifier: LGPL-2.1-or-later
// The host twin: walks over a plan's regions tile by tile and hands blocks of sample rows to the kernels.
#include "cpu/sharpness/meter.h"

#include "algorithms/sharpness/metrics/all.h"
#include "cpu/dispatch.h"
#include "cpu/sharpness/kernels.h"
#include "cpu/sharpness/survey.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <type_traits>

namespace framequality::cpu {
namespace {

/// Rows of a block. More rows share the two halo rows among more, fewer keep a block's rows in the first-level cache
/// and its streams within what prefetchers follow.
constexpr int kBlockRows = 48;
/// Columns of a tile whose samples have to be computed, its neighbours included: eight 64-byte vectors.
constexpr int kTileColumns = 512;
/// Samples of a cell from which counting pairs pays for folding 65,536 counters (7 us, 0.15 ns a sample saved).
constexpr std::uint64_t kPairsFrom = 1 << 16;
constexpr int kVectorColumns = 64;  // of the widest vector
constexpr int kOverrun = 4;         // bytes that smoothing reads behind its last vector
constexpr int kMaxRadius = 2, kMaxDownscale = 4;
constexpr int kHaloRows = 2;  // at most one row up and one down
constexpr std::size_t kPitch = kSplitBytes;
static_assert(kPitch >= kTileColumns + 2 * kMaxRadius + kSlack && kPitch % 64 == 0);

/// Byte rows of one tile, one after the other, with room for a vector to overrun.
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

/// What a metric is computed with one pixel at a time.
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
  CpuMeter(const Geometry& geometry, const SharpnessKernels& kernels, const SurveyKernels& survey)
      : geometry_(geometry), kernels_(kernels), survey_(survey, kernels) {}

  void submit(const MeterTask& task) override {
    const auto& [frame, plan] = task;
    if (plan_) throw std::logic_error("cpu meter: a frame is pending");
    if (!plan || !plan->refusal.empty() || plan->geometry != geometry_ || frame.memory != Memory::kHost)
      throw std::invalid_argument("cpu meter: not a plan or a frame of this meter");
    frame_ = frame;
    plan_ = plan;
  }

  std::span<const std::int64_t> collect() override {
    if (!plan_) throw std::logic_error("cpu meter: no frame is pending");
    const auto plan = std::move(plan_);
    totals_.assign(static_cast<std::size_t>(plan->totals()), 0);
    const bool surveys = plan->request.measures_statistics();
    if (surveys) survey_.begin(*plan, frame_, is_direct(*plan, 0));
    with_metric(plan->request.metric, [&](auto m) {
      for (const Grid& grid : plan->grids) Region<decltype(m)>(*this, *plan, grid).measure();
    });
    if (surveys) survey_.finish(std::span(totals_).subspan(static_cast<std::size_t>(plan->cell_totals())));
    return totals_;
  }

 private:
  /// True if a field's samples are the frame's own bytes or words.
  static bool is_direct(const Plan& plan, int field) {
    return plan.samples.is_identity() && plan.geometry.layout.is_plain() && plan.size[field].width >= kSlack;
  }

  /// One grid of a plan, measured with metric M.
  template <class M>
  class Region {
   public:
    Region(CpuMeter& meter, const Plan& plan, const Grid& grid)
        : meter_(meter),
          kernels_(meter.kernels_),
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
      direct_ = is_direct(plan, grid.field);
      exposes_ = direct_ && plan.request.measures_statistics() && grid.first_cell == 0;
      split_ = samples_.radius > 0 && samples_.downscale == 1 && layout_.depth == 8;
      code_bytes_ = layout_.depth == 8 ? 1 : 2;
      bare_ = samples_.downscale == 1 && layout_.kind == PixelLayout::Kind::kLuma && layout_.offset[0] == 0 &&
              layout_.pixel_stride == layout_.word_bytes && layout_.word_bytes == code_bytes_ && !layout_.big_endian;
      sample_bytes_ = samples_.is_identity() ? code_bytes_ : 2;
      const int scaled_bits = layout_.depth + (samples_.downscale == 4 ? 4 : samples_.downscale == 2 ? 2 : 0);
      scaled_bytes_ = samples_.downscale == 1 ? code_bytes_ : scaled_bits <= 16 ? 2 : 4;
      if (samples_.radius > 0 && scaled_bytes_ <= 2) {
        mean_smoothed_ = kernels_.mean_smoothed[lane()];
        if (mean_smoothed_ || !plan.request.mean) measure_smoothed_ = kernels_.measure_smoothed[metric()][lane()];
        // Words are taken as they lie, with the bits beside the code.
        const int below = bare_ ? layout_.shift : 0, bits = bare_ ? layout_.depth : 16;
        smoothing_ = {samples_.radius, samples_.shift + below, samples_.shift ? 1 << (samples_.shift - 1 + below) : 0,
                      static_cast<std::uint16_t>(((1 << bits) - 1) << below)};
      }
    }

    void measure() {
      for (int j = 0; j < grid_.rows; ++j) {
        // A histogram is finished cell by cell; everything else goes along the rows, as memory does.
        const int y1 = grid_.row(j + 1), step = M::kHistogram ? std::max(1, y1 - grid_.row(j)) : kBlockRows;
        for (int y0 = grid_.row(j); y0 < y1; y0 += step) {
          for (int i = 0; i < grid_.columns; ++i) {
            const int cell = grid_.first_cell + j * grid_.columns + i;
            totals_ = meter_.totals_.data() + static_cast<std::ptrdiff_t>(cell) * plan_.words;
            pairs_ = M::kHistogram && plan_.pixels[static_cast<std::size_t>(cell)] >= kPairsFrom;
            for (int y = y0; y < std::min(y0 + step, y1); y += kBlockRows)
              for (int x = grid_.column(i), end = x; x < grid_.column(i + 1); x = end) {
                const int bottom = std::min(y + kBlockRows, y1);
                end = std::min(x + tile_columns(x, y, bottom), grid_.column(i + 1));
                measure_tile(x, end, y, bottom);
              }
            if (pairs_) kernels_.fold(meter_.pairs_.data(), totals_);
          }
          if (plan_.request.measures_statistics())
            meter_.survey_.advance(grid_.field, std::min(y0 + step, y1) * samples_.downscale);
        }
      }
    }

   private:
    /// True if samples of rows y0...y1-1 are measured as they are smoothed, none of them in memory; not what reflects
    /// them.
    bool is_fused(int y0, int y1) const { return measure_smoothed_ && !(M::kReflect && (y0 == 0 || y1 == height_)); }

    /// Columns of a tile of rows y0...y1-1 that starts at x. Tiles at the picture's edges, where rows have to be copied
    /// to repeat the edge, are kept small when the others can be smoothed where they lie.
    int tile_columns(int x, int y0, int y1) const {
      if (direct_) return width_;
      if (bare_ && is_fused(y0, y1)) {
        const int step = kernels_.vector_bytes / scaled_bytes_ - reach_.left - reach_.right;
        const int first = reach_.left + samples_.radius, room = width_ - reach_.right - samples_.radius - x;
        return x < first || room < step ? step : room / step * step;
      }
      const int margin = reach_.left + reach_.right + (split_ ? 1 : 0);
      if (!split_ || !layout_.is_plain()) return kTileColumns - margin;
      const int start = x - reach_.left - 1 - samples_.radius;
      if (start < 0) return kVectorColumns - margin;
      const int room = (width_ - start - kOverrun) / kVectorColumns * kVectorColumns;
      return (room < kVectorColumns ? kTileColumns : std::min(room, kTileColumns)) - margin;
    }

    void measure_tile(int x0, int x1, int y0, int y1) {
      if (is_fused(y0, y1) && !(M::kReflect && (x0 == 0 || x1 == width_))) return smooth_tile(x0, x1, y0, y1);
      const int first = std::max(0, y0 - reach_.up), last = std::min(height_, y1 + reach_.down);
      int left = 0, readable = width_;
      if (!direct_) {
        left = std::max(0, x0 - reach_.left);
        if (split_) left -= (std::max(x0, reach_.left) - left) & 1;
        readable = static_cast<int>(kPitch);
        make_samples(left, std::min(width_, x1 + reach_.right), first, last);
      }
      // Rows above the first and below the last are the reflected ones; only a reflecting metric reads them.
      const std::uint8_t* around[kBlockRows + kHaloRows];
      const std::uint8_t** rows = around + 1;
      for (int y = y0 - 1; y <= y1; ++y) {
        const int at = std::clamp(reflect(y, height_), first, last - 1);
        rows[y - y0] = direct_ ? plane_[0] + stride_[0] * at : sample_rows_[at - first];
      }
      Block all{rows, y1 - y0, x0 - left, x1 - left, readable, static_cast<int>(samples_.largest())};
      if constexpr (M::kHistogram) {
        const int shift = samples_.bits() - 8;
        in_any_order(all, [&](const Block& b) {
          if (pairs_)
            kernels_.count_pairs[sample_bytes_ - 1](b, shift, meter_.pairs_.data());
          else
            kernels_.histogram[sample_bytes_ - 1](b, shift, totals_);
        });
      } else {
        if (plan_.request.mean)
          in_any_order(all, [&](const Block& b) { kernels_.mean[sample_bytes_ - 1](b, totals_); });
        const Block inner = within_reach(all, x0, x1, y0, y1);
        if (inner.x0 < inner.x1 && inner.count > 0) kernels_.measure[metric()][lane()](inner, totals_);
        if constexpr (M::kReflect) {
          if (x0 == 0) reflected_column(all, 0, left);
          if (x1 == width_ && width_ > 1) reflected_column(all, width_ - 1, left);
        }
      }
      if (exposes_) meter_.survey_.expose(rows, y1 - y0, x0, x1);
    }

    /// As measure_tile(), without samples in memory.
    void smooth_tile(int x0, int x1, int y0, int y1) {
      const int left = std::max(0, x0 - reach_.left), right = std::min(width_, x1 + reach_.right);
      const int first = std::max(0, y0 - reach_.up), taps = 2 * samples_.radius;
      const int vector = kernels_.vector_bytes / scaled_bytes_;
      const int readable = make_values(left, right, first, std::min(height_, y1 + reach_.down),
                                       std::max(right - left, vector) + taps, bare_);
      const Block all{
          values_ + (y0 - first), y1 - y0, x0 - left, x1 - left, readable, static_cast<int>(samples_.largest())};
      if (plan_.request.mean) mean_smoothed_(all, smoothing_, totals_);
      const Block inner = within_reach(all, x0, x1, y0, y1);
      if (inner.x0 < inner.x1 && inner.count > 0) measure_smoothed_(inner, smoothing_, totals_);
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
    int lane() const {
      return static_cast<int>(split_               ? Lane::kSplit
                              : sample_bytes_ == 1 ? Lane::kByte
                                                   : word_lane<M>(static_cast<int>(samples_.largest())));
    }

    /// Calls f with blocks that together hold the samples of b, for what does not care who neighbours whom.
    template <class F>
    void in_any_order(const Block& b, F&& f) {
      if (!split_) return f(b);
      const std::uint8_t* odd[kBlockRows];
      for (int y = 0; y < b.count; ++y) odd[y] = b.rows[y] + kSplitBytes;
      f({b.rows, b.count, (b.x0 + 1) / 2, (b.x1 + 1) / 2, b.readable / 2, b.largest});
      f({odd, b.count, b.x0 / 2, b.x1 / 2, b.readable / 2, b.largest});
    }

    /// Index v of 0...n-1, continued by reflection without repeating the edge; one sample alone repeats.
    static int reflect(int v, int n) {
      if (n == 1) return 0;
      return v < 0 ? -v : v >= n ? 2 * n - 2 - v : v;
    }

    /// A column whose horizontal neighbours are reflected, with plain integers.
    void reflected_column(const Block& b, int x, int left) {
      PlainSums sink{totals_};
      const auto row = [&](int y) {
        const auto at = [&](int column) -> int {
          const int i = column - left;
          const std::uint8_t* p = b.rows[y] + (split_ ? (i & ~1) + (i & 1) * kSplitBytes : i * sample_bytes_);
          if (sample_bytes_ == 1) return *p;
          std::uint16_t v;
          std::memcpy(&v, p, sizeof v);
          return v;
        };
        return M::template row<int>(PlainNeighbours{at(reflect(x - 1, width_)), at(x), at(reflect(x + 1, width_))});
      };
      for (int y = 0; y < b.count; ++y) M::template pixel<int>(row(y - 1), row(y), row(y + 1), sink);
    }

    /// Points sample_rows_[0...y1-y0-1] at the samples of columns x0...x1-1; x0 may be -1, never to be measured.
    void make_samples(int x0, int x1, int y0, int y1) {
      const int r = samples_.radius, n = x1 - x0;
      // Bytes are smoothed where they lie if no vector can reach past their row.
      const int room = (n + kVectorColumns - 1) / kVectorColumns * kVectorColumns + kOverrun;
      make_values(x0, x1, y0, y1, split_ ? room : width_ + 1, bare_ && split_);
      if (samples_.is_identity()) {
        std::copy_n(values_, y1 - y0, sample_rows_);
        return;
      }
      std::uint16_t* out[kBlockRows + kHaloRows];
      for (int y = y0; y < y1; ++y) {
        sample_rows_[y - y0] = meter_.samples_.row(y - y0);
        out[y - y0] = reinterpret_cast<std::uint16_t*>(meter_.samples_.row(y - y0));
      }
      if (r == 0) {
        for (int y = 0; y < y1 - y0; ++y) kernels_.round[scaled_bytes_ == 4](values_[y], n, samples_.shift, out[y]);
        return;
      }
      const bool narrow = samples_.bits() + samples_.shift <= 16;
      const int form = scaled_bytes_ == 4 ? 3 : scaled_bytes_ == 1 ? 0 : narrow ? 1 : 2;
      kernels_.smooth[form](values_, r, y1 - y0, n, samples_.shift, out, meter_.scratch_.data());
    }

    /// Points values_ at rows y0-radius...y1-1+radius of columns x0-radius...x1-1+radius before smoothing, the
    /// picture's edges repeated, and returns how many columns may be loaded. is_raw: the frame's own bytes or words;
    /// they stay where they lie if the row has `room` columns from the first on.
    int make_values(int x0, int x1, int y0, int y1, int room, bool is_raw) {
      const int r = samples_.radius, x = x0 - r;
      const int top = std::max(0, y0 - r), bottom = std::min(height_, y1 + r);
      const int a = std::max(0, x), n = std::min(width_, x1 + r) - a;
      const int left = a - x, right = x1 + r - (a + n);
      const bool in_place = is_raw && x >= 0 && x + room <= width_;
      const std::uint8_t** rows = values_ + (top - (y0 - r));
      for (int y = top; y < bottom; ++y) {
        const std::uint8_t* codes = plane_[0] + stride_[0] * y + std::ptrdiff_t{a} * scaled_bytes_;
        std::uint8_t* row = meter_.scaled_.row(y - top);
        rows[y - top] = in_place ? codes : row;
        if (in_place) continue;
        std::uint8_t* body = row + std::ptrdiff_t{left} * scaled_bytes_;
        if (is_raw)
          std::memcpy(body, codes, static_cast<std::size_t>(n * scaled_bytes_));
        else
          scaled_row(y, a, n, body);
        if (left == 0 && right == 0) continue;
        if (scaled_bytes_ == 1)
          repeat_edges<std::uint8_t>(body, n, left, right);
        else if (scaled_bytes_ == 2)
          repeat_edges<std::uint16_t>(body, n, left, right);
        else
          repeat_edges<std::uint32_t>(body, n, left, right);
      }
      std::fill(values_, rows, rows[0]);
      std::fill(rows + (bottom - top), values_ + (y1 - y0 + 2 * r), rows[bottom - top - 1]);
      return in_place ? width_ - x : static_cast<int>(kPitch);
    }

    /// Repeats the first of n values `left` times before it and the last one `right` times behind it.
    template <class T>
    static void repeat_edges(std::uint8_t* values, int n, int left, int right) {
      T* v = reinterpret_cast<T*>(values);
      for (int i = 1; i <= left; ++i) v[-i] = v[0];
      for (int i = 0; i < right; ++i) v[n + i] = v[n - 1];
    }

    /// Columns x...x+n-1 of row y of luma codes, box-summed by the downscale.
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
      if (k > 1) kernels_.box[scaled_bytes_ == 4 ? 2 : code_bytes_ - 1](codes, k, n, out);
    }

    CpuMeter& meter_;
    const SharpnessKernels& kernels_;
    const Plan& plan_;
    const Grid& grid_;
    const PixelLayout& layout_;
    const SampleFormat& samples_;
    const int width_, height_;  // of the field, in samples
    const std::uint8_t* plane_[3] = {};
    std::ptrdiff_t stride_[3] = {};
    Reach reach_;
    bool split_;    // samples are in the layout of Lane::kSplit
    bool direct_;   // samples are the frame's own bytes or words
    bool exposes_;  // these are also the codes whose exposure is taken
    bool bare_;     // values before smoothing are the frame's own bytes or words, but for bits beside the code
    int code_bytes_, scaled_bytes_, sample_bytes_;
    SharpnessKernels::MeasureSmoothed measure_smoothed_ = nullptr, mean_smoothed_ = nullptr;
    Smoothing smoothing_;
    std::int64_t* totals_ = nullptr;  // of the cell being measured
    bool pairs_ = false;              // its histogram is counted in pairs
    const std::uint8_t* values_[kBlockRows + kHaloRows + 2 * kMaxRadius] = {};
    const std::uint8_t* sample_rows_[kBlockRows + kHaloRows] = {};
  };

  const Geometry geometry_;
  const SharpnessKernels& kernels_;
  Frame frame_;
  std::shared_ptr<const Plan> plan_;
  Survey survey_;
  std::vector<std::int64_t> totals_;
  std::vector<std::uint32_t> pairs_ = std::vector<std::uint32_t>(kPairCounts);
  RowBuffer codes_{kMaxDownscale, kPitch* kMaxDownscale, 2};
  RowBuffer scaled_{kBlockRows + kHaloRows + 2 * kMaxRadius, kPitch, 4};
  RowBuffer samples_{kBlockRows + kHaloRows, kPitch, 2};
  std::vector<std::uint32_t> scratch_ =
      std::vector<std::uint32_t>(std::size_t{kBlockRows + kHaloRows + 2 * kMaxRadius} * (kTileColumns + kSlack));
};

}  // namespace

std::unique_ptr<Meter> make_meter(const Geometry& geometry, std::string_view isa) {
  constexpr KernelTables<SharpnessKernels> kTables = FQ_KERNEL_TABLES(sharpness_kernels);
  constexpr KernelTables<SurveyKernels> kSurveyTables = FQ_KERNEL_TABLES(survey_kernels);
  return std::make_unique<CpuMeter>(geometry, find_kernels(kTables, isa), find_kernels(kSurveyTables, isa));
}

}  // namespace framequality::cpu
