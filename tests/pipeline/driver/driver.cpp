// SPDX-License-Identifier: LGPL-2.1-or-later
// Stands for a GPU's driver whose threads run on: it does not survive that the program is taken down around it.
#include <cstdlib>

__attribute__((destructor)) static void taken_down() { std::abort(); }
