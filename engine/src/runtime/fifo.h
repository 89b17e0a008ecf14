#pragma once

#include <cassert>
#include <cstddef>
#include <utility>
#include <vector>

#include "adbo/state_archive.h"

namespace adbo::detail {

/// A first-in-first-out queue in one growing buffer: once it has reached its largest size it allocates no
/// more, which std::deque does not promise. Not thread-safe.
template <class Item>
class Fifo {
 public:
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] std::size_t size() const { return size_; }

  void push(Item item) {
    if (size_ == items_.size()) grow();
    items_[(first_ + size_) % items_.size()] = std::move(item);
    ++size_;
  }
  [[nodiscard]] Item pop() {
    assert(size_ > 0);
    Item item = std::move(items_[first_]);
    first_ = (first_ + 1) % items_.size();
    --size_;
    return item;
  }

  /// In their order.
  [[nodiscard]] std::vector<Item> items() const {
    std::vector<Item> items;
    for (std::size_t k = 0; k < size_; ++k) items.push_back(items_[(first_ + k) % items_.size()]);
    return items;
  }
  void persist(StateArchive& archive) {
    std::vector<Item> items = this->items();
    archive.sized(items);
    while (!empty()) (void)pop();
    for (Item& item : items) push(std::move(item));
  }

 private:
  void grow() {
    std::vector<Item> larger(items_.empty() ? 16 : 2 * items_.size());
    for (std::size_t k = 0; k < size_; ++k) larger[k] = std::move(items_[(first_ + k) % items_.size()]);
    items_ = std::move(larger);
    first_ = 0;
  }

  std::vector<Item> items_;
  std::size_t first_ = 0, size_ = 0;
};

}  // namespace adbo::detail
