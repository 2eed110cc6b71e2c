import { defineConfig } from 'vitest/config'
import { engineSuites } from './test/engine-suites.ts'
import { onlyInTorture, onPostgresInTorture } from './test/tiers/suite-files.ts'

/** Suites of `npm test` that look at more here. */
const moreThorough = [
  'test/browser/{crm,looks,list-page,studio-*}.test.ts',
  'test/recipes.test.ts',
  'test/end-to-end/killed-releases.test.ts',
  'test/cluster/promoted-application.test.ts',
  'src/cli/management-commands.test.ts',
  'src/storage/{sqlite,postgres}/sql/*-query.property.test.ts',
]

/** Suites that `npm run test:all` runs on the embedded engine only, or with less on PostgreSQL. */
const onPostgres = [
  'src/{access,http}/**/*.test.ts',
  'test/block-examples.test.ts',
  'test/end-to-end/{fuzz,killed-releases}.test.ts',
  ...Object.values(onPostgresInTorture).flat(),
]

/** Suites that are slow by nature: files `*.torture.test.ts`, run by `npm run torture` and never by `npm test`. */
export default defineConfig({
  test: {
    globalSetup: ['test/postgres/global-postgres.ts'],
    pool: 'forks',
    // One after the other: what they measure or install should have the machine to itself.
    maxWorkers: 1,
    testTimeout: 1_200_000,
    hookTimeout: 600_000,
    provide: { engine: 'sqlite', thorough: true },
    projects: [
      {
        extends: true,
        test: {
          name: 'slow',
          include: [
            '{src,test}/**/*.torture.test.ts',
            ...moreThorough,
            ...Object.values(onlyInTorture).flat(),
          ],
        },
      },
      {
        extends: true,
        test: {
          name: 'slow-postgres',
          include: engineSuites(onPostgres),
          provide: { engine: 'postgres', thorough: true },
        },
      },
      // Holds tests that must fail, so that a runner that sees no failures is found out.
      { extends: true, test: { name: 'control', include: ['test/torture/failing-on-purpose.ts'] } },
    ],
  },
})
