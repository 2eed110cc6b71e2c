import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    // Threads share one runtime binary; two of them is what a two-core machine can use.
    pool: 'forks',
    testTimeout: 20_000,
    hookTimeout: 30_000,
  },
})
