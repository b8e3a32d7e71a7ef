static uint round_sample(uint scaled) {
  const uint t0 = scaled + 32u;
  const uint t1 = t0 >> 6;
  return t1;
}
static uint luma_code(const __global uchar* row0, const __global uchar* row1, const __global uchar* row2, int x) {
  const int t0 = x * 4;
  const __global uchar* t1 = row0 + t0;
  const uint t2 = t1[0];
  const uint t3 = 0u + t2;
  const uint t4 = t3 >> 0;
  const uint t5 = t4 & 255u;
  const uint t6 = 9798u * t5;
  const __global uchar* t7 = row0 + 1;
  const __global uchar* t8 = t7 + t0;
  const uint t9 = t8[0];
  const uint t10 = 0u + t9;
  const uint t11 = t10 >> 0;
  const uint t12 = t11 & 255u;
  const uint t13 = 19235u * t12;
  const uint t14 = t6 + t13;
  const __global uchar* t15 = row0 + 2;
  const __global uchar* t16 = t15 + t0;
  const uint t17 = t16[0];
  const uint t18 = 0u + t17;
  const uint t19 = t18 >> 0;
  const uint t20 = t19 & 255u;
  const uint t21 = 3735u * t20;
  const uint t22 = t14 + t21;
  const uint t23 = t22 + 16384u;
  const uint t24 = t23 >> 15;
  return t24;
}
#define COLUMNS 4
#define CODES 8
#define RADIUS 2
#define DOWNSCALE 2
#define ACROSS 32
#define DOWN 2
__kernel __attribute__((reqd_work_group_size(ACROSS, DOWN, 1)))
void make_samples(const __global uchar* frame, const long origin0, const long origin1, const long origin2,
                  const long pitch0, const long pitch1, const long pitch2, const int fields, __global uchar* out,
                  const int out_pitch, const int w0, const int h0, const int w1, const int h1, const int rows) {
  const int field = (int)get_global_id(2), w = field ? w1 : w0, h = field ? h1 : h0;
  const int x = (int)get_global_id(0) * COLUMNS, first = (int)get_global_id(1) * rows, last = min(first + rows, h);
  if (x >= w || first >= h) return;
  uint before[2 * RADIUS][COLUMNS] = {{0}};
  for (int y = first - RADIUS; y < last + RADIUS; ++y) {
    const int by = clamp(y, 0, h - 1);
    uint code[CODES];
#pragma unroll
    for (int i = 0; i < CODES; ++i) {
      const int bx = clamp(x + i - RADIUS, 0, w - 1);
      uint sum = 0;
      for (int v = 0; v < DOWNSCALE; ++v) {
        const long row = (long)(by * DOWNSCALE + v) * fields + field;
        for (int u = 0; u < DOWNSCALE; ++u)
          sum += luma_code(frame + origin0 + row * pitch0, frame + origin1 + row * pitch1,
                           frame + origin2 + row * pitch2, bx * DOWNSCALE + u);
      }
      code[i] = sum;
    }
    uint sums[COLUMNS];
#pragma unroll
    for (int i = 0; i < COLUMNS; ++i) {
      uint sum = 1u * code[i + 0] + 4u * code[i + 1] + 6u * code[i + 2] + 4u * code[i + 3] + 1u * code[i + 4];
#pragma unroll
      for (int t = 0; t < 2 * RADIUS; ++t) {
        const uint above = before[t][i];
        before[t][i] = sum;
        sum += above;
      }
      sums[i] = sum;
    }
    if (y < first + RADIUS) continue;
    __global uchar* to = out + ((long)(y - RADIUS) * fields + field) * out_pitch;
    ((__global ushort4*)to)[x / COLUMNS] =
        (ushort4)((ushort)round_sample(sums[0]), (ushort)round_sample(sums[1]), (ushort)round_sample(sums[2]), (ushort)round_sample(sums[3]));
  }
}
