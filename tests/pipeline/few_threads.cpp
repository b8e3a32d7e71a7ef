// SPDX-License-Identifier: LGPL-2.1-or-later
// Library for LD_PRELOAD: a system that gives a process no more threads than the file $FEW_THREADS says, as one
// with a limit of processes does; whoever runs the tests may be above such limits. No such file: no limit.
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <pthread.h>

namespace {

/// The first number behind `key` in a file; -1 if there is none.
long number_in(const char* path, const char* key) {
  FILE* file = path ? std::fopen(path, "r") : nullptr;
  if (!file) return -1;
  long number = -1;
  for (char line[128]; number < 0 && std::fgets(line, sizeof line, file);)
    if (std::strncmp(line, key, std::strlen(key)) == 0) number = std::strtol(line + std::strlen(key), nullptr, 10);
  std::fclose(file);
  return number;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int pthread_create(pthread_t* thread,
                                                                     const pthread_attr_t* attributes,
                                                                     void* (*start)(void*), void* argument) {
  using Create = int(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static auto* const create = reinterpret_cast<Create*>(dlsym(RTLD_NEXT, "pthread_create"));
  const long most = number_in(std::getenv("FEW_THREADS"), "");
  if (most >= 0 && number_in("/proc/self/status", "Threads:") >= most) return EAGAIN;
  return create(thread, attributes, start, argument);
}
