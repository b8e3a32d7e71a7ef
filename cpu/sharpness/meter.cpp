// SPDX-License-Identifier: LGPL-2.1-or-later
// The host twin: walks over a plan's regions tile by tile and hands blocks of sample rows to the kernels.
#include "cpu/sharpness/meter.h"

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
  std::uint8_t* row(int y) { return data_.front().bytes + static_cast<std::size_t>(y) * pitch_; }

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
    if (!plan || !plan->refusal.empty() || plan->geometry != geometry_ || frame.on_device)
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
      sample_bytes_ = samples_.is_identity() ? code_bytes_ : 2;
      const int scaled_bits = layout_.depth + (samples_.downscale == 4 ? 4 : samples_.downscale == 2 ? 2 : 0);
      scaled_bytes_ = samples_.downscale == 1 ? code_bytes_ : scaled_bits <= 16 ? 2 : 4;
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
                end = std::min(x + tile_columns(x), grid_.column(i + 1));
                measure_tile(x, end, y, std::min(y + kBlockRows, y1));
              }
            if (pairs_) kernels_.fold(meter_.pairs_.data(), totals_);
          }
          if (plan_.request.measures_statistics())
            meter_.survey_.advance(grid_.field, std::min(y0 + step, y1) * samples_.downscale);
        }
      }
    }

   private:
    /// Columns of a tile that starts at x. Tiles at the picture's edges, where rows have to be copied to repeat the
    /// edge, are kept small when the others can be smoothed where they lie.
    int tile_columns(int x) const {
      if (direct_) return width_;
      const int margin = reach_.left + reach_.right + (split_ ? 1 : 0);
      if (!split_ || !layout_.is_plain()) return kTileColumns - margin;
      const int start = x - reach_.left - 1 - samples_.radius;
      if (start < 0) return kVectorColumns - margin;
      const int room = (width_ - start - kOverrun) / kVectorColumns * kVectorColumns;
      return (room < kVectorColumns ? kTileColumns : std::min(room, kTileColumns)) - margin;
    }

    void measure_tile(int x0, int x1, int y0, int y1) {
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
        Block inner = all;
        inner.x0 = std::max(x0, reach_.left) - left;
        inner.x1 = std::min(x1, width_ - reach_.right) - left;
        if constexpr (!M::kReflect) {
          const int top = std::max(y0, reach_.up);
          inner.rows = rows + (top - y0);
          inner.count = std::min(y1, height_ - reach_.down) - top;
        }
        if (inner.x0 < inner.x1 && inner.count > 0) kernels_.measure[metric()][lane()](inner, totals_);
        if constexpr (M::kReflect) {
          if (x0 == 0) reflected_column(all, 0, left);
          if (x1 == width_ && width_ > 1) reflected_column(all, width_ - 1, left);
        }
      }
      if (exposes_) meter_.survey_.expose(rows, y1 - y0, x0, x1);
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
      // Rows of values before smoothing; the columns past the picture's edges repeat its edge.
      const int top = std::max(0, y0 - r), bottom = std::min(height_, y1 + r);
      const std::uint8_t* in[kBlockRows + kHaloRows + 2 * kMaxRadius];
      const int a = std::max(0, x0 - r), b = std::min(width_, x1 + r);
      // Bytes are smoothed where they lie if no vector can reach past their row.
      const bool in_place = split_ && layout_.is_plain() && x0 >= r &&
                            x0 - r + (n + kVectorColumns - 1) / kVectorColumns * kVectorColumns + kOverrun <= width_;
      for (int y = top; y < bottom; ++y) {
        if (in_place) {
          scaled_rows_[y - top] = plane_[0] + stride_[0] * y + (x0 - r);
          continue;
        }
        std::uint8_t* row = meter_.scaled_.row(y - top);
        std::uint8_t* body = row + static_cast<std::ptrdiff_t>(a - (x0 - r)) * scaled_bytes_;
        scaled_row(y, a, b - a, body);
        std::uint8_t* end = body + static_cast<std::ptrdiff_t>(b - a) * scaled_bytes_;
        for (std::uint8_t* p = row; p < body; p += scaled_bytes_) std::copy_n(body, scaled_bytes_, p);
        for (int i = b; i < x1 + r; ++i, end += scaled_bytes_) std::copy_n(end - scaled_bytes_, scaled_bytes_, end);
        scaled_rows_[y - top] = row;
      }
      if (samples_.is_identity()) {
        for (int y = y0; y < y1; ++y) sample_rows_[y - y0] = scaled_rows_[y - top];
        return;
      }
      std::uint16_t* out[kBlockRows + kHaloRows];
      for (int y = y0; y < y1; ++y) {
        sample_rows_[y - y0] = meter_.samples_.row(y - y0);
        out[y - y0] = reinterpret_cast<std::uint16_t*>(meter_.samples_.row(y - y0));
      }
      if (r == 0) {
        for (int y = y0; y < y1; ++y)
          kernels_.round[scaled_bytes_ == 4](scaled_rows_[y - top], n, samples_.shift, out[y - y0]);
        return;
      }
      for (int y = y0 - r; y < y1 + r; ++y) in[y - y0 + r] = scaled_rows_[std::clamp(y, 0, height_ - 1) - top];
      const bool narrow = samples_.bits() + samples_.shift <= 16;
      const int form = scaled_bytes_ == 4 ? 3 : scaled_bytes_ == 1 ? 0 : narrow ? 1 : 2;
      kernels_.smooth[form](in, r, y1 - y0, n, samples_.shift, out, meter_.scratch_.data());
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
    int code_bytes_, scaled_bytes_, sample_bytes_;
    std::int64_t* totals_ = nullptr;  // of the cell being measured
    bool pairs_ = false;              // its histogram is counted in pairs
    const std::uint8_t* scaled_rows_[kBlockRows + kHaloRows + 2 * kMaxRadius] = {};
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
