/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Measures the sharpness of images in memory, on the CPU or on a GPU, with bit-identical scores.
 *
 * Conventions
 *   Status     Functions that return int return FQ_OK, or a negative fq_status. fq_last_error() then says, in the
 *              same thread, what was wrong and what to do.
 *   Structs    Every struct begins with its size: set it with FQ_INIT, as in `fq_image image = FQ_INIT(fq_image);`. The
 *              remaining members are then 0. A newer library accepts the structs of an older header.
 *   Threads    Different handles may be used in different threads at the same time; one handle by one thread at a time.
 *   Grey levels  All scores and grey levels are in units of 8-bit pixel values, whatever the depth of the image: a
 *              gray image scores the same with 8 bits and with 16.
 */
#ifndef FRAMEQUALITY_H
#define FRAMEQUALITY_H

#include <stddef.h>
#include <stdint.h>

#define FQ_VERSION_MAJOR 0
#define FQ_VERSION_MINOR 2
#define FQ_VERSION_MICRO 0

#ifdef __cplusplus
extern "C++" {
template <class T>
inline T fq_init() {
  T t = T();
  t.size = sizeof(T);
  return t;
}
}
#define FQ_INIT(type) fq_init<type>()
extern "C" {
#else
/* clang-format off */
#define FQ_INIT(type) {.size = sizeof(type)}
/* clang-format on */
#endif

#define FQ_API __attribute__((visibility("default")))

typedef enum fq_status {
  FQ_OK = 0,
  FQ_ERROR_ARGUMENT = -1,    /* an argument is invalid: fq_last_error() names it and its range */
  FQ_ERROR_MEMORY = -2,      /* out of host or device memory */
  FQ_ERROR_NO_DEVICE = -3,   /* no usable device of this name: fq_last_error() says why */
  FQ_ERROR_DEVICE_LOST = -4, /* the device failed, and no other may take over: close the handle */
  FQ_ERROR_STATE = -5,       /* too many images are pending, or none */
  FQ_ERROR_INTERNAL = -6     /* a bug in this library: please report it */
} fq_status;

/* Version of the library, such as "0.2.0". */
FQ_API const char* fq_version(void);
/* Text of the last error in this thread; "" before the first. Valid until the next call that fails in this thread. */
FQ_API const char* fq_last_error(void);

/* --- Images ---------------------------------------------------------------------------------------------------- */

typedef enum fq_format {
  FQ_GRAY = 0, /* gray, or the Y plane of any planar or semi-planar YUV */
  FQ_RGB = 1,  /* interleaved; if plane[1] is set, three planes R, G, B */
  FQ_BGR = 2,  /* interleaved; if plane[1] is set, three planes B, G, R */
  FQ_RGBA = 3, /* interleaved; alpha is ignored when measuring, copied when filtering */
  FQ_BGRA = 4,
  FQ_BAYER_RGGB = 5, /* raw sensor mosaics, at least 2x2 */
  FQ_BAYER_GRBG = 6,
  FQ_BAYER_GBRG = 7,
  FQ_BAYER_BGGR = 8
} fq_format;

enum {
  FQ_BIG_ENDIAN = 1, /* 16-bit words are big-endian */
  FQ_ON_DEVICE = 2   /* plane[] are addresses in the GPU memory of the handle's device */
};

/* An image that the caller owns. */
typedef struct fq_image {
  size_t size;
  int32_t format;        /* fq_format */
  int32_t width, height; /* pixels, 1...2^20; of a mosaic, samples of the sensor */
  int32_t word_bytes;    /* bytes of a sample, 1 or 2 */
  int32_t bits;          /* in the low bits of a word that are used: 8...16; 0: all. Higher bits are ignored */
  int32_t flags;         /* FQ_BIG_ENDIAN, FQ_ON_DEVICE */
  const void* plane[3];  /* address of the first sample */
  ptrdiff_t stride[3];   /* bytes from row to row; may be negative */
  int32_t pixel_stride;  /* bytes from pixel to pixel, at most 255; 0: no gaps. Not for mosaics and denoisers */
  int32_t reserved;      /* 0 */
  void* stream;          /* FQ_ON_DEVICE: the cudaStream_t whose work writes the pixels, of the same GPU; NULL: the
                          * legacy default one. An invalid one causes FQ_ERROR_DEVICE_LOST */
} fq_image;

typedef struct fq_rect {
  int64_t x, y, width, height; /* pixels; clipped to the image */
} fq_rect;

/* --- Sharpness ------------------------------------------------------------------------------------------------- */

typedef enum fq_prefilter {
  FQ_PREFILTER_NONE = 0,
  FQ_PREFILTER_BINOMIAL3 = 1,
  FQ_PREFILTER_BINOMIAL5 = 2
} fq_prefilter;

/* Metrics have numbers 0...fq_metric_count() - 1, which never change. The functions return NULL or -1 for unknown ones.
 * docs/metrics.md has their formulas and sources. */
FQ_API int fq_metric_count(void);
FQ_API const char* fq_metric_name(int metric);    /* such as "laplacian-variance" */
FQ_API const char* fq_metric_summary(int metric); /* one line: its use, strengths and limits */
FQ_API const char* fq_metric_formula(int metric); /* one line */
FQ_API int fq_find_metric(const char* name);

/* The pixels to measure; the values of all others do not matter. See fq_options.mask. */
typedef struct fq_mask fq_mask;
/* values: one byte per pixel, row by row; 0: do not measure the pixel. The values are copied. */
FQ_API int fq_mask_open(const uint8_t* values, ptrdiff_t stride, int width, int height, fq_mask** mask);
FQ_API void fq_mask_close(fq_mask* mask); /* NULL is ignored */

/* Options of a measurement. fq_options_init() sets the defaults: the metric tenengrad on the whole image. */
typedef struct fq_options {
  size_t size;
  int32_t metric;     /* fq_find_metric() */
  int32_t prefilter;  /* fq_prefilter: binomial smoothing before the metric */
  int32_t downscale;  /* 1, 2 or 4: measure an image that is this many times smaller; 0: lowest of all three scores */
  int32_t normalize;  /* 1: divide the score by the mean luma, or its square, so that exposure cancels */
  int32_t statistics; /* 1: also measure noise, exposure and kind of blur */
  int32_t noise_correction; /* 1: subtract the contribution of noise from the score */
  int32_t limited;          /* 1: black and white are 16 and 235, for clipped_black and clipped_white */
  int32_t interlaced;       /* 1: measure the two fields separately and add them up */
  int32_t zone_columns;     /* 1...64: also score each zone of a grid */
  int32_t zone_rows;        /* 1...64 */
  int32_t has_roi;          /* 1: measure only roi */
  int32_t reserved;         /* 0 */
  fq_rect roi;
  /* Measure only the pixels that the mask selects; NULL: all. Neighbours of selected pixels are still read, as with a
   * roi: a rectangular mask gives the score of that roi, if its edges are at multiples of downscale. With downscale, a
   * sample is measured if the mask selects all of its pixels. noise is that of the mask's bounding box, everything else
   * that of the selected pixels; mean and clipped shares are NaN if the image is FQ_ON_DEVICE. The image must have the
   * mask's size. Cannot be combined with roi, zones, downscale 0, interlaced or mosaics. */
  const fq_mask* mask;
} fq_options;

typedef enum fq_blur {
  FQ_BLUR_UNKNOWN = -1, /* not measured */
  FQ_BLUR_FLAT = 0,     /* no detail above the noise */
  FQ_BLUR_SHARP = 1,
  FQ_BLUR_DEFOCUS = 2, /* equal in all directions */
  FQ_BLUR_MOTION = 3   /* most in one direction: blur_angle */
} fq_blur;

typedef struct fq_result {
  size_t size;
  double score; /* unit: that of the metric. 0 if no pixel was measured */
  double noise; /* standard deviation, grey levels. Here and below: NaN if it was not measured, 0 of no pixels */
  double mean;  /* luma, grey levels */
  double clipped_black, clipped_white; /* shares of the pixels, 0...1 */
  double gradient_energy; /* for metrics that also measure it, minus the contribution of noise; grey levels^2 */
  double gradient_noise;  /* that contribution */
  double anisotropy;      /* 0: equally sharp in all directions ... 1. Here and below: NaN for a flat image, too */
  double blur_angle;      /* direction of the strongest blur: degrees, counterclockwise from the x axis, 0 <= a < 180 */
  uint64_t pixels;        /* number of pixels measured, after downscale */
  int32_t blur;           /* fq_blur */
  int32_t light_power;    /* the score grows with this power of the light; 0: independent of exposure */
} fq_result;

FQ_API int fq_options_init(fq_options* options);

typedef struct fq_meter fq_meter;

/* device: "auto": the cheaper one of the CPU and a GPU; "cpu"; "cuda": the first usable NVIDIA GPU; "cuda:1": that one;
 * "opencl", "opencl:1": the same for OpenCL; "cuda:current": in the CUDA context that is current in each call, the
 * closing one included. "auto" starts on the CPU, opens a GPU in a separate thread once there is enough work for it (or
 * an image is in GPU memory), and keeps the cheaper one; the CPU takes over if the GPU fails. Each call leaves the
 * thread's current CUDA context as it was.
 *
 * in_flight: images that may be pending at the same time, 1...16. On a GPU, the copy of one overlaps the work on
 * another.
 *
 * A meter accepts images of any size and format. It allocates memory when these change, and prepares again when the
 * options are none of the last four; keep a mask open while you use it again. */
FQ_API int fq_meter_open(const char* device, int in_flight, fq_meter** meter);
FQ_API void fq_meter_close(fq_meter* meter); /* waits for pending images; NULL is ignored */
/* The device in use, such as "cuda:0"; with "auto" it may change with each image. Valid until the meter is used. */
FQ_API const char* fq_meter_device(const fq_meter* meter);

/* Starts to measure an image, whose pixels must stay unchanged until it is collected. Size, format and memory may
 * change only while no image is pending (FQ_ERROR_STATE). The mask may be closed right away. */
FQ_API int fq_meter_submit(fq_meter* meter, const fq_image* image, const fq_options* options);
/* Waits for the result of the oldest pending image. zones: room for zone_count scores, which are stored row by row;
 * must be at least zone_columns * zone_rows; or NULL. */
FQ_API int fq_meter_collect(fq_meter* meter, fq_result* result, double* zones, size_t zone_count);
/* Submits and collects; no image may be pending. */
FQ_API int fq_meter_measure(fq_meter* meter, const fq_image* image, const fq_options* options, fq_result* result,
                            double* zones, size_t zone_count);

/* Scores `count` images in host memory on the CPU, in parallel. threads: 0 for all cores that the process may use.
 * results: one for each image, with its size set. If images cannot be measured, returns the status of the first of
 * them, stores its index in *failed (which may be NULL), and measures the others; their scores are valid, those of
 * images that failed are NaN. */
FQ_API int fq_measure_many(const fq_image* images, size_t count, const fq_options* options, int threads,
                           fq_result* results, size_t* failed);

/* --- Devices --------------------------------------------------------------------------------------------------- */

typedef struct fq_device_info {
  size_t size;
  int32_t usable;   /* 1: fq_meter_open() accepts its name */
  int32_t reserved; /* 0 */
  char name[32];    /* for fq_meter_open(): "cpu", "cuda:0", "opencl:0" */
  char title[128];  /* name given by its driver; may be "" */
  char reason[512]; /* if not usable: why, and what to do */
} fq_device_info;

/* Number of devices, usable or not; at least 1, the last one being the CPU. Starts the GPU drivers when first called.
 */
FQ_API int fq_device_count(void);
FQ_API int fq_device_get(int index, fq_device_info* info);

/* --- Autofocus ------------------------------------------------------------------------------------------------- */

typedef struct fq_focus fq_focus;

typedef enum fq_focus_state {
  FQ_FOCUS_IDLE = 0,
  FQ_FOCUS_COARSE = 1,   /* sweeps over the range */
  FQ_FOCUS_FINE = 2,     /* measures few positions near the peak */
  FQ_FOCUS_SETTLE = 3,   /* moves to the peak and checks it */
  FQ_FOCUS_FOCUSED = 4,  /* done; with continuous, watches the score */
  FQ_FOCUS_FAILED = 5,   /* no peak found: the lens is back at its initial position; or not certain enough */
  FQ_FOCUS_TRACKING = 6, /* probes a small loss of focus */
  FQ_FOCUS_STACK = 7     /* moves through the positions of a focus stack, and back to the focus */
} fq_focus_state;

/* The object to focus on where there are objects at several distances. Larger positions are taken to focus nearer. */
typedef enum fq_focus_goal {
  FQ_GOAL_PEAK = 0,    /* the one with the highest score */
  FQ_GOAL_NEAREST = 1, /* the one at the largest position, of those that stand out */
  FQ_GOAL_FARTHEST = 2 /* the one at the smallest position */
} fq_focus_goal;

typedef struct fq_focus_options {
  size_t size;
  double min, max;        /* range of positions, in any unit */
  double step;            /* distance of neighbouring positions, > 0: those are min + i * step */
  double coarse_step;     /* of the sweep; 0: chosen from the range */
  double backlash;        /* play between motor and lens, in the unit of positions; negative: learn it. Default 0 */
  int32_t lag_frames;     /* frames between a command and the first that shows its position; -1: learned. Default 0 */
  int32_t settle_frames;  /* frames after a command in which the lens may still move, including the lag;
                             0 where lag_frames is -1: learned. Default 0 */
  int32_t average_frames; /* average at least this many scores at a position. Default 1 */
  int32_t stop_and_go;    /* 1: the sweep stops at each position, too */
  int32_t continuous;     /* 1: watch the score when done, and search again when focus is lost */
  int32_t goal;           /* fq_focus_goal. Default FQ_GOAL_PEAK */
  double min_certainty;   /* search on once, then fail, below this fq_focus_certainty(); 0: never. Default 0.5 */
  double stack_step;      /* distance between images of the stack; 0: from the width of the peak */
  int32_t stack;          /* after each search that found focus, images of a focus stack around it; 0: none */
  int32_t reserved;       /* 0 */
} fq_focus_options;

/* Sets the defaults, for a stage that has arrived before the next image is taken: 0...100 in steps of 1. */
FQ_API int fq_focus_options_init(fq_focus_options* options);
/* Starts a search. position: current position of the lens; NaN if unknown. */
FQ_API int fq_focus_open(const fq_focus_options* options, double position, fq_focus** focus);
FQ_API void fq_focus_close(fq_focus* focus);
/* Reports the score of a new image; NaN if it could not be measured. Stores the wanted position of the lens in
 * *position. Returns 1 if the lens must move there now, otherwise 0. */
FQ_API int fq_focus_next(fq_focus* focus, double score, double* position);
/* The same with a result that has statistics: a change of noise or brightness then does not count as a loss of focus,
 * nor one of brightness (a lamp that flickers) as a change of focus during a search. Where the score falls and the
 * brightness stays, a loss is noticed in half the time. */
FQ_API int fq_focus_next_result(fq_focus* focus, const fq_result* result, double* position);
/* Starts a search over the whole range. */
FQ_API int fq_focus_trigger(fq_focus* focus);
FQ_API int fq_focus_get_state(const fq_focus* focus); /* fq_focus_state */
/* Number of the image whose score was passed last, if it belongs to a focus stack: 1...*count, in the order of
 * positions; 0 if it does not. count: of the stack's images; position: where it was taken; either may be NULL. */
FQ_API int32_t fq_focus_stack_image(const fq_focus* focus, int32_t* count, double* position);
/* Reason for the last move, or for the end of the search, without a full stop. Valid until the next call. */
FQ_API const char* fq_focus_reason(const fq_focus* focus);
/* Curve that the last finished search saw: stores at most `room` positions and scores, in order of position, and
 * returns how many there are. Scores that depend on the light are in that of the first image, if results had
 * statistics. top: position of the peak, between steps, NaN if none was found; error: its standard error, 0 if unknown.
 * Any may be NULL. */
FQ_API size_t fq_focus_curve(const fq_focus* focus, double* positions, double* scores, size_t room, double* top,
                             double* error);
/* Probability that the last finished search ended within one step of the best position, or within 1% of the range if
 * that is more; 0 if it found no peak. */
FQ_API double fq_focus_certainty(const fq_focus* focus);

/* --- Perceived quality, denoising, halftoning ------------------------------------------------------------------ */

/* BLIINDS-II (Saad, Bovik, Charrier, IEEE TIP 2012). Images, or mosaics of cells, of at least 4x4. */
typedef struct fq_bliinds fq_bliinds;
typedef struct fq_bliinds_result {
  size_t size;
  double score;        /* from 0 (best) to 99 (worst), in steps of 0.5 */
  double raw;          /* before rounding and clamping */
  double features[24]; /* in the order of the authors' release */
} fq_bliinds_result;
/* model: file of a model that framequality-bliinds has trained; NULL: the published one. */
FQ_API int fq_bliinds_open(const char* device, const char* model, fq_bliinds** bliinds);
FQ_API void fq_bliinds_close(fq_bliinds* bliinds);
/* channel: 0: red, which the published model was trained on, or gray; 1: luma. */
FQ_API int fq_bliinds_measure(fq_bliinds* bliinds, const fq_image* image, int channel, fq_bliinds_result* result);

/* Memory that a filter writes. Has the layout of the input image, unless the filter says otherwise. */
typedef struct fq_target {
  size_t size;
  void* plane[3];
  ptrdiff_t stride[3]; /* bytes; may be negative */
  int32_t flags;       /* FQ_ON_DEVICE, as in the image */
  int32_t reserved;    /* 0 */
} fq_target;

typedef enum fq_denoise_method {
  FQ_NLMEANS = 0,        /* non-local means (Buades, Coll, Morel, CVPR 2005) */
  FQ_PATCH_BILATERAL = 1 /* patch-based bilateral filter */
} fq_denoise_method;

/* Grey levels are those of 8 bits. fq_denoise_options_init() sets the defaults of the elements nlmeans and
 * patchbilateral. */
typedef struct fq_denoise_options {
  size_t size;
  double strength;      /* nlmeans: h in exp(-d / h^2); patchbilateral: sigma of the range. 0: no effect, negative:
                         * follow the noise of each image */
  double sigma;         /* nlmeans: standard deviation of the noise to subtract from patch distances; negative: estimate
                         * it. patchbilateral: 0 */
  double sigma_spatial; /* patchbilateral: of the spatial weight, pixels, > 0 */
  int32_t method;       /* fq_denoise_method */
  int32_t patch_radius; /* pixels, 0...7 */
  int32_t search_radius; /* pixels, 0...16 */
  int32_t reserved;      /* 0 */
} fq_denoise_options;
typedef struct fq_denoiser fq_denoiser;
FQ_API int fq_denoise_options_init(fq_denoise_options* options, int method);
/* threads: of the CPU; 0 for all cores that the process may use. */
FQ_API int fq_denoiser_open(const char* device, int threads, fq_denoiser** denoiser);
FQ_API void fq_denoiser_close(fq_denoiser* denoiser);
/* Filters gray and colour images without gaps between pixels; no mosaics. `out` must not overlap the image. */
FQ_API int fq_denoiser_filter(fq_denoiser* denoiser, const fq_image* image, const fq_denoise_options* options,
                              const fq_target* out);

typedef enum fq_halftone_method {
  FQ_FLOYD_STEINBERG = 0, /* Floyd, Steinberg, 1976 */
  FQ_TONE_DEPENDENT = 1,  /* Mao, Abello, Sarkar, Ulichney, Allebach, ICIP 2018 */
  FQ_BLUE_NOISE = 2       /* threshold mask (Ulichney, 1993) */
} fq_halftone_method;

typedef struct fq_halftone_options {
  size_t size;
  double strength;    /* fraction of the error that is diffused, 0...1. Default 1 */
  int32_t method;     /* fq_halftone_method */
  int32_t levels;     /* equally spaced grey levels: 2, 4 or 16. Default 2 */
  int32_t packed;     /* 1: one bit per pixel, 1 = white, highest bit first, rows padded with 0; 2 levels only */
  int32_t serpentine; /* 1: Floyd-Steinberg in alternating directions, on one core; the device must be "cpu" */
  int32_t invert;     /* 1: white becomes black */
  int32_t linear;     /* 1: dither in linear light, taking the image as sRGB */
  int32_t limited;    /* 1: black and white are 16 and 235 */
  int32_t reserved;   /* 0 */
  /* Halftone to these colours instead of to greys, from host memory, by Floyd-Steinberg, on the CPU, or blue noise, on
   * any device; a handle for "auto" takes the CPU. The name of a palette, such as "spectra6", or 2 to 16 colours, such
   * as "#000000,#ffffff,#ff0000=5", where =5 is the code of a colour and codes else count from 0. `levels` is ignored;
   * packed: the codes of the colours in fq_palette_bits() bits, highest first. NULL: greys. Default NULL */
  const char* palette;
  int32_t output;   /* fq_halftone_output: with a palette that is not packed */
  int32_t absolute; /* with a palette, 1: keep the image's colours. 0: black and white become the darkest and the
                     * lightest colour of the palette, colours that cannot be mixed the nearest that can */
} fq_halftone_options;
typedef enum fq_halftone_output {
  FQ_HALFTONE_RGB = 0, /* three bytes per pixel: the colours as they look */
  FQ_HALFTONE_RGBX = 1 /* four, the last one 255 */
} fq_halftone_output;
/* Bits of a pixel that is packed: 1, 2 or 4. Negative fq_status if it is not a palette. */
FQ_API int fq_palette_bits(const char* palette);
/* Reads a text file of 2 to 16 colours, one on each line, such as #ff0000 or #ff0000=5, as text for the options. */
#define FQ_PALETTE_TEXT 192
FQ_API int fq_palette_read(const char* file, char text[FQ_PALETTE_TEXT]);
typedef struct fq_halftoner fq_halftoner;
FQ_API int fq_halftone_options_init(fq_halftone_options* options);
FQ_API int fq_halftoner_open(const char* device, int threads, fq_halftoner** halftoner);
FQ_API void fq_halftoner_close(fq_halftoner* halftoner);
/* Reads any format but mosaics. out: one byte per pixel, 0 black ... 255 white, or colours, or packed; plane[0] only.
 */
FQ_API int fq_halftoner_filter(fq_halftoner* halftoner, const fq_image* image, const fq_halftone_options* options,
                               const fq_target* out);

#ifdef __cplusplus
}
#endif
#endif
