#include "adbo/kernels/gram.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

#include "loss_data.h"

using namespace adbo::test;
using adbo::kernels::weighted_gram;
using adbo::kernels::weighted_squares;

TEST_CASE("gram: dense and sparse agree with the plain triple loop, both triangles, zero weights left out") {
  Random random(11);
  for (const std::size_t rows : {1, 63, 64, 65, 200}) {
    for (const std::size_t cols : {1, 7, 22, 54}) {
      const DenseRows x = random_rows(random, rows, cols, 0.5);
      std::vector<double> weights(rows);
      for (std::size_t r = 0; r < rows; ++r) weights[r] = r % 3 == 0 ? 0.0 : 0.1 * static_cast<double>(r % 7);
      std::vector<double> expected(cols * cols, 0.0);
      for (std::size_t r = 0; r < rows; ++r) {
        for (std::size_t a = 0; a < cols; ++a) {
          for (std::size_t b = 0; b < cols; ++b) {
            expected[a * cols + b] +=
                weights[r] * static_cast<double>(x.row(r)[a]) * static_cast<double>(x.row(r)[b]);
          }
        }
      }
      for (const auto& shared : {share(x), share(to_sparse(x))}) {
        std::vector<double> gram(cols * cols, 99.0);
        weighted_gram(*shared, weights, gram);
        for (std::size_t k = 0; k < gram.size(); ++k) {
          // Sums of at most 200 products of order 1, in another order and with a square root in between.
          CHECK(gram[k] == doctest::Approx(expected[k]).epsilon(1e-12).scale(1));
        }
        std::vector<double> squares(cols, 99.0);
        weighted_squares(*shared, weights, squares);
        for (std::size_t k = 0; k < cols; ++k) {
          CHECK(squares[k] == doctest::Approx(expected[k * (cols + 1)]).epsilon(1e-12).scale(1));
        }
      }
    }
  }
}
