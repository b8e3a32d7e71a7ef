// SPDX-License-Identifier: LGPL-2.1-or-later
// What every program of ours is to those who start it.
#include "apps/common/program.h"

#include <fcntl.h>
#include <unistd.h>

namespace framequality::apps {

void keep_standard_descriptors() {
  for (int descriptor = STDIN_FILENO; descriptor <= STDERR_FILENO; ++descriptor)
    if (fcntl(descriptor, F_GETFD) < 0) (void)open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

}  // namespace framequality::apps
