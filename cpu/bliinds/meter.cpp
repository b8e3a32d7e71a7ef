// SPDX-License-Identifier: LGPL-2.1-or-later
// The host twin of BLIINDS-II: rows pass once through all three scales, only block values are kept.
#include "cpu/bliinds/meter.h"

#include "cpu/bliinds/kernels.h"
#include "cpu/dispatch.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

namespace framequality::cpu {
namespace {

using namespace bliinds;

/// Values that are summed in one go: sums of this many, added up, stay within 1e-13 of the exact one.
constexpr int kChunk = 2048;

/// Buffers for pooling.
struct Scratch {
  explicit Scratch(std::size_t blocks) : inside(blocks + kBliindsSlack) {}
  std::vector<std::uint32_t> bins = std::vector<std::uint32_t>(kValueBins);
  std::vector<std::uint32_t> shapes = std::vector<std::uint32_t>(kNoShape + 1);
  std::vector<double> inside;
};

/// One scale of an image. Takes rows from the top, measures a row of blocks as soon as its five rows are there, and
/// hands rows of half size to the next scale.
class Level {
 public:
  Level(const Scale& scale, const BliindsKernels& kernels, Level* next)
      : scale_(scale),
        kernels_(kernels),
        next_(next),
        pitch_((std::int64_t{scale.columns()} + 1 + kBliindsSlack + 7) / 8 * 8),
        row_pitch_(3 * (static_cast<std::size_t>(scale.columns()) + 1)),
        rows_(kRows * row_pitch_),
        parted_(std::size_t{kBlock} * 3 * static_cast<std::size_t>(pitch_)),
        rho_(static_cast<std::size_t>(scale.columns() + kBliindsSlack)),
        halving_(row_pitch_) {
    for (std::vector<double>& v : values_) v.resize(blocks() + kBliindsSlack);
    shape_.resize(blocks());
  }

  std::size_t blocks() const {
    return static_cast<std::size_t>(scale_.columns()) * static_cast<std::size_t>(scale_.rows());
  }

  void begin() {
    pushed_ = 0;
    std::fill_n(parted_row(0), 3 * pitch_, 0.0);
  }

  /// Destination of the next row's pixels.
  double* slot() { return row(pushed_) + 1; }

  void push() {
    kernels_.part(row(pushed_), scale_.columns() + 1, pitch_, parted_row(pushed_ + 1));
    if (next_ && pushed_ >= 2 && pushed_ % 2 == 0 && pushed_ / 2 <= scale_.half().height) {
      kernels_.halve(row(pushed_ - 2), row(pushed_ - 1), row(pushed_), scale_.half().width, halving_.data(),
                     next_->slot());
      next_->push();
    }
    ++pushed_;
    // Row r of blocks covers rows 3 r - 1...3 r + 3.
    if (pushed_ >= kBlock - 1 && (pushed_ - (kBlock - 1)) % kStride == 0) measure((pushed_ - (kBlock - 1)) / kStride);
  }

  /// Adds the rows of zeros below the image.
  void finish() {
    while (pushed_ < kStride * scale_.rows() + 1) {
      std::fill_n(slot(), scale_.width, 0.0);
      push();
    }
  }

  void pool(Scratch& scratch, double* features) const {
    const int n = static_cast<int>(blocks());
    for (const Statistic s : {kZeta, kEnergy, kOrient})
      pool_highest(values_[s].data(), n, scratch, features + std::ptrdiff_t{2} * s);
    pool_shapes(n, scratch, features + std::ptrdiff_t{2} * kGamma);
  }

  BlockValues block_values() const {
    const auto copy = [&](const auto& v) {
      return std::vector(v.begin(), v.begin() + static_cast<std::ptrdiff_t>(blocks()));
    };
    return {copy(values_[kZeta]), copy(values_[kEnergy]), copy(values_[kOrient]), copy(shape_)};
  }

 private:
  static constexpr int kRows = 3;  // as many as halving needs

  double* row(int y) { return rows_.data() + static_cast<std::size_t>(y % kRows) * row_pitch_; }
  double* parted_row(int y) { return parted_.data() + 3 * pitch_ * (y % kBlock); }

