// SPDX-License-Identifier: Apache-2.0
// Groups of rows: each has the reference's bytes where grouped_layout says, and nothing else is written.
#include <fp4/gpu/quantize_groups.cuh>

#include "contract.cuh"

namespace {

using namespace fp4;
using program::on_device;
using std::int64_t;

/// Offsets on both sides; `unit` divides every group's rows.
struct grouping {
  std::vector<int64_t> offsets;
  on_device<int64_t> wide;
  on_device<std::int32_t> narrow;
  bool is_wide;

  grouping(int variant, int64_t unit)
      : offsets(make(variant, unit)),
        wide(offsets),
        narrow(std::vector<std::int32_t>(offsets.begin(), offsets.end())),
        is_wide(variant % 2 == 0) {}
  [[nodiscard]] int64_t count() const { return static_cast<int64_t>(offsets.size()) - 1; }
  gpu::row_groups on_gpu() {
    return is_wide ? gpu::row_groups(wide.data(), count()) : gpu::row_groups(narrow.data(), count());
  }

 private:
  static std::vector<int64_t> make(int variant, int64_t unit) {
    constexpr int64_t rows[][8] = {
        {0, 33, 128, 1, 0, 200, 64, 0}, {17, 0, 0, 0, 0, 0, 0, 1}, {128, 128, 256, 3, 5, 7, 9, 60}};
    std::vector<int64_t> made = {variant % 3 == 1 ? unit : 0};
    for (int64_t const r : rows[variant % 3]) { made.push_back(made.back() + (r + unit - 1) / unit * unit); }
    if (variant % 5 == 4) { made.resize(2); }
    return made;
  }
};

/// A grouped result: memory on both sides, and the scale of each group.
template <class Layout, class Choices>
class grouped_result {
  static constexpr bool down = Choices::is_columnwise;
  using layout = gpu::grouped_layout<nvfp4, Layout>;

 public:
  grouped_result(int64_t rows, int64_t cols, grouping const& groups, Choices const& how, float amax, int variant)
      : groups_(groups.offsets),
        how_(how),
        rows_(down ? cols : rows),
        cols_(down ? layout::turned_cols(rows, groups.count()) : cols),
        code_stride_(nvfp4::row_bytes(cols_) + (variant % 3 == 2 ? 3 : 0)),
        scale_bytes_(down ? layout::turned_scale_bytes(rows, cols, groups.count())
                          : layout::scale_bytes(rows, cols, groups.count())),
        wanted_codes_(rows_ * code_stride_, 0x7F),
        got_codes_(rows_ * code_stride_, 0x7F),
        wanted_scales_(scale_bytes_, 0xA5),
        got_scales_(scale_bytes_, 0xA5),
        codes_(got_codes_.data(), got_codes_.size(), 0),
        scales_(got_scales_.data(), scale_bytes_, 0) {
    for (int64_t g = 0; g < groups.count(); ++g) { amaxes_.push_back(amax * (1.0f - static_cast<float>(g % 5) / 8)); }
  }

  quantized_view<nvfp4, Layout> out() {
    quantized_view<nvfp4, Layout> q(reinterpret_cast<std::uint8_t*>(codes_.data()),
                                    reinterpret_cast<std::uint8_t*>(scales_.data()), scale_bytes_, rows_, cols_);
    q.code_stride = code_stride_;
    return q;
  }
  [[nodiscard]] std::vector<float> const& amaxes() const { return amaxes_; }

