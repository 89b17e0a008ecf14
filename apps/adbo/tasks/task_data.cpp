#include "tasks/task_data.h"

namespace adbo::app {
namespace {

/// A list with its length, so that neighbouring lists cannot trade elements.
template <class Number>
void add(io::Digest& digest, const std::vector<Number>& list) {
  const std::uint64_t size = list.size();
  digest.update({reinterpret_cast<const char*>(&size), sizeof size});
  digest.update({reinterpret_cast<const char*>(list.data()), list.size() * sizeof(Number)});
}

}  // namespace

io::Digest split_digest(const Settings& settings, const LoadedData& data, const std::vector<ShardRows>& rows,
                        const std::vector<std::int32_t>& training_labels) {
  io::Digest digest;
  digest.update(data.train.digest);
  if (data.validation) digest.update(data.validation->digest);
  if (data.test) digest.update(data.test->digest);
  for (const ShardRows& shard : rows) {
    add(digest, shard.train);
    add(digest, shard.validation);
  }
  const io::Table& validation = data.validation ? *data.validation : data.train;
  add(digest, hold_out(rows, validation.labels, settings.task().holdout, settings.options().seed).held_out);
  add(digest, training_labels);
  return digest;
}

io::Digest& add_start(io::Digest& digest, const StartPoint& start) {
  add(digest, start.upper);
  add(digest, start.lower);
  for (const std::vector<double>& local : start.lower_local) add(digest, local);
  add(digest, start.consensus_dual);
  return digest;
}

}  // namespace adbo::app
