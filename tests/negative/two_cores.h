#pragma once

#include <cstddef>

#ifdef __linux__
#include <pthread.h>
#include <sched.h>
#endif

namespace adbo::test {

/// Binds the calling thread to the index-th of the cores that the process may use. False if there are not
/// that many, or if the system has no such call. On a busy machine the scheduler tends to put a waker and the
/// thread it wakes on one core, where they never run at the same time.
inline bool bind_to_core([[maybe_unused]] std::size_t index) {
#ifdef __linux__
  cpu_set_t allowed;
  if (pthread_getaffinity_np(pthread_self(), sizeof(allowed), &allowed) != 0) return false;
  for (std::size_t core = 0; core < CPU_SETSIZE; ++core) {
    if (!CPU_ISSET(core, &allowed)) continue;
    if (index-- > 0) continue;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(core, &one);
    return pthread_setaffinity_np(pthread_self(), sizeof(one), &one) == 0;
  }
#endif
  return false;
}

}  // namespace adbo::test
