#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace adbo {

/// A saved state that cannot be loaded: it is cut short, or is that of something else.
class BadState : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Carries the state of objects to bytes and back. A class has one function for both directions,
///   void persist(StateArchive& archive) { archive(a_, b_); archive.sized(list_); }
/// so that what is saved and what is loaded cannot differ. Bits are kept, those of NaN included; the order of
/// bytes is the machine's, which a checkpoint's frame checks. One thread.
class StateArchive {
 public:
  /// Appends to `out`.
  [[nodiscard]] static StateArchive saving_to(std::vector<std::byte>& out) { return StateArchive(&out, {}); }
  /// Reads from `in`, which has to outlive the archive. Every function then may throw BadState.
  [[nodiscard]] static StateArchive loading_from(std::span<const std::byte> in) {
    return StateArchive(nullptr, in);
  }

  [[nodiscard]] bool is_loading() const { return out_ == nullptr; }
  /// Not loaded yet.
  [[nodiscard]] std::size_t bytes_left() const { return in_.size(); }

  /// Fields whose vectors have their size from the constructor: on loading another size is BadState.
  template <class... Fields>
  void operator()(Fields&... fields) {
    (carry(fields, Sizes::kFixed), ...);
  }
  /// Fields whose vectors get their size, at every depth, from what was saved.
  template <class... Fields>
  void sized(Fields&... fields) {
    (carry(fields, Sizes::kSaved), ...);
  }

  /// While loading: refuses what no run can have left.
  void require(bool holds, const char* what) const {
    if (is_loading() && !holds) throw BadState(what);
  }
  /// Indices below `end`.
  void require_below(std::span<const std::size_t> indices, std::size_t end, const char* what) const {
    for (const std::size_t index : indices) require(index < end, what);
  }

  /// Numbers that have their place already.
  void values(std::span<double> numbers) { carry_bytes(numbers.data(), numbers.size_bytes()); }

 private:
  enum class Sizes { kFixed, kSaved };
  /// Of a counter: room to count on from there.
  template <class Field>
  static constexpr Field kLargest = std::numeric_limits<Field>::max() / 1024;
  template <class Field>
  static constexpr bool kIsPlain = std::is_arithmetic_v<Field> || std::is_enum_v<Field>;

  StateArchive(std::vector<std::byte>* out, std::span<const std::byte> in) : out_(out), in_(in) {}

  void carry_bytes(void* data, std::size_t size) {
    if (size == 0) return;
    if (!is_loading()) {
      const auto* bytes = static_cast<const std::byte*>(data);
      out_->insert(out_->end(), bytes, bytes + size);
      return;
    }
    if (in_.size() < size) throw BadState("the state ends too early");
    std::memcpy(data, in_.data(), size);
    in_ = in_.subspan(size);
  }

  template <class Field>
  void carry(Field& field, Sizes sizes) {
    if constexpr (std::is_same_v<Field, bool>) {
      auto byte = static_cast<std::uint8_t>(field ? 1 : 0);
      carry_bytes(&byte, 1);
      field = byte != 0;
    } else if constexpr (kIsPlain<Field>) {
      carry_bytes(&field, sizeof field);
      if constexpr (std::is_integral_v<Field> && std::is_signed_v<Field>) {
        require(field <= kLargest<Field> && field >= -kLargest<Field>, "a number that no run counts to");
      }
    } else {
      field.persist(*this);
      (void)sizes;
    }
  }
  void carry(std::string& text, Sizes) {
    carry_size(text, Sizes::kSaved, 1);
    carry_bytes(text.data(), text.size());
  }
  template <class Item>
  void carry(std::vector<Item>& items, Sizes sizes) {
    static_assert(!std::is_same_v<Item, bool>, "std::vector<bool> has no bytes to carry");
    if constexpr (kIsPlain<Item>) {
      carry_size(items, sizes, sizeof(Item));
      carry_bytes(items.data(), items.size() * sizeof(Item));
      if constexpr (std::is_integral_v<Item> && std::is_signed_v<Item>) {
        for (const Item item : items) {
          require(item <= kLargest<Item> && item >= -kLargest<Item>, "a number that no run counts to");
        }
      }
    } else {
      carry_size(items, sizes, 1);
      for (Item& item : items) carry(item, sizes);
    }
  }
  template <class Item, std::size_t kSize>
  void carry(std::array<Item, kSize>& items, Sizes sizes) {
    for (Item& item : items) carry(item, sizes);
  }
  template <class First, class Second>
  void carry(std::pair<First, Second>& pair, Sizes sizes) {
    carry(pair.first, sizes);
    carry(pair.second, sizes);
  }
  template <class Item>
  void carry(std::optional<Item>& item, Sizes sizes) {
    bool has_value = item.has_value();
    carry(has_value, sizes);
    if (!has_value) {
      item.reset();
      return;
    }
    if (!item) item.emplace();
    carry(*item, sizes);
  }

  /// An item takes at least `item_bytes`: no size is believed that the bytes left cannot hold.
  template <class Items>
  void carry_size(Items& items, Sizes sizes, std::size_t item_bytes) {
    auto size = static_cast<std::uint64_t>(items.size());
    carry_bytes(&size, sizeof size);
    if (!is_loading() || size == items.size()) return;
    if (sizes == Sizes::kFixed) {
      throw BadState("a list of " + std::to_string(size) + " where this run has one of " +
                     std::to_string(items.size()));
    }
    if (size > in_.size() / item_bytes) throw BadState("the state ends too early");
    if constexpr (std::is_default_constructible_v<typename Items::value_type>) {
      items.resize(static_cast<std::size_t>(size));
    } else {
      throw BadState("a list of another length");
    }
  }

  std::vector<std::byte>* out_;    ///< null: loading
  std::span<const std::byte> in_;  ///< what is left
};

}  // namespace adbo
