// mean-square-frequency: 64 sum L^2 / sum Gx^2 + Gy^2 (4-neighbour Laplacian, 3x3 Sobel)

static void add64(volatile __global uint* total, const long v) {
  const uint low = (uint)v, high = (uint)((ulong)v >> 32);
  const uint old = atomic_add(total, low);
  const uint carried = high + ((uint)(old + low) < low ? 1u : 0u);
  if (carried) atomic_add(total + 1, carried);
}
#define ITEMS 128
static long group_sum(__local long* sums, const int item, const long mine) {
  barrier(CLK_LOCAL_MEM_FENCE);
  sums[item] = mine;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int step = ITEMS / 2; step > 0; step /= 2) {
    if (item < step) sums[item] += sums[item + step];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  return sums[0];
}
#define GROUP_SUM(v) group_sum(group_sums, item, v)
#define N 8
typedef float8 V;
#define absolute fabs
#define minimum fmin
#define maximum fmax
#define abs_difference(a, b) fabs((a) - (b))
typedef uchar8 Codes;
typedef int8 Mask;
#define CODES(row, x) (*(const __global Codes*)((row) + 1 * (x)))
static V widen(const Codes c) {
  return convert_float8((c));
}
#define CODE(row, x) (*(const __global uchar*)((row) + 1 * (x)))
static float sample(const uchar c) {
  return convert_float((uchar)((c)));
}
typedef float8 Sum;
typedef struct {
  Sum sum0;
  Sum sum1;
  Sum mean;
} Sums;
#define ADD0(v) sums->sum0 += (v)
#define ADD_PRODUCT0(a, b) sums->sum0 += (a) * (b)
#define ADD1(v) sums->sum1 += (v)
#define ADD_PRODUCT1(a, b) sums->sum1 += (a) * (b)
typedef struct {
  V f0, f1, f2;
} Row;
static Row make_row(V l, V c, V r, V r2) {
  const V t0 = r - l;
  const V t1 = l + c;
  const V t2 = c + r;
  const V t3 = t1 + t2;
  Row row;
  row.f0 = c;
  row.f1 = t0;
  row.f2 = t3;
  return row;
}
typedef struct {
  Codes own;
  uchar left;
  uchar right;
} Raw;
static Raw fetch(const __global uchar* row, const int x, const int w) {
  Raw raw;
  raw.own = CODES(row, x);
  raw.left = x > 0 ? CODE(row, x - 1) : (uchar)0;
  raw.right = x + N < w ? CODE(row, x + N) : (uchar)0;
  return raw;
}
static Row row_of(const Raw raw, const int x, const int w, V* own) {
  const V c = widen(raw.own);
  V l = c, r = c, r2 = c;
  *own = c;
  l = (V)(sample(raw.left), c.s0, c.s1, c.s2, c.s3, c.s4, c.s5, c.s6);
  r = (V)(c.s1, c.s2, c.s3, c.s4, c.s5, c.s6, c.s7, sample(raw.right));
  return make_row(l, c, r, r2);
}
static void pixel(const Row up, const Row mid, const Row down, Sums* sums) {
  const V t0 = mid.f0 + mid.f0;
  const V t1 = t0 + t0;
  const V t2 = mid.f2 - t1;
  const V t3 = up.f0 - mid.f0;
  const V t4 = down.f0 - mid.f0;
  const V t5 = t3 + t4;
  const V t6 = t2 + t5;
  ADD_PRODUCT0(t6, t6);
  const V t7 = up.f1 + down.f1;
  const V t8 = mid.f1 + mid.f1;
  const V t9 = t7 + t8;
  ADD_PRODUCT1(t9, t9);
  const V t10 = down.f2 - up.f2;
  ADD_PRODUCT1(t10, t10);
}
static void flush(Sums* sums, const int x, const int x0, const int x1, const int from, const int to, long* totals) {
  const Mask column = x + (Mask)(0, 1, 2, 3, 4, 5, 6, 7);
  const Mask counts = column >= max(x0, from) && column < min(x1, to);
  const Mask sum0_lanes = convert_int8(sums->sum0) & counts;
  sums->sum0 = (Sum)0;
  totals[0] += (long)sum0_lanes.s0 + sum0_lanes.s1 + sum0_lanes.s2 + sum0_lanes.s3 + sum0_lanes.s4 + sum0_lanes.s5 + sum0_lanes.s6 + sum0_lanes.s7;
  const Mask sum1_lanes = convert_int8(sums->sum1) & counts;
  sums->sum1 = (Sum)0;
  totals[1] += (long)sum1_lanes.s0 + sum1_lanes.s1 + sum1_lanes.s2 + sum1_lanes.s3 + sum1_lanes.s4 + sum1_lanes.s5 + sum1_lanes.s6 + sum1_lanes.s7;
  const Mask inside = column >= x0 && column < x1;
  const Mask mean_lanes = convert_int8(sums->mean) & inside;
  sums->mean = (Sum)0;
  totals[2] += (long)mean_lanes.s0 + mean_lanes.s1 + mean_lanes.s2 + mean_lanes.s3 + mean_lanes.s4 + mean_lanes.s5 + mean_lanes.s6 + mean_lanes.s7;
}
#define FETCH(y) fetch(plane + (long)(y) * pitch, x, w)
#define AT(y) row_of(FETCH(y), x, w, &own)
__kernel __attribute__((reqd_work_group_size(32, 4, 1)))
void measure(const __global uchar* frame, const long origin, const long field_step, const long pitch,
             const __global int* cells, volatile __global uint* totals, const int rows) {
  __local long group_sums[ITEMS];
  const int item = (int)(get_local_id(1) * get_local_size(0) + get_local_id(0));
  const __global int* cell = cells + 8 * get_global_id(2);
  const int x0 = cell[0], x1 = cell[1], y0 = cell[2], y1 = cell[3], w = cell[6], h = cell[7];
  const int x = (x0 / N + (int)get_global_id(0)) * N;
  const int first = y0 + (int)get_global_id(1) * rows, last = min(first + rows, y1);
  const __global uchar* plane = frame + origin + cell[5] * field_step;
  long mine[3] = {0, 0, 0};
  if (x < x1 && first < last) {
    const int from = 1, to = w - 1;
    Sums sums;
    sums.sum0 = (Sum)0;
    sums.sum1 = (Sum)0;
    sums.mean = (Sum)0;
    V own;
    const int begin = max(first, 1), end = min(last, h - 1);
    for (int y = first; y < min(begin, last); ++y) sums.mean += convert_float8(widen(CODES(plane + (long)y * pitch, x)));
    for (int y = max(end, max(begin, first)); y < last; ++y) sums.mean += convert_float8(widen(CODES(plane + (long)y * pitch, x)));
    if (begin < end) {
      int y = begin;
      Row r1 = AT(y);
      V own_mid = own;
      Row r0 = AT(y - 1), r2;
      while (y < end) {
        const int stop = min(y + 9, end);
        for (; y + 3 <= stop; y += 3) {
          r2 = AT(y + 1); pixel(r0, r1, r2, &sums); sums.mean += (own_mid); own_mid = own;
          r0 = AT(y + 2); pixel(r1, r2, r0, &sums); sums.mean += (own_mid); own_mid = own;
          r1 = AT(y + 3); pixel(r2, r0, r1, &sums); sums.mean += (own_mid); own_mid = own;
        }
        for (; y < stop; ++y) {
          r2 = AT(y + 1); pixel(r0, r1, r2, &sums); sums.mean += (own_mid); own_mid = own;
          r0 = r1; r1 = r2;
        }
        flush(&sums, x, x0, x1, from, to, mine);
      }
    }
    flush(&sums, x, x0, x1, from, to, mine);
  }
  {
    const long all = GROUP_SUM(mine[0]);
    if (item == 0 && all) add64(totals + 2 * (cell[4] + 0), all);
  }
  {
    const long all = GROUP_SUM(mine[1]);
    if (item == 0 && all) add64(totals + 2 * (cell[4] + 1), all);
  }
  {
    const long all = GROUP_SUM(mine[2]);
    if (item == 0 && all) add64(totals + 2 * (cell[4] + 2), all);
  }
}