  void measure(int r) {
    const int n = scale_.columns();
    const std::size_t at = static_cast<std::size_t>(r) * static_cast<std::size_t>(n);
    const double* rows[kBlock];
    for (int y = 0; y < kBlock; ++y) rows[y] = parted_row(kStride * r + y);
    // Vectors that write past the row's end are overwritten by the next row.
    kernels_.blocks(rows, pitch_, n, values_[kZeta].data() + at, rho_.data(), values_[kEnergy].data() + at,
                    values_[kOrient].data() + at);
    kernels_.shapes(shape_table_, rho_.data(), n, shape_.data() + at);
  }

  /// Mean of all values, mean of the highest tenth.
  void pool_highest(const double* values, int n, Scratch& scratch, double* out) const {
    std::fill(scratch.bins.begin(), scratch.bins.end(), 0u);
    double sum = 0, high = 0;
    for (int i = 0; i < n; i += kChunk) sum += kernels_.count(values + i, std::min(kChunk, n - i), scratch.bins.data());
    int bin = kValueBins, wanted = tenth(n);
    for (std::uint32_t in_bin = 0; wanted > 0; wanted -= static_cast<int>(in_bin)) {
      in_bin = scratch.bins[static_cast<std::size_t>(--bin)];
      if (in_bin >= static_cast<std::uint32_t>(wanted)) break;
    }
    int inside = 0;
    for (int i = 0; i < n; i += kChunk) {
      int found = 0;
      high += kernels_.above(values + i, std::min(kChunk, n - i), bin, scratch.inside.data() + inside, &found);
      inside += found;
    }
    const auto first = scratch.inside.begin();
    std::nth_element(first, first + (wanted - 1), first + inside, std::greater<>());
    double rest = 0;
    for (int i = 0; i < wanted; ++i) rest += scratch.inside[static_cast<std::size_t>(i)];
    out[0] = sum / n;
    out[1] = (high + rest) / tenth(n);
  }

  /// Mean of all shapes, mean of the lowest tenth; in integers, so exact but for the last division.
  void pool_shapes(int n, Scratch& scratch, double* out) const {
    std::fill(scratch.shapes.begin(), scratch.shapes.end(), 0u);
    std::int64_t sum = 0, low = 0;
    for (const std::uint16_t s : shape_) {
      sum += s;
      ++scratch.shapes[s];
    }
    int wanted = tenth(n);
    for (int shape = kFirstShape; wanted > 0; ++shape) {
      const int taken = std::min(wanted, static_cast<int>(scratch.shapes[static_cast<std::size_t>(shape)]));
      low += std::int64_t{shape} * taken;
      wanted -= taken;
    }
    out[0] = static_cast<double>(sum) / (double{kShapeUnits} * n);
    out[1] = static_cast<double>(low) / (double{kShapeUnits} * tenth(n));
  }

  const Scale scale_;
  const BliindsKernels& kernels_;
  Level* const next_;
  const ShapeTable& shape_table_ = bliinds::shape_table();
  const std::int64_t pitch_;
  const std::size_t row_pitch_;
  int pushed_ = 0;
  std::vector<double> rows_;    // the last three, with the zeros around
  std::vector<double> parted_;  // the last five, by column mod 3
  std::vector<double> rho_, halving_;
  std::vector<double> values_[kStatistics];
  std::vector<std::uint16_t> shape_;
};

class BliindsMeter final : public bliinds::Meter {
 public:
  BliindsMeter(const Input& input, const BliindsKernels& kernels)
      : input_(input),
        kernels_(kernels),
        codes_(static_cast<std::size_t>(input.geometry.width) * 2 + kCodeSlack),
        chroma_(input.red.exists() ? codes_.size() : 0),
        repeated_(chroma_.size()),
        third_(Scale{input.geometry.width, input.geometry.height}.half().half(), kernels, nullptr),
        second_(Scale{input.geometry.width, input.geometry.height}.half(), kernels, &third_),
        first_({input.geometry.width, input.geometry.height}, kernels, &second_),
        scratch_(first_.blocks()) {}

