#include "output/gallery.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <variant>
#include <vector>

#include "io/atomic_file.h"
#include "io/png.h"
#include "io/text.h"
#include "output/summary_json.h"

namespace adbo::app {
namespace {

std::vector<std::size_t> worst_suspects(const RowVerdicts& verdicts) {
  std::vector<std::size_t> suspects;
  for (std::size_t k = 0; k < verdicts.is_suspect.size(); ++k) {
    if (verdicts.is_suspect[k] != 0) suspects.push_back(k);
  }
  const std::size_t shown = std::min(suspects.size(), kGalleryRows);
  std::partial_sort(suspects.begin(), suspects.begin() + static_cast<std::ptrdiff_t>(shown), suspects.end(),
                    [&verdicts](std::size_t a, std::size_t b) {
                      return std::pair(verdicts.given_probability[a], a) <
                             std::pair(verdicts.given_probability[b], b);
                    });
  suspects.resize(shown);
  return suspects;
}

using Feature = std::pair<std::size_t, double>;  // column, value in the units of the file

double unscaled(const Scaling& scaling, std::size_t column, float value) {
  const std::size_t c = scaling.per_column() ? column : 0;
  return static_cast<double>(value) / scaling.factor[c] + scaling.shift[c];
}

/// The row's features: all columns of a dense one, what is stored of a sparse one.
std::vector<Feature> features_of(const GalleryFeatures& source, std::size_t row) {
  std::size_t shard = 0;
  while (row >= (*source.shards)[shard].train.size()) row -= (*source.shards)[shard++].train.size();
  const kernels::Rows& rows = *(*source.shards)[shard].train.features;
  std::vector<Feature> features;
  if (const auto* const dense = std::get_if<kernels::DenseRows>(&rows)) {
    for (std::size_t c = 0; c < dense->cols(); ++c) {
      features.emplace_back(c, unscaled(*source.scaling, c, dense->row(row)[c]));
    }
    return features;
  }
  const auto& sparse = std::get<kernels::SparseRows>(rows);
  for (std::int64_t k = sparse.row_begin[row]; k < sparse.row_begin[row + 1]; ++k) {
    const auto entry = static_cast<std::size_t>(k);
    const auto column = static_cast<std::size_t>(sparse.column[entry]);
    features.emplace_back(column, unscaled(*source.scaling, column, sparse.value[entry]));
  }
  return features;
}

/// Pixels are 0..255 in the file; whatever the order of their channels there, [height x width x channels].
std::string picture(const io::ImageShape& shape, const std::vector<Feature>& features) {
  const std::size_t pixels = shape.height * shape.width;
  std::vector<std::uint8_t> bytes(pixels * shape.channels);
  for (const auto& [column, value] : features) {
    const std::size_t place =
        shape.order == io::PixelOrder::kPlanar ? column % pixels * shape.channels + column / pixels : column;
    bytes[place] = static_cast<std::uint8_t>(std::lround(std::clamp(value, 0.0, 255.0)));
  }
  return io::encode_base64(io::encode_png(bytes, shape.height, shape.width, shape.channels));
}

bool can_be_drawn(const std::optional<io::ImageShape>& image) {
  return image && (image->channels == 1 || image->channels == 3) &&
         image->height * image->width <= kGalleryPixels;
}

/// Rounded to what float32 holds.
double shortened(double value) { return static_cast<double>(static_cast<float>(value)); }

Json features_json(const GalleryFeatures& source, const std::vector<Feature>& features) {
  Json list = Json::array();
  for (const auto& [column, value] : features) {
    if (list.size() == kGalleryFeatures) break;
    if (value != 0)
      list.push_back({io::detail::as_utf8(feature_name(source.feature_names, column)), shortened(value)});
  }
  return list;
}

}  // namespace

void write_gallery(const std::string& path, const SuspectRows& rows, const GalleryFeatures& features) {
  const auto label = [&rows](std::int32_t index) {
    return io::detail::as_utf8(rows.label_names[static_cast<std::size_t>(index)]);
  };
  Json list = Json::array();
  for (const std::size_t k : worst_suspects(*rows.verdicts)) {
    Json entry;
    // JSON holds UTF-8 alone; suspects.csv has the bytes as they stand in the data.
    entry["id"] =
        rows.ids.empty() ? std::to_string(rows.rows[k]) : io::detail::as_utf8(rows.ids[rows.rows[k]]);
    entry["given"] = label(rows.given_labels[k]);
    entry["predicted"] = label(rows.verdicts->predicted_label[k]);
    entry["score"] = rows.verdicts->given_probability[k];
    entry["weight"] = sigmoid(rows.upper[k]);
    if (!rows.changed.empty()) entry["label_changed"] = rows.changed[k] != 0;
    const std::vector<Feature> values = features_of(features, k);
    if (can_be_drawn(features.image)) {
      entry["png"] = picture(*features.image, values);
    } else if (!features.image) {
      entry["features"] = features_json(features, values);
    }
    list.push_back(std::move(entry));
  }
  io::write_file(path, json_text({{"suspects", std::count(rows.verdicts->is_suspect.begin(),
                                                          rows.verdicts->is_suspect.end(), std::uint8_t{1})},
                                  {"rows", std::move(list)}}));
}

}  // namespace adbo::app
