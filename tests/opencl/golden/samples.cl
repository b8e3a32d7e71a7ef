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
#define SIDE 20
#define RADIUS 2
#define DOWNSCALE 2
__kernel __attribute__((reqd_work_group_size(16, 16, 1)))
void make_samples(const __global uchar* frame, const long origin0, const long origin1, const long origin2,
                  const long pitch0, const long pitch1, const long pitch2, const int fields, __global uchar* out,
                  const int out_pitch, const int w0, const int h0, const int w1, const int h1) {
  const int field = (int)get_global_id(2), w = field ? w1 : w0, h = field ? h1 : h0;
  const int x = (int)get_global_id(0), y = (int)get_global_id(1), lx = (int)get_local_id(0), ly = (int)get_local_id(1);
  __local uint box[SIDE][SIDE + 1];
  if (w > 0 && h > 0)
    for (int j = ly; j < SIDE; j += 16)
      for (int i = lx; i < SIDE; i += 16) {
        const int bx = clamp(x - lx + i - RADIUS, 0, w - 1), by = clamp(y - ly + j - RADIUS, 0, h - 1);
        uint sum = 0;
        for (int v = 0; v < DOWNSCALE; ++v) {
          const long row = (long)(by * DOWNSCALE + v) * fields + field;
          for (int u = 0; u < DOWNSCALE; ++u)
            sum += luma_code(frame + origin0 + row * pitch0, frame + origin1 + row * pitch1,
                             frame + origin2 + row * pitch2, bx * DOWNSCALE + u);
        }
        box[j][i] = sum;
      }
  barrier(CLK_LOCAL_MEM_FENCE);
  __local uint line[SIDE][16];
  for (int j = ly; j < SIDE; j += 16)
    line[j][lx] = 1u * box[j][lx + 0] + 4u * box[j][lx + 1] + 6u * box[j][lx + 2] + 4u * box[j][lx + 3] + 1u * box[j][lx + 4];
  barrier(CLK_LOCAL_MEM_FENCE);
  if (x >= w || y >= h) return;
  const uint sum = 1u * line[ly + 0][lx] + 4u * line[ly + 1][lx] + 6u * line[ly + 2][lx] + 4u * line[ly + 3][lx] + 1u * line[ly + 4][lx];
  ((__global ushort*)(out + ((long)y * fields + field) * out_pitch))[x] = (ushort)round_sample(sum);
}
