// tenengrad, as sums of lags

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

static uint dot4(const uint a, const uint b, const uint sum) {
  uint d;
  asm("dp4a.u32.u32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(sum));
  return d;
}
static uint moved(const uint low, const uint high, const uint bits) {
  uint d;
  asm("shf.r.wrap.b32 %0, %1, %2, %3;" : "=r"(d) : "r"(low), "r"(high), "r"(bits));
  return d;
}
typedef int V;
#define absolute(a) ((a) < (V)0 ? -(a) : (a))
#define minimum(a, b) ((a) < (b) ? (a) : (b))
#define maximum(a, b) ((a) > (b) ? (a) : (b))
#define abs_difference(a, b) (maximum(a, b) - minimum(a, b))
typedef struct {
  V f0, f1;
} Row;
static Row make_row(V l, V c, V r, V r2) {
  const V t0 = r - l;
  const V t1 = l + c;
  const V t2 = c + r;
  const V t3 = t1 + t2;
  Row row;
  row.f0 = t0;
  row.f1 = t3;
  return row;
}
#define ADD0(v) totals[0] += sign * (long)(v)
#define ADD_PRODUCT0(a, b) totals[0] += sign * ((long)(a) * (b))
static void pixel(const Row up, const Row mid, const Row down, const int sign, long* totals) {
  const V t0 = up.f0 + down.f0;
  const V t1 = mid.f0 + mid.f0;
  const V t2 = t0 + t1;
  ADD_PRODUCT0(t2, t2);
  const V t3 = down.f1 - up.f1;
  ADD_PRODUCT0(t3, t3);
}
#define UP 1
#define DOWN 1
#define LEFT 1
#define RIGHT 1
#define REFLECTS 0
#define INSIDE(v, n) clamp((v), 0, (n) - 1)

typedef struct {
  const __global uchar* plane;
  long pitch;
  int w, h, x0, x1, y0, y1;
} Cell;

static int holds(const Cell* cell, const int x, const int y) {
  return x >= cell->x0 && x < cell->x1 && y >= cell->y0 && y < cell->y1;
}
static int sample(const Cell* cell, const int x, const int y, const int all) {
  return all || holds(cell, x, y) ? cell->plane[INSIDE(y, cell->h) * cell->pitch + INSIDE(x, cell->w)] : 0;
}
// all: samples outside of the cell count as they are, not as 0.
static Row row_at(const Cell* cell, const int x, const int y, const int all) {
  return make_row(LEFT > 0 ? sample(cell, x - 1, y, all) : 0, sample(cell, x, y, all),
                  RIGHT > 0 ? sample(cell, x + 1, y, all) : 0, RIGHT > 1 ? sample(cell, x + 2, y, all) : 0);
}
// What pixel (x, y) adds to the cell's totals, less what the lags have made of it.
static void correct(const Cell* cell, const int x, const int y, long* totals) {
  pixel(row_at(cell, x, y - UP, 0), row_at(cell, x, y, 0), row_at(cell, x, y + DOWN, 0), -1, totals);
  if (holds(cell, x, y) && (REFLECTS != 0 || (x >= LEFT && x + RIGHT < cell->w && y >= UP && y + DOWN < cell->h)))
    pixel(row_at(cell, x, y - UP, 1), row_at(cell, x, y, 1), row_at(cell, x, y + DOWN, 1), 1, totals);
}
// correct() for all pixels that need it, spread over `items` items. The lags are right within the core; beyond the
// halo there is nothing.
static void correct_border(const Cell* cell, const int item, const int items, long* totals) {
  const int left = cell->x0 - RIGHT, right = cell->x1 + LEFT, top = cell->y0 - DOWN, bottom = cell->y1 + UP;
  int core_left = cell->x0 + LEFT, core_right = cell->x1 - RIGHT, core_top = cell->y0 + UP,
      core_bottom = cell->y1 - DOWN;
  if (core_left >= core_right || core_top >= core_bottom) {
    core_left = core_right = right;
    core_top = core_bottom = bottom;
  }
  const int width = right - left, beside = width - (core_right - core_left), above = width * (core_top - top);
  const int sides = above + beside * (core_bottom - core_top), end = sides + width * (bottom - core_bottom);
  for (int i = item; i < end; i += items) {
    const int across = i < above || i >= sides;
    const int n = i < above ? i : i < sides ? i - above : i - sides, per_row = across ? width : beside;
    const int row = n / per_row, column = n % per_row;
    const int y = row + (i < above ? top : i < sides ? core_top : core_bottom);
    const int x = left + column + (across || column < core_left - left ? 0 : core_right - core_left);
    correct(cell, x, y, totals);
  }
}
// The bytes of a word at column x that lie in x0...x1-1.
static uint byte_mask(const int x, const int x0, const int x1) {
  uint mask = 0;
  for (int i = 0; i < 4; ++i)
    if (x + i >= x0 && x + i < x1) mask |= 255u << (8 * i);
  return mask;
}
#define NEXT(chunk, edge) \
  chunk = *(const __global uint4*)from; \
  edge = *(const __global uint*)(from + beside); \
  if (next >= y0 && next < last - 1) from += pitch; \
  ++next;
__kernel __attribute__((reqd_work_group_size(32, 4, 1)))
void measure(const __global uchar* frame, const long origin, const long field_step, const long pitch,
             const __global int* cells, volatile __global uint* totals, const int rows) {
  __local long group_sums[ITEMS];
  const int item = (int)(get_local_id(1) * get_local_size(0) + get_local_id(0));
  const __global int* cell = cells + 8 * get_global_id(2);
  const int x0 = cell[0], x1 = cell[1], y0 = cell[2], y1 = cell[3], w = cell[6], h = cell[7];
  const int x = (x0 / 16 + (int)get_global_id(0)) * 16;
  const int first = y0 + (int)get_global_id(1) * rows, last = min(first + rows, y1);
  const __global uchar* plane = frame + origin + cell[5] * field_step;
  long mine[2] = {0, 0};
  if (x < x1 && first < last) {
    const int beside = x + 16 < x1 ? 16 : 0;
    const __global uchar* from = plane + (long)max(first - 2, y0) * pitch + x;
    int next = first - 2;
    const uint m0 = byte_mask(x + 0, x0, x1);
    const uint m1 = byte_mask(x + 4, x0, x1);
    const uint m2 = byte_mask(x + 8, x0, x1);
    const uint m3 = byte_mask(x + 12, x0, x1);
    const uint m4 = byte_mask(x + 16, x0, x1);
    uint4 c0;
    uint e0 = 0;
    uint4 c1;
    uint e1 = 0;
    uint4 c2;
    uint e2 = 0;
    uint r0_0_0, r0_0_1, r0_0_2, r0_0_3, r0_1_0, r0_1_1, r0_1_2, r0_1_3, r0_2_0, r0_2_1, r0_2_2, r0_2_3;
    uint r1_0_0, r1_0_1, r1_0_2, r1_0_3, r1_1_0, r1_1_1, r1_1_2, r1_1_3, r1_2_0, r1_2_1, r1_2_2, r1_2_3;
    uint r2_0_0, r2_0_1, r2_0_2, r2_0_3, r2_1_0, r2_1_1, r2_1_2, r2_1_3, r2_2_0, r2_2_1, r2_2_2, r2_2_3;
    uint sum = 0, a0 = 0, a1 = 0, a2 = 0, a3 = 0;
    NEXT(c0, e0)
    NEXT(c1, e1)
    NEXT(c2, e2)
        {
          const uint inside = (first - 2 >= y0 ? 0xffffffffu : 0u);
          r0_0_0 = c0.s0 & m0 & inside;
          r0_0_1 = c0.s1 & m1 & inside;
          r0_0_2 = c0.s2 & m2 & inside;
          r0_0_3 = c0.s3 & m3 & inside;
          const uint beyond = e0 & m4 & inside;
          NEXT(c0, e0)
          r0_1_0 = moved(r0_0_0, r0_0_1, 8);
          r0_1_1 = moved(r0_0_1, r0_0_2, 8);
          r0_1_2 = moved(r0_0_2, r0_0_3, 8);
          r0_1_3 = moved(r0_0_3, beyond, 8);
          r0_2_0 = moved(r0_0_0, r0_0_1, 16);
          r0_2_1 = moved(r0_0_1, r0_0_2, 16);
          r0_2_2 = moved(r0_0_2, r0_0_3, 16);
          r0_2_3 = moved(r0_0_3, beyond, 16);
        }
        {
          const uint inside = (first - 1 >= y0 ? 0xffffffffu : 0u);
          r1_0_0 = c1.s0 & m0 & inside;
          r1_0_1 = c1.s1 & m1 & inside;
          r1_0_2 = c1.s2 & m2 & inside;
          r1_0_3 = c1.s3 & m3 & inside;
          const uint beyond = e1 & m4 & inside;
          NEXT(c1, e1)
          r1_1_0 = moved(r1_0_0, r1_0_1, 8);
          r1_1_1 = moved(r1_0_1, r1_0_2, 8);
          r1_1_2 = moved(r1_0_2, r1_0_3, 8);
          r1_1_3 = moved(r1_0_3, beyond, 8);
          r1_2_0 = moved(r1_0_0, r1_0_1, 16);
          r1_2_1 = moved(r1_0_1, r1_0_2, 16);
          r1_2_2 = moved(r1_0_2, r1_0_3, 16);
          r1_2_3 = moved(r1_0_3, beyond, 16);
        }
    for (int y = first; y < last; y += 3) {
        {
          const uint inside = (y + 0 < last ? 0xffffffffu : 0u);
          r2_0_0 = c2.s0 & m0 & inside;
          r2_0_1 = c2.s1 & m1 & inside;
          r2_0_2 = c2.s2 & m2 & inside;
          r2_0_3 = c2.s3 & m3 & inside;
          const uint beyond = e2 & m4 & inside;
          NEXT(c2, e2)
          r2_1_0 = moved(r2_0_0, r2_0_1, 8);
          r2_1_1 = moved(r2_0_1, r2_0_2, 8);
          r2_1_2 = moved(r2_0_2, r2_0_3, 8);
          r2_1_3 = moved(r2_0_3, beyond, 8);
          r2_2_0 = moved(r2_0_0, r2_0_1, 16);
          r2_2_1 = moved(r2_0_1, r2_0_2, 16);
          r2_2_2 = moved(r2_0_2, r2_0_3, 16);
          r2_2_3 = moved(r2_0_3, beyond, 16);
        }
        a0 = dot4(r2_0_0, r2_0_0, a0);
        a0 = dot4(r2_0_1, r2_0_1, a0);
        a0 = dot4(r2_0_2, r2_0_2, a0);
        a0 = dot4(r2_0_3, r2_0_3, a0);
        a1 = dot4(r2_0_0, r2_1_0, a1);
        a1 = dot4(r2_0_1, r2_1_1, a1);
        a1 = dot4(r2_0_2, r2_1_2, a1);
        a1 = dot4(r2_0_3, r2_1_3, a1);
        a2 = dot4(r2_0_0, r2_2_0, a2);
        a2 = dot4(r2_0_1, r2_2_1, a2);
        a2 = dot4(r2_0_2, r2_2_2, a2);
        a2 = dot4(r2_0_3, r2_2_3, a2);
        a2 = dot4(r1_2_0, r2_0_0, a2);
        a2 = dot4(r1_2_1, r2_0_1, a2);
        a2 = dot4(r1_2_2, r2_0_2, a2);
        a2 = dot4(r1_2_3, r2_0_3, a2);
        a1 = dot4(r1_0_0, r2_0_0, a1);
        a1 = dot4(r1_0_1, r2_0_1, a1);
        a1 = dot4(r1_0_2, r2_0_2, a1);
        a1 = dot4(r1_0_3, r2_0_3, a1);
        a2 = dot4(r1_0_0, r2_2_0, a2);
        a2 = dot4(r1_0_1, r2_2_1, a2);
        a2 = dot4(r1_0_2, r2_2_2, a2);
        a2 = dot4(r1_0_3, r2_2_3, a2);
        a3 = dot4(r0_2_0, r2_0_0, a3);
        a3 = dot4(r0_2_1, r2_0_1, a3);
        a3 = dot4(r0_2_2, r2_0_2, a3);
        a3 = dot4(r0_2_3, r2_0_3, a3);
        a2 = dot4(r0_1_0, r2_0_0, a2);
        a2 = dot4(r0_1_1, r2_0_1, a2);
        a2 = dot4(r0_1_2, r2_0_2, a2);
        a2 = dot4(r0_1_3, r2_0_3, a2);
        a2 = dot4(r0_0_0, r2_0_0, a2);
        a2 = dot4(r0_0_1, r2_0_1, a2);
        a2 = dot4(r0_0_2, r2_0_2, a2);
        a2 = dot4(r0_0_3, r2_0_3, a2);
        a2 = dot4(r0_0_0, r2_1_0, a2);
        a2 = dot4(r0_0_1, r2_1_1, a2);
        a2 = dot4(r0_0_2, r2_1_2, a2);
        a2 = dot4(r0_0_3, r2_1_3, a2);
        a3 = dot4(r0_0_0, r2_2_0, a3);
        a3 = dot4(r0_0_1, r2_2_1, a3);
        a3 = dot4(r0_0_2, r2_2_2, a3);
        a3 = dot4(r0_0_3, r2_2_3, a3);
        sum = dot4(r2_0_0, 0x01010101u, sum);
        sum = dot4(r2_0_1, 0x01010101u, sum);
        sum = dot4(r2_0_2, 0x01010101u, sum);
        sum = dot4(r2_0_3, 0x01010101u, sum);
        {
          const uint inside = (y + 1 < last ? 0xffffffffu : 0u);
          r0_0_0 = c0.s0 & m0 & inside;
          r0_0_1 = c0.s1 & m1 & inside;
          r0_0_2 = c0.s2 & m2 & inside;
          r0_0_3 = c0.s3 & m3 & inside;
          const uint beyond = e0 & m4 & inside;
          NEXT(c0, e0)
          r0_1_0 = moved(r0_0_0, r0_0_1, 8);
          r0_1_1 = moved(r0_0_1, r0_0_2, 8);
          r0_1_2 = moved(r0_0_2, r0_0_3, 8);
          r0_1_3 = moved(r0_0_3, beyond, 8);
          r0_2_0 = moved(r0_0_0, r0_0_1, 16);
          r0_2_1 = moved(r0_0_1, r0_0_2, 16);
          r0_2_2 = moved(r0_0_2, r0_0_3, 16);
          r0_2_3 = moved(r0_0_3, beyond, 16);
        }
        a0 = dot4(r0_0_0, r0_0_0, a0);
        a0 = dot4(r0_0_1, r0_0_1, a0);
        a0 = dot4(r0_0_2, r0_0_2, a0);
        a0 = dot4(r0_0_3, r0_0_3, a0);
        a1 = dot4(r0_0_0, r0_1_0, a1);
        a1 = dot4(r0_0_1, r0_1_1, a1);
        a1 = dot4(r0_0_2, r0_1_2, a1);
        a1 = dot4(r0_0_3, r0_1_3, a1);
        a2 = dot4(r0_0_0, r0_2_0, a2);
        a2 = dot4(r0_0_1, r0_2_1, a2);
        a2 = dot4(r0_0_2, r0_2_2, a2);
        a2 = dot4(r0_0_3, r0_2_3, a2);
        a2 = dot4(r2_2_0, r0_0_0, a2);
        a2 = dot4(r2_2_1, r0_0_1, a2);
        a2 = dot4(r2_2_2, r0_0_2, a2);
        a2 = dot4(r2_2_3, r0_0_3, a2);
        a1 = dot4(r2_0_0, r0_0_0, a1);
        a1 = dot4(r2_0_1, r0_0_1, a1);
        a1 = dot4(r2_0_2, r0_0_2, a1);
        a1 = dot4(r2_0_3, r0_0_3, a1);
        a2 = dot4(r2_0_0, r0_2_0, a2);
        a2 = dot4(r2_0_1, r0_2_1, a2);
        a2 = dot4(r2_0_2, r0_2_2, a2);
        a2 = dot4(r2_0_3, r0_2_3, a2);
        a3 = dot4(r1_2_0, r0_0_0, a3);
        a3 = dot4(r1_2_1, r0_0_1, a3);
        a3 = dot4(r1_2_2, r0_0_2, a3);
        a3 = dot4(r1_2_3, r0_0_3, a3);
        a2 = dot4(r1_1_0, r0_0_0, a2);
        a2 = dot4(r1_1_1, r0_0_1, a2);
        a2 = dot4(r1_1_2, r0_0_2, a2);
        a2 = dot4(r1_1_3, r0_0_3, a2);
        a2 = dot4(r1_0_0, r0_0_0, a2);
        a2 = dot4(r1_0_1, r0_0_1, a2);
        a2 = dot4(r1_0_2, r0_0_2, a2);
        a2 = dot4(r1_0_3, r0_0_3, a2);
        a2 = dot4(r1_0_0, r0_1_0, a2);
        a2 = dot4(r1_0_1, r0_1_1, a2);
        a2 = dot4(r1_0_2, r0_1_2, a2);
        a2 = dot4(r1_0_3, r0_1_3, a2);
        a3 = dot4(r1_0_0, r0_2_0, a3);
        a3 = dot4(r1_0_1, r0_2_1, a3);
        a3 = dot4(r1_0_2, r0_2_2, a3);
        a3 = dot4(r1_0_3, r0_2_3, a3);
        sum = dot4(r0_0_0, 0x01010101u, sum);
        sum = dot4(r0_0_1, 0x01010101u, sum);
        sum = dot4(r0_0_2, 0x01010101u, sum);
        sum = dot4(r0_0_3, 0x01010101u, sum);
        {
          const uint inside = (y + 2 < last ? 0xffffffffu : 0u);
          r1_0_0 = c1.s0 & m0 & inside;
          r1_0_1 = c1.s1 & m1 & inside;
          r1_0_2 = c1.s2 & m2 & inside;
          r1_0_3 = c1.s3 & m3 & inside;
          const uint beyond = e1 & m4 & inside;
          NEXT(c1, e1)
          r1_1_0 = moved(r1_0_0, r1_0_1, 8);
          r1_1_1 = moved(r1_0_1, r1_0_2, 8);
          r1_1_2 = moved(r1_0_2, r1_0_3, 8);
          r1_1_3 = moved(r1_0_3, beyond, 8);
          r1_2_0 = moved(r1_0_0, r1_0_1, 16);
          r1_2_1 = moved(r1_0_1, r1_0_2, 16);
          r1_2_2 = moved(r1_0_2, r1_0_3, 16);
          r1_2_3 = moved(r1_0_3, beyond, 16);
        }
        a0 = dot4(r1_0_0, r1_0_0, a0);
        a0 = dot4(r1_0_1, r1_0_1, a0);
        a0 = dot4(r1_0_2, r1_0_2, a0);
        a0 = dot4(r1_0_3, r1_0_3, a0);
        a1 = dot4(r1_0_0, r1_1_0, a1);
        a1 = dot4(r1_0_1, r1_1_1, a1);
        a1 = dot4(r1_0_2, r1_1_2, a1);
        a1 = dot4(r1_0_3, r1_1_3, a1);
        a2 = dot4(r1_0_0, r1_2_0, a2);
        a2 = dot4(r1_0_1, r1_2_1, a2);
        a2 = dot4(r1_0_2, r1_2_2, a2);
        a2 = dot4(r1_0_3, r1_2_3, a2);
        a2 = dot4(r0_2_0, r1_0_0, a2);
        a2 = dot4(r0_2_1, r1_0_1, a2);
        a2 = dot4(r0_2_2, r1_0_2, a2);
        a2 = dot4(r0_2_3, r1_0_3, a2);
        a1 = dot4(r0_0_0, r1_0_0, a1);
        a1 = dot4(r0_0_1, r1_0_1, a1);
        a1 = dot4(r0_0_2, r1_0_2, a1);
        a1 = dot4(r0_0_3, r1_0_3, a1);
        a2 = dot4(r0_0_0, r1_2_0, a2);
        a2 = dot4(r0_0_1, r1_2_1, a2);
        a2 = dot4(r0_0_2, r1_2_2, a2);
        a2 = dot4(r0_0_3, r1_2_3, a2);
        a3 = dot4(r2_2_0, r1_0_0, a3);
        a3 = dot4(r2_2_1, r1_0_1, a3);
        a3 = dot4(r2_2_2, r1_0_2, a3);
        a3 = dot4(r2_2_3, r1_0_3, a3);
        a2 = dot4(r2_1_0, r1_0_0, a2);
        a2 = dot4(r2_1_1, r1_0_1, a2);
        a2 = dot4(r2_1_2, r1_0_2, a2);
        a2 = dot4(r2_1_3, r1_0_3, a2);
        a2 = dot4(r2_0_0, r1_0_0, a2);
        a2 = dot4(r2_0_1, r1_0_1, a2);
        a2 = dot4(r2_0_2, r1_0_2, a2);
        a2 = dot4(r2_0_3, r1_0_3, a2);
        a2 = dot4(r2_0_0, r1_1_0, a2);
        a2 = dot4(r2_0_1, r1_1_1, a2);
        a2 = dot4(r2_0_2, r1_1_2, a2);
        a2 = dot4(r2_0_3, r1_1_3, a2);
        a3 = dot4(r2_0_0, r1_2_0, a3);
        a3 = dot4(r2_0_1, r1_2_1, a3);
        a3 = dot4(r2_0_2, r1_2_2, a3);
        a3 = dot4(r2_0_3, r1_2_3, a3);
        sum = dot4(r1_0_0, 0x01010101u, sum);
        sum = dot4(r1_0_1, 0x01010101u, sum);
        sum = dot4(r1_0_2, 0x01010101u, sum);
        sum = dot4(r1_0_3, 0x01010101u, sum);
    }
    mine[0] += (long)24 * a0;
    mine[0] += (long)16 * a1;
    mine[0] += (long)-8 * a2;
    mine[0] += (long)-4 * a3;
    mine[1] += sum;
  }
  const Cell border = {plane, pitch, w, h, x0, x1, y0, y1};
  correct_border(&border, (int)(get_global_id(1) * get_global_size(0) + get_global_id(0)),
                 (int)(get_global_size(0) * get_global_size(1)), mine);
  {
    const long all = GROUP_SUM(mine[0]);
    if (item == 0 && all) add64(totals + 2 * (cell[4] + 0), all);
  }
  {
    const long all = GROUP_SUM(mine[1]);
    if (item == 0 && all) add64(totals + 2 * (cell[4] + 1), all);
  }
}
