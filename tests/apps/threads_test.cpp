// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests of work for which the system gives no thread.
#include "apps/common/threads.h"

#include "apps/common/task_pool.h"

#include <atomic>
#include <gtest/gtest.h>
#include <limits>
#include <pthread.h>
#include <set>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>

namespace framequality::apps {
namespace {

/// While it is there, no thread can be made: no stack of this size fits into memory.
class NoThreads {
 public:
  NoThreads() {
    pthread_attr_init(&before_);
    pthread_getattr_default_np(&before_);
    pthread_attr_t huge;
    pthread_attr_init(&huge);
    pthread_attr_setstacksize(&huge, std::numeric_limits<std::size_t>::max() / 4);
    pthread_setattr_default_np(&huge);
    pthread_attr_destroy(&huge);
  }
  ~NoThreads() {
    pthread_setattr_default_np(&before_);
    pthread_attr_destroy(&before_);
  }
  NoThreads(const NoThreads&) = delete;
  NoThreads& operator=(const NoThreads&) = delete;

 private:
  pthread_attr_t before_;
};

TEST(Threads, OfWhichThereAreNoneAreAnErrorThatSaysWhatToDo) {
  const NoThreads limit;
  EXPECT_THROW(std::thread([] {}).join(), std::system_error) << "the test itself";
  int calls = 0;
  try {
    make_thread([&] { ++calls; }).join();
    FAIL();
  } catch (const std::runtime_error& e) {
    EXPECT_EQ(std::string(e.what()), kNoThread);
  }
  EXPECT_FALSE(try_detached([&] { ++calls; }));
  EXPECT_EQ(calls, 0);
}

TEST(Threads, AllThereAreShareTheWork) {
  for (const std::size_t most : {0, 1, 2, 16}) {
    std::atomic<int> left = 100, done = 0;
    const auto work = [&] {
      while (left-- > 0) ++done;
    };
    in_threads(most, work);
    EXPECT_EQ(done, 100);
    const NoThreads limit;
    left = 100;
    in_threads(most, work);
    EXPECT_EQ(done, 200) << "alone";
  }
}

TEST(TaskPool, WithoutThreadsTasksAreDoneByWhoeverWaitsForThem) {
  TaskPool pool(3, 2);
  std::set<std::thread::id> who;
  {
    const NoThreads limit;
    for (int i = 0; i < 5; ++i) pool.submit(TaskPool::Task([&] { who.insert(std::this_thread::get_id()); }));
    EXPECT_EQ(who, std::set{std::this_thread::get_id()});
    EXPECT_FALSE(pool.try_submit(TaskPool::Task([] { ADD_FAILURE() << "this waits for nobody"; })));
    TaskGroup group(pool, [](const std::string& why) { EXPECT_EQ(why, "broken"); });
    group.add(TaskPool::Task([] { throw std::runtime_error("broken"); }));
    EXPECT_FALSE(group.finish());
  }
  std::atomic<int> done = 0;
  TaskGroup group(pool, [](const std::string& why) { ADD_FAILURE() << why; });
  group.add(TaskPool::Task([&] { ++done; }));
  // One thread is better than none.
  const NoThreads limit;
  for (int i = 0; i < 20; ++i) group.add(TaskPool::Task([&] { ++done; }));
  EXPECT_TRUE(group.finish());
  EXPECT_EQ(done, 21);
}

}  // namespace
}  // namespace framequality::apps
