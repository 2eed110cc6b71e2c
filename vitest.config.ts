import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { engineSuites } from './test/engine-suites.ts'

/**
 * What runs once more on PostgreSQL: what is above storage and asks of it more than to keep and find records. The rest does
 * so in `npm run torture`, and what it asks is in the suites of storage and of the contract.
 */
const onBothEngines = [
  'src/{records,flows,blocks,queue}/**/*.test.ts',
  'src/http/routes/{data,operate}/{documents,documents-transfer,ruled-documents,ruled-documents-nodes,preparations,queues,storage-advice,storages}.test.ts',
  'src/http/pages/{data-table,page-events,permitted-page,page-events-nodes,page-forms,table-references}.test.ts',
  'src/http/live/*.test.ts',
  'src/http/approvals/*.test.ts',
  'test/end-to-end/*.test.ts',
  'test/contract.test.ts',
  'test/contract/*.test.ts',
]

/**
 * On one engine here. In `npm run torture` on both: what asks little of the storage, the access matrix and the fuzzer. Nowhere
 * on both: those that start processes choose their engine themselves, 100,000 cities take PostgreSQL minutes to import, and
 * uploads to a disk there are none in a cluster: those to a bucket are in `assets-in-s3` and `endpoint-uploads`.
 */
const onOneEngine = [
  'test/end-to-end/{bad-input,refused-blueprints,run-limits,scopes,slow-searches}.test.ts',
  'test/end-to-end/tracing{,-branches,-breakpoints,-same}.test.ts',
  'test/end-to-end/{access-matrix,crash,fuzz,tasks-walk,cities,uploads,live-workers,workers,worker-blocks,worker-crash,worker-damage,watchdog}.test.ts',
  'test/end-to-end/waiting-processes.test.ts',
]

/** About two nodes, which the embedded engine does not have. */
const onlyOnPostgres = [
  'test/end-to-end/kept-replies-nodes.test.ts',
  'src/http/live/live-nodes.test.ts',
  'src/http/pages/page-events-nodes.test.ts',
  'src/http/routes/data/ruled-documents-nodes.test.ts',
]

/** What `npm run torture` runs instead. */
const slowByNature = ['**/*.torture.test.ts']

/**
 * Takes half a minute or more each, the longest first. Whoever starts one of them last waits for it with one core idle; a
 * fresh clone knows of no times, and would go by the size of the files.
 */
const longest = [
  'test/recipes',
  'test/browser/studio-dialogs',
  'test/cluster/cluster',
  'test/browser/crm',
  'test/end-to-end/worker-crash',
  'test/browser/studio-screens',
  'test/browser/looks',
  'test/browser/studio-runs',
  'test/browser/live',
  'test/browser/studio-keyboard',
  'test/browser/studio-mouse',
  'test/end-to-end/workers',
  'test/end-to-end/cities',
  'src/storage/copy/copy-to-postgres',
]

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId, project }: TestSpecification) => {
      const at = longest.findIndex((name) => moduleId.endsWith(`/${name}.test.ts`))
      // One project after the other: a process that has loaded the program for one is of no use to the other.
      return project.name === 'postgres' ? longest.length + 1 : at < 0 ? longest.length : at
    }
    return (await super.sort(files)).toSorted((a, b) => place(a) - place(b))
  }
}

export default defineConfig({
  test: {
    sequence: { sequencer: LongestFirst },
    reporters: ['default', './test/named-skips.ts', './test/second-tries.ts'],
    // One race in 15,000 tests, on a machine that stalls, is named at the end of the run and does not lose an hour's work.
    retry: process.env.CI ? 1 : 0,
    // One PostgreSQL for the whole run.
    globalSetup: ['test/postgres/global-postgres.ts'],
    pool: 'forks',
    // A process runs many files, one after the other, and loads the program once: a second of processor time for each of
    // 500 files. What a test changes of its process (clock, environment) it puts back.
    isolate: false,
    // More than there are cores: browsers, leases and started processes are waited for a third of the time.
    maxWorkers: Math.ceil(availableParallelism() * 1.5),
    // A machine that does other things meanwhile is slow, not wrong.
    testTimeout: 180_000,
    hookTimeout: 300_000,
    projects: [
      {
        extends: true,
        test: {
          name: 'quoin',
          include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
          exclude: [...onlyOnPostgres, ...slowByNature],
          provide: { engine: 'sqlite', thorough: false },
        },
      },
      {
        extends: true,
        test: {
          name: 'postgres',
          include: engineSuites(onBothEngines),
          exclude: [...onOneEngine, ...slowByNature],
          provide: { engine: 'postgres', thorough: false },
        },
      },
    ],
  },
})
