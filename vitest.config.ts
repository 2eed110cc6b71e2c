import { defineConfig } from 'vitest/config'

/** What runs once more on PostgreSQL: everything above storage. Not what starts processes, which has its own way. */
const onBothEngines = [
  'src/{engine,blocks,queue,access,http}/**/*.test.ts',
  'test/end-to-end/*.test.ts',
  'test/contract.test.ts',
  'test/block-examples.test.ts',
]

export default defineConfig({
  test: {
    // One PostgreSQL for the whole run.
    globalSetup: ['test/postgres/global-postgres.ts'],
    // Threads share one runtime binary; two of them is what a two-core machine can use.
    pool: 'forks',
    testTimeout: 20_000,
    hookTimeout: 30_000,
    projects: [
      {
        extends: true,
        test: {
          name: 'quoin',
          include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
          provide: { engine: 'sqlite' },
        },
      },
      {
        extends: true,
        test: { name: 'postgres', include: onBothEngines, provide: { engine: 'postgres' } },
      },
    ],
  },
})
