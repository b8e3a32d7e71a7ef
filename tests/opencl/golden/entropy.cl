// histogram of the top 8 bits of samples

static void add64(volatile __global uint* total, const long v) {
  const uint low = (uint)v, high = (uint)((ulong)v >> 32);
  const uint old = atomic_add(total, low);
  const uint carried = high + ((uint)(old + low) < low ? 1u : 0u);
  if (carried) atomic_add(total + 1, carried);
}
#define N 8
#define ITEMS 128
#define COPIES 4
typedef uchar8 Codes;
__kernel __attribute__((reqd_work_group_size(32, 4, 1)))
void measure(const __global uchar* frame, const long origin, const long field_step, const long pitch,
             const __global int* cells, volatile __global uint* totals, const int rows) {
  const int item = (int)(get_local_id(1) * get_local_size(0) + get_local_id(0));
  __local uint bins[256 * COPIES];
  for (int i = item; i < 256 * COPIES; i += ITEMS) bins[i] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  const __global int* cell = cells + 8 * get_global_id(2);
  const int x0 = cell[0], x1 = cell[1], y0 = cell[2], y1 = cell[3];
  const int x = (x0 / N + (int)get_global_id(0)) * N;
  const int first = y0 + (int)get_global_id(1) * rows, last = min(first + rows, y1);
  const __global uchar* plane = frame + origin + cell[5] * field_step;
  __local uint* mine = bins + 256 * (item % COPIES);
  if (x < x1)
    for (int y = first; y < last; ++y) {
      const Codes c = (*(const __global Codes*)(plane + (long)y * pitch + 1 * x) >> (Codes)0) & (Codes)255;
      if (x + 0 >= x0 && x + 0 < x1) atomic_inc(mine + c.s0);
      if (x + 1 >= x0 && x + 1 < x1) atomic_inc(mine + c.s1);
      if (x + 2 >= x0 && x + 2 < x1) atomic_inc(mine + c.s2);
      if (x + 3 >= x0 && x + 3 < x1) atomic_inc(mine + c.s3);
      if (x + 4 >= x0 && x + 4 < x1) atomic_inc(mine + c.s4);
      if (x + 5 >= x0 && x + 5 < x1) atomic_inc(mine + c.s5);
      if (x + 6 >= x0 && x + 6 < x1) atomic_inc(mine + c.s6);
      if (x + 7 >= x0 && x + 7 < x1) atomic_inc(mine + c.s7);
    }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int i = item; i < 256; i += ITEMS) {
    uint sum = 0;
    for (int copy = 0; copy < COPIES; ++copy) sum += bins[256 * copy + i];
    if (sum) add64(totals + 2 * (cell[4] + i), sum);
  }
}
