#include "adbo/kernels/rows.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <stdexcept>
#include <type_traits>

#include "adbo/kernels/softmax.h"
#include "loss_data.h"

using namespace adbo::test;
using adbo::kernels::column_count;
using adbo::kernels::row_count;
using adbo::kernels::select_rows;

namespace {

DenseRows numbered(std::size_t rows, std::size_t cols) {
  DenseRows matrix(rows, cols);
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t k = 0; k < cols; ++k) matrix.mutable_row(r)[k] = static_cast<float>(100 * r + k + 1);
  }
  return matrix;
}

bool equal(const DenseRows& a, const DenseRows& b) {
  if (a.rows() != b.rows() || a.cols() != b.cols()) return false;
  for (std::size_t r = 0; r < a.rows(); ++r) {
    if (!std::equal(a.row(r), a.row(r) + a.stride(), b.row(r))) return false;
  }
  return true;
}

void check_layout(const DenseRows& matrix) {
  CHECK(matrix.stride() % DenseRows::kRowPadding == 0);
  CHECK(matrix.stride() >= matrix.cols());
  CHECK(matrix.stride() < matrix.cols() + DenseRows::kRowPadding);
  for (std::size_t r = 0; r < matrix.rows(); ++r) {
    CHECK(reinterpret_cast<std::uintptr_t>(matrix.row(r)) % 64 == 0);
    for (std::size_t k = matrix.cols(); k < matrix.stride(); ++k) CHECK(matrix.row(r)[k] == 0.0F);
  }
}

}  // namespace

TEST_CASE("dense rows: padded with zeros and aligned, also as copies") {
  for (const std::size_t cols : {1U, 15U, 16U, 17U, 784U}) {
    const DenseRows matrix = numbered(3, cols);
    check_layout(matrix);
    const DenseRows copy = matrix;  // NOLINT(performance-unnecessary-copy-initialization)
    check_layout(copy);
    DenseRows assigned(9, 2);
    assigned = matrix;
    check_layout(assigned);
    CHECK(equal(assigned, matrix));
  }
}

TEST_CASE("dense rows: a copy has storage of its own") {
  DenseRows original = numbered(4, 5);
  DenseRows copy = original;
  copy.mutable_row(2)[3] = -1;
  CHECK(original.row(2)[3] == 204.0F);
  original = DenseRows();  // frees the original's storage
  CHECK(copy.row(2)[3] == -1.0F);
  CHECK(copy.row(3)[4] == 305.0F);
}

TEST_CASE("dense rows: a move takes the storage along and leaves an empty matrix") {
  DenseRows original = numbered(4, 5);
  const float* storage = original.row(0);
  DenseRows moved = std::move(original);
  CHECK(moved.row(0) == storage);
  CHECK(equal(moved, numbered(4, 5)));
  CHECK(original.rows() == 0);  // NOLINT(bugprone-use-after-move): what a move leaves is promised
  CHECK(original.cols() == 0);
  CHECK(original.stride() == 0);

  DenseRows assigned(2, 2);
  assigned = std::move(moved);
  CHECK(equal(assigned, numbered(4, 5)));
  CHECK(moved.rows() == 0);  // NOLINT(bugprone-use-after-move)
  DenseRows& self = assigned;
  assigned = std::move(self);
  CHECK(equal(assigned, numbered(4, 5)));
  static_assert(std::is_nothrow_move_constructible_v<DenseRows> &&
                std::is_nothrow_move_assignable_v<DenseRows>);
}

TEST_CASE("dense rows: impossible sizes are refused") {
  constexpr std::size_t kHuge = std::numeric_limits<std::size_t>::max();
  CHECK_THROWS_AS(DenseRows(1, kHuge), std::length_error);
  CHECK_THROWS_AS(DenseRows(kHuge / 16, 16), std::length_error);
  CHECK_THROWS_AS(DenseRows(kHuge, 1), std::length_error);
}

TEST_CASE("rows: counts") {
  CHECK(row_count(Rows(DenseRows(3, 4))) == 3);
  CHECK(column_count(Rows(DenseRows(3, 4))) == 4);
  const SparseRows sparse = to_sparse(numbered(3, 4));
  CHECK(sparse.nonzeros() == 12);
  CHECK(row_count(Rows(sparse)) == 3);
  CHECK(column_count(Rows(sparse)) == 4);
  CHECK(row_count(Rows(SparseRows{})) == 0);
}

TEST_CASE("rows: a selection keeps the order and may repeat, dense and sparse alike") {
  Random random(5);
  const DenseRows all = random_rows(random, 20, 9, 0.5);
  const std::vector<std::size_t> index = {7, 0, 19, 7, 3};
  const Rows dense = select_rows(Rows(all), index);
  const Rows sparse = select_rows(Rows(to_sparse(all)), index);
  const auto& chosen = std::get<DenseRows>(dense);
  REQUIRE(chosen.rows() == index.size());
  check_layout(chosen);
  for (std::size_t i = 0; i < index.size(); ++i) {
    CHECK(std::equal(chosen.row(i), chosen.row(i) + 9, all.row(index[i])));
  }
  const SparseRows expected = to_sparse(chosen);
  const auto& chosen_sparse = std::get<SparseRows>(sparse);
  CHECK(chosen_sparse.cols == 9);
  CHECK(chosen_sparse.row_begin == expected.row_begin);
  CHECK(chosen_sparse.column == expected.column);
  CHECK(chosen_sparse.value == expected.value);
}

TEST_CASE("rows: an empty selection and one out of range") {
  for (const Rows& rows : {Rows(numbered(4, 3)), Rows(to_sparse(numbered(4, 3)))}) {
    const Rows none = select_rows(rows, {});
    CHECK(row_count(none) == 0);
    CHECK(column_count(none) == 3);
    CHECK_THROWS_AS(select_rows(rows, std::vector<std::size_t>{0, 4}), std::out_of_range);
  }
}

TEST_CASE("rows: a broken compressed-row matrix is refused by the losses") {
  const auto refused = [](const SparseRows& rows, std::size_t labels) {
    CHECK_THROWS_AS(adbo::kernels::SoftmaxLoss(share(rows), std::vector<std::int32_t>(labels, 0), 2),
                    std::invalid_argument);
  };
  SparseRows good;
  good.cols = 3;
  good.row_begin = {0, 1, 2};
  good.column = {0, 2};
  good.value = {1, 1};
  CHECK_NOTHROW(adbo::kernels::SoftmaxLoss(share(good), {0, 1}, 2));
  SparseRows bad = good;
  bad.column[1] = 3;
  refused(bad, 2);
  bad.column[1] = -1;
  refused(bad, 2);
  bad = good;
  bad.row_begin = {0, 1, 3};
  refused(bad, 2);
  bad.row_begin = {1, 1, 2};
  refused(bad, 2);
  bad.row_begin = {0, 5, 2};
  refused(bad, 2);
  bad.row_begin = {};
  refused(bad, 0);
  bad = good;
  bad.column.push_back(0);
  refused(bad, 2);
}
