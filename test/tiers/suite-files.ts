/**
 * Files of suites by engine. A suite above storage runs on both where an engine can matter to it (`engine-suites.ts`).
 */
import { globSync } from 'node:fs'
import { join, relative } from 'node:path'
import { engineSuites } from '../engine-suites.ts'
import type { Engine } from './suites.ts'

const root = join(import.meta.dirname, '../..')

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
 * On one engine here. In `npm run torture` on both: what asks little of the storage, the access matrix, the fuzzer, and killed
 * migrations of fields (18 s on PostgreSQL, the longest suite there). Nowhere
 * on both: those that start processes choose their engine themselves, 100,000 cities take PostgreSQL minutes to import, and
 * uploads to a disk there are none in a cluster: those to a bucket are in `assets-in-s3` and `endpoint-uploads`.
 */
const onOneEngine = [
  'test/end-to-end/{bad-input,killed-migrations,refused-blueprints,run-limits,scopes,slow-searches}.test.ts',
  'test/end-to-end/tracing{,-branches,-breakpoints,-same}.test.ts',
  'test/end-to-end/{access-matrix,crash,fuzz,tasks-walk,cities,uploads,watchdog}.test.ts',
  'test/end-to-end/waiting-processes.test.ts',
]

/** About two nodes, which the embedded engine does not have. */
const onlyOnPostgres = [
  'test/end-to-end/{block-times,kept-replies,tracing}-nodes.test.ts',
  'src/http/live/live-nodes.test.ts',
  'src/http/pages/page-events-nodes.test.ts',
  'src/http/routes/data/ruled-documents-nodes.test.ts',
]

/** Slow by nature: `npm run torture` runs them. */
const slowByNature = '**/*.torture.test.ts'

/** Paths below the root. */
export function suiteFiles(): Readonly<Record<Engine, readonly string[]>> {
  const left = new Set(find([...onOneEngine, slowByNature]))
  return {
    sqlite: find(['{src,test}/**/*.test.ts'], [...onlyOnPostgres, slowByNature]),
    postgres: engineSuites(onBothEngines).filter((file) => !left.has(file)),
  }
}

function find(patterns: readonly string[], exclude: readonly string[] = []): string[] {
  return globSync([...patterns], { cwd: root, exclude: [...exclude, '**/node_modules'] })
    .map((file) => relative(root, join(root, file)).replaceAll('\\', '/'))
    .sort()
}
