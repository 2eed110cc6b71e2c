/** Environment variables of glibc. */
export const leanMemory: Readonly<Record<'MALLOC_TRIM_THRESHOLD_' | 'MALLOC_ARENA_MAX', string>>
