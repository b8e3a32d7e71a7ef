// SPDX-License-Identifier: LGPL-2.1-or-later
// Names of the sanitizers that this is compiled with: GCC and clang say it in different ways.
#pragma once

#if defined(__has_feature)
#define FQ_HAS_FEATURE(name) __has_feature(name)
#else
#define FQ_HAS_FEATURE(name) 0
#endif

#if defined(__SANITIZE_ADDRESS__) || FQ_HAS_FEATURE(address_sanitizer)
#define FQ_ASAN 1
#else
#define FQ_ASAN 0
#endif
#if defined(__SANITIZE_THREAD__) || FQ_HAS_FEATURE(thread_sanitizer)
#define FQ_TSAN 1
#else
#define FQ_TSAN 0
#endif