  void submit(const Task& task) override {
    if (pending_) throw std::logic_error("cpu bliinds meter: a frame is pending");
    if (task.frame.memory != Memory::kHost)
      throw std::invalid_argument("cpu bliinds meter: the frame is not in host memory");
    pending_ = task;
    pending_->frame = channel_frame(input_.geometry.layout, task.frame, task.channel);
  }

  Features collect() override {
    if (!pending_) throw std::logic_error("cpu bliinds meter: no frame is pending");
    const Task task = *std::exchange(pending_, std::nullopt);
    for (Level* level : levels()) level->begin();
    v_row_ = -1;
    for (int y = 0; y < input_.geometry.height; ++y) {
      fill(task, y, first_.slot());
      first_.push();
    }
    Features features;
    for (int scale = 0; scale < kScales; ++scale) {
      Level& level = *levels()[static_cast<std::size_t>(scale)];
      level.finish();
      level.pool(scratch_, &features[std::size_t{2} * kStatistics * static_cast<std::size_t>(scale)]);
    }
    return features;
  }

  BlockValues blocks(int scale) override { return levels().at(static_cast<std::size_t>(scale))->block_values(); }

 private:
  std::array<Level*, kScales> levels() { return {&first_, &second_, &third_}; }

  /// Writes the pixels of row y.
  void fill(const Task& task, int y, double* out) {
    const Geometry& g = input_.geometry;
    const PixelLayout layout = channel_layout(g.layout, task.channel);
    const bool words = layout.depth > 8;
    const double unit = code_unit(layout);
    const std::uint8_t* const codes = row_of(layout, task.frame, y, g.width, codes_);
    if (!input_.makes_red(task.channel)) return kernels_.widen[words](codes, g.width, unit, out);
    const std::uint8_t* const v_codes = v_row(task, input_.red.row(y, g.height, task.interlaced));
    kernels_.red[words](input_.red, codes, v_codes, g.width, unit, out);
  }

  /// A row of V, one sample for each pixel.
  const std::uint8_t* v_row(const Task& task, int row) {
    if (row == v_row_) return v_codes_;  // as for the row before
    v_row_ = row;
    const RedOfYuv& red = input_.red;
    Frame frame;
    frame.plane[0] = task.frame.plane[red.v.plane[0]];
    frame.stride[0] = task.frame.stride[red.v.plane[0]];
    PixelLayout v = red.v;
    v.plane[0] = 0;
    const int n = red.width(input_.geometry.width);
    v_codes_ = row_of(v, frame, row, n, chroma_);
    if (red.x_shift == 0) return v_codes_;
    kernels_.repeat[red.x_shift - 1][v.depth > 8](v_codes_, n, repeated_.data());
    return v_codes_ = repeated_.data();
  }

  /// The n luma values of a row: in place, or extracted.
  const std::uint8_t* row_of(const PixelLayout& layout, const Frame& frame, int y, int n,
                             std::vector<std::uint8_t>& extracted) const {
    const std::uint8_t* planes[3] = {};
    for (int p = 0; p < layout.planes(); ++p) planes[p] = frame.plane[p] + frame.stride[p] * y;
    if (layout.is_plain()) return planes[0];
    kernels_.luma(layout, planes, 0, n, extracted.data());
    return extracted.data();
  }

  const Input input_;
  const BliindsKernels& kernels_;
  std::optional<Task> pending_;
  std::vector<std::uint8_t> codes_, chroma_, repeated_;
  int v_row_ = -1;                         ///< the row of V in v_codes_
  const std::uint8_t* v_codes_ = nullptr;  ///< its samples
  Level third_, second_, first_;
  Scratch scratch_;
};

}  // namespace

std::unique_ptr<bliinds::Meter> make_bliinds_meter(const bliinds::Input& input, std::string_view isa) {
  if (!measurable(input.geometry)) throw std::invalid_argument("cpu bliinds meter: the image is smaller than 4x4");
  constexpr KernelTables<BliindsKernels> kTables = FQ_KERNEL_TABLES(bliinds_kernels);
  return std::make_unique<BliindsMeter>(input, find_kernels(kTables, isa));
}

}  // namespace framequality::cpu
