// SPDX-License-Identifier: LGPL-2.1-or-later
// Runs a test in a child process under GStreamer's leaks tracer.
#pragma once

#include <glib.h>

#include <gtest/gtest.h>
#include <sstream>
#include <string>

namespace framequality::test {

/// The objects that the tracer finds alive after a child ran this test of this program, a line each.
inline std::string alive_after(const char* test) {
  gchar* self = g_file_read_link("/proc/self/exe", nullptr);
  const std::string filter = std::string("--gtest_filter=") + test;
  const gchar* arguments[] = {self, filter.c_str(), "--gtest_also_run_disabled_tests", nullptr};
  gchar** env = g_get_environ();
  // The child runs one test whichever share of them this process runs, and writes no file of results over this one's.
  for (const char* name : {"GTEST_TOTAL_SHARDS", "GTEST_SHARD_INDEX", "GTEST_OUTPUT"})
    env = g_environ_unsetenv(env, name);
  env = g_environ_setenv(env, "GST_TRACERS", "leaks", TRUE);
  env = g_environ_setenv(env, "GST_DEBUG", "GST_TRACER:7", TRUE);
  env = g_environ_setenv(env, "GST_DEBUG_NO_COLOR", "1", TRUE);
  gchar *out = nullptr, *err = nullptr;
  gint status = -1;
  EXPECT_TRUE(g_spawn_sync(nullptr, const_cast<gchar**>(arguments), env, static_cast<GSpawnFlags>(0), nullptr, nullptr,
                           &out, &err, &status, nullptr));
  EXPECT_TRUE(g_spawn_check_wait_status(status, nullptr)) << out << err;
  std::string alive;
  std::istringstream lines(err ? err : "");
  // The tracer also prints the format of such lines, with a %s.
  for (std::string line; std::getline(lines, line);)
    if (line.find("object-alive, type-name=(string)") != std::string::npos && line.find("%s") == std::string::npos)
      alive += line + "\n";
  g_free(out);
  g_free(err);
  g_free(self);
  g_strfreev(env);
  return alive;
}

}  // namespace framequality::test
