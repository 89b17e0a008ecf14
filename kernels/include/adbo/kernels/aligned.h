#pragma once
// Vectors whose storage begins on a cache line, so that whole SIMD vectors can be loaded from it.

#include <cstddef>
#include <new>
#include <vector>

namespace adbo::kernels {

inline constexpr std::size_t kVectorAlignment = 64;  ///< bytes: one cache line, one AVX-512 vector

/// A stateless allocator of storage aligned to kVectorAlignment.
template <class T>
struct AlignedAllocator {
  using value_type = T;

  AlignedAllocator() = default;
  template <class U>
  AlignedAllocator(const AlignedAllocator<U>&) noexcept {}  // NOLINT(google-explicit-constructor): rebinding

  [[nodiscard]] T* allocate(std::size_t count) {
    if (count > static_cast<std::size_t>(-1) / sizeof(T)) throw std::bad_array_new_length();
    return static_cast<T*>(::operator new (count * sizeof(T), std::align_val_t{kVectorAlignment}));
  }
  void deallocate(T* pointer, std::size_t) noexcept {
    ::operator delete (pointer, std::align_val_t{kVectorAlignment});
  }

  friend bool operator==(const AlignedAllocator&, const AlignedAllocator&) { return true; }
};

template <class T>
using AlignedVector = std::vector<T, AlignedAllocator<T>>;

}  // namespace adbo::kernels