  /// What the reference makes of each group.
  template <class In>
  void make_wanted(matrix_view<In const> in) {
    int64_t all_blocks = 0, first_block = 0;
    for (std::size_t g = 0; g + 1 < groups_.size(); ++g) { all_blocks += nvfp4::blocks(groups_[g + 1] - groups_[g]); }
    for (std::size_t g = 0; g + 1 < groups_.size(); ++g) {
      int64_t const first = groups_[g], rows = groups_[g + 1] - first, index = static_cast<int64_t>(g);
      matrix_view<In const> const part(in.row(first), rows, in.cols, in.stride);
      Choices how = how_;
      if constexpr (is_stochastic_v<decltype(Choices::rounding)>) {
        how.rounding =
            down ? how.rounding.at(0, first_block, all_blocks) : how.rounding.at(first, 0, nvfp4::blocks(in.cols));
      }
      std::uint8_t* const codes = wanted_codes_.data() + (down ? first_block * 8 : first * code_stride_);
      std::uint8_t* const scales =
          wanted_scales_.data() + (down ? layout::scale_start(in.cols, first_block, index)
                                        : Layout::bytes(layout::scale_row(first, index), nvfp4::blocks(in.cols)));
      int64_t const left = wanted_scales_.data() + scale_bytes_ - scales;
      quantized_view<nvfp4, Layout> q(codes, scales, left, down ? in.cols : rows, down ? rows : in.cols);
      q.code_stride = code_stride_;
      tensor_scale const scale = tensor_scale::from_amax(amaxes_[g]);
      reference::quantize(part, q, {&scale, 1}, how);
      first_block += nvfp4::blocks(rows);
    }
  }

  std::string difference() {
    if (cudaError_t const code = cudaDeviceSynchronize(); code != cudaSuccess) { return cudaGetErrorString(code); }
    codes_.read(got_codes_.data());
    scales_.read(got_scales_.data());
    std::string const text = test::first_difference(got_scales_, wanted_scales_, scale_bytes_);
    if (!text.empty()) { return "scales: " + text; }
    return test::first_difference(got_codes_, wanted_codes_, code_stride_);
  }

 private:
  std::vector<int64_t> groups_;
  Choices how_;
  int64_t rows_, cols_, code_stride_, scale_bytes_;
  test::poisoned_buffer wanted_codes_, got_codes_, wanted_scales_, got_scales_;
  test::mirrored codes_, scales_;
  std::vector<float> amaxes_;
};

template <class Choices>
Choices choices_of(int variant) {
  Choices how{{},
              test::make_rounding<decltype(Choices::rounding)>(2 * variant, 0),
              test::make_transform<decltype(Choices::transform)>(variant),
              {},
              {}};
  return how;
}

template <class In, class Layout, class Choices>
void run(char const* what) {
  constexpr int unit = Choices::is_columnwise ? decltype(Choices::transform)::size : 1;
  for (int v = 0; v < 6; ++v) {
    grouping groups(v, unit);
    int64_t const rows = groups.offsets.back() + (v % 2) * unit, cols = v % 2 == 0 ? 272 : 80;
    test::situation const now{rows, cols, static_cast<test::data_kind>(v), test::scale_kind::amax, v};
    test::input<In> in(now);
    auto const how = choices_of<Choices>(v);
    float const amax = reference::amax(in.on_host(), how.transform, how.direction);
    grouped_result<Layout, Choices> one(rows, cols, groups, how, amax, v);
    on_device<float> amaxes(one.amaxes());
    one.make_wanted(in.on_host());
    auto const scale = gpu::scale_argument::from_amax(amaxes.data());
    gpu::quantize_groups_async(in.on_gpu(), groups.on_gpu(), gpu::operand(one.out(), scale, how));
    std::string const text = one.difference();
    program::check(text.empty(), what, __FILE__, __LINE__, ", " + test::describe(now) + ": " + text);
  }
}

template <class In, class RowLayout, class Row, class ColLayout, class Col>
void run_both(char const* what) {
  for (int v = 0; v < 6; ++v) {
    constexpr int unit = decltype(Col::transform)::size;
    grouping groups(v, unit);
    int64_t const rows = groups.offsets.back() + (v % 2) * unit, cols = v % 2 == 0 ? 272 : 80;
    test::situation const now{rows, cols, static_cast<test::data_kind>(v), test::scale_kind::amax, v};
    test::input<In> in(now);
    auto const row_how = choices_of<Row>(v);
    auto const col_how = choices_of<Col>(v);
    grouped_result<RowLayout, Row> row(rows, cols, groups, row_how,
                                       reference::amax(in.on_host(), row_how.transform, rowwise{}), v);
    grouped_result<ColLayout, Col> col(rows, cols, groups, col_how,
                                       reference::amax(in.on_host(), col_how.transform, columnwise{}), v);
    row.make_wanted(in.on_host());
    col.make_wanted(in.on_host());
    on_device<float> of_rows(row.amaxes()), of_cols(col.amaxes());
    gpu::quantize_groups_both_async(in.on_gpu(), groups.on_gpu(),
                                    gpu::operand(row.out(), gpu::scale_argument::from_amax(of_rows.data()), row_how),
                                    gpu::operand(col.out(), gpu::scale_argument::from_amax(of_cols.data()), col_how));
    for (std::string const& text : {row.difference(), col.difference()}) {
      program::check(text.empty(), what, __FILE__, __LINE__, ", " + test::describe(now) + ": " + text);
    }
  }
}

template <class In, class Transform, class Direction>
void run_amax(char const* what) {
  for (int v = 0; v < 6; ++v) {
    grouping groups(v, Transform::size);
    int64_t const rows = groups.offsets.back();
    test::input<In> in({rows, 80, static_cast<test::data_kind>(v), test::scale_kind::amax, v});
    auto const how = test::make_transform<Transform>(v);
    on_device<float> got(static_cast<std::size_t>(groups.count()));
    gpu::group_amaxes_async(in.on_gpu(), groups.on_gpu(), got.data(), nullptr, how, Direction{});
    auto const amaxes = got.back();
    for (std::size_t g = 0; g < amaxes.size(); ++g) {
      auto const all = in.on_host();
      matrix_view<In const> const part(all.row(groups.offsets[g]), groups.offsets[g + 1] - groups.offsets[g], all.cols,
                                       all.stride);
      program::check(test::bits_of(amaxes[g]) == test::bits_of(reference::amax(part, how, Direction{})), what, __FILE__,
                     __LINE__, ", variant " + std::to_string(v) + ", group " + std::to_string(g));
    }
  }
}

template <class Rounding, class Transform = no_transform>
using down = choices<transformer_engine, Rounding, Transform, blocks_1d, columnwise>;

}  // namespace

