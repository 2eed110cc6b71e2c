import { defineConfig } from 'vitest/config'

/** What runs once more on PostgreSQL: everything above storage. */
const onBothEngines = [
  'src/{engine,blocks,queue,access,http}/**/*.test.ts',
  'test/end-to-end/*.test.ts',
  'test/contract.test.ts',
  'test/contract/*.test.ts',
  'test/block-examples.test.ts',
]

/** Those that start processes choose their engine themselves; 100,000 cities take PostgreSQL minutes to import. */
const onOneEngine = ['test/end-to-end/{crash,tasks-walk,cities,migrate,workers,worker-crash}.test.ts']

export default defineConfig({
  test: {
    // One PostgreSQL for the whole run.
    globalSetup: ['test/postgres/global-postgres.ts'],
    pool: 'forks',
    // A process runs many files, one after the other, and loads the program once: a second of processor time for each of
    // 500 files. What a test changes of its process (clock, environment) it puts back.
    isolate: false,
    // All cores: without it one is left idle, and two are all that there may be.
    maxWorkers: '100%',
    // A machine that does other things meanwhile is slow, not wrong.
    testTimeout: 60_000,
    hookTimeout: 120_000,
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
        test: {
          name: 'postgres',
          include: onBothEngines,
          exclude: onOneEngine,
          provide: { engine: 'postgres' },
        },
      },
    ],
  },
})
