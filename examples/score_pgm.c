/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Scores the sharpness of PGM images (P5) with the C library, without GStreamer.
 *
 * Build: cc score_pgm.c $(pkg-config --cflags --libs framequality) -o score_pgm
 * Run:   ./score_pgm *.pgm */
#include <framequality.h>
#include <stdio.h>
#include <stdlib.h>

/* Reads a PGM file and fills in the image. Returns the pixels, which the caller frees, or NULL if it is not PGM. */
static unsigned char* read_pgm(const char* path, fq_image* image) {
  FILE* file = fopen(path, "rb");
  unsigned char* pixels = NULL;
  int width, height, largest;
  if (!file) return NULL;
  if (fscanf(file, "P5 %d %d %d", &width, &height, &largest) == 3 && width > 0 && height > 0 && largest > 0 &&
      largest < 65536 && fgetc(file) != EOF) {
    const int word_bytes = largest > 255 ? 2 : 1;
    const size_t row = (size_t)width * (size_t)word_bytes;
    pixels = malloc(row * (size_t)height);
    if (pixels && fread(pixels, row, (size_t)height, file) != (size_t)height) {
      free(pixels);
      pixels = NULL;
    }
    image->format = FQ_GRAY;
    image->width = width;
    image->height = height;
    image->word_bytes = word_bytes;
    image->flags = word_bytes == 2 ? FQ_BIG_ENDIAN : 0;
    image->plane[0] = pixels;
    image->stride[0] = (ptrdiff_t)row;
    if (word_bytes == 2)
      for (image->bits = 9; (1 << image->bits) <= largest;) ++image->bits;
  }
  fclose(file);
  return pixels;
}

int main(int argc, char** argv) {
  int status = argc > 1 ? 0 : 2, i;
  fq_meter* meter = NULL;
  fq_options options = FQ_INIT(fq_options);
  if (fq_meter_open("auto", 1, &meter) != FQ_OK || fq_options_init(&options) != FQ_OK) {
    fprintf(stderr, "%s\n", fq_last_error());
    return 1;
  }
  if (argc < 2) fprintf(stderr, "usage: score_pgm FILE.pgm...\n");
  options.statistics = 1;
  for (i = 1; i < argc; ++i) {
    fq_image image = FQ_INIT(fq_image);
    fq_result result = FQ_INIT(fq_result);
    unsigned char* pixels = read_pgm(argv[i], &image);
    if (!pixels) {
      fprintf(stderr, "%s: cannot be read as a binary PGM file (P5)\n", argv[i]);
      status = 1;
    } else if (fq_meter_measure(meter, &image, &options, &result, NULL, 0) != FQ_OK) {
      fprintf(stderr, "%s: %s\n", argv[i], fq_last_error());
      status = 1;
    } else {
      printf("%12.4f  noise %.2f  %s\n", result.score, result.noise, argv[i]);
    }
    free(pixels);
  }
  fq_meter_close(meter);
  return status;
}