CASE(one_direction) {
  run<bfloat16, tiled_128x4_scales, choices<transformer_engine>>("rows");
  run<float, linear_scales, down<stochastic>>("columns");
}
CASE(both_directions) {
  run_both<bfloat16, tiled_8x4_scales, choices<transformer_engine, stochastic>, tiled_128x4_scales,
           down<stochastic, hadamard<16>>>("gradients of experts");
}
CASE(amaxes) {
  run_amax<bfloat16, no_transform, rowwise>("rows");
  run_amax<bfloat16, hadamard<16>, columnwise>("columns");
}
CASE(bad_groups_are_refused) {
  grouping groups(0, 1);
  test::input<bfloat16> in({426, 80, test::data_kind::normal, test::scale_kind::amax, 0});
  choices<transformer_engine> const how{};
  grouped_result<tiled_128x4_scales, choices<transformer_engine>> one(426, 80, groups, how, 1.0f, 0);
  auto const refused = [&](gpu::row_groups given, auto out, errc wanted) {
    errc found = errc::ok;
    try {
      gpu::quantize_groups_async(in.on_gpu(), given, gpu::operand(out, tensor_scale::from_amax(1.0f), how));
    } catch (precondition_error const& e) { found = e.code(); }
    CHECK(found == wanted);
  };
  auto small = one.out();
  small.scale_bytes -= 1;
  refused(groups.on_gpu(), small, errc::scale_buffer_too_small);
  refused(gpu::row_groups(static_cast<int64_t const*>(nullptr), 3), one.out(), errc::null_data);
  refused(gpu::row_groups(groups.wide.data(), -1), one.out(), errc::negative_size);
}

int main(int argc, char** argv) { return program::run(argc, argv); }
