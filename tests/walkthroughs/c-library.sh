# shellcheck shell=bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# C programmers: the C library installed, and an example compiled against it that scores an image
link README.md docs/c.md
follow docs/c.md#build-with-it 'meson setup build-library'
link docs/c.md examples/score_pgm.c
cp examples/score_pgm.c .
follow docs/c.md#build-with-it 'cc score_pgm.c'
# An edge from 100 to 200: four of 16 pixels have a Sobel gradient of 400, so tenengrad is 4 * 400^2 / 16.
printf 'P5 4 4 255\n' >edge.pgm
for _ in 1 2 3 4; do printf '\144\144\310\310' >>edge.pgm; done
./a.out edge.pgm >score.txt
cat score.txt
grep -q '^ *40000\.0* .* edge\.pgm$' score.txt
