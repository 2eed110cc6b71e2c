/**
 * How glibc keeps memory that a process has freed: as little as it can. An idle server has 118 MB instead of 139 with both (61 and
 * 77 of them its own, the rest the program's file). Other C libraries do not read these: https://man7.org/linux/man-pages/man3/mallopt.3.html
 */
export const leanMemory = {
  // Bytes at the end of the heap that may stay. Fixed, or a single large block raises it to twice its size.
  MALLOC_TRIM_THRESHOLD_: '131072',
  // Heaps, which threads share: each keeps what the start has left behind.
  MALLOC_ARENA_MAX: '2',
}
