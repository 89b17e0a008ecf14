#pragma once
// gallery.json: the rows that a report shows, so that it needs no data file.

#include <optional>
#include <span>
#include <string>

#include "adbo/problems/hyper_cleaning.h"
#include "io/table.h"
#include "output/row_files.h"
#include "tasks/scaling.h"

namespace adbo::app {

/// Most rows of a gallery, most features of a row that is no picture, and most pixels of a picture: larger
/// ones are left out.
constexpr std::size_t kGalleryRows = 48, kGalleryFeatures = 12, kGalleryPixels = 128 * 128;

/// Where the rows' features are: training rows shard after shard, scaled.
struct GalleryFeatures {
  const std::vector<CleaningShard>* shards = nullptr;
  const Scaling* scaling = nullptr;
  std::optional<io::ImageShape> image;
  std::span<const std::string> feature_names;
};

/// The suspects that the model contradicts most, worst first, each with its labels and its picture (a PNG in
/// base64) or its first features that are not zero, in the units of the file.
void write_gallery(const std::string& path, const SuspectRows& rows, const GalleryFeatures& features);

}  // namespace adbo::app
