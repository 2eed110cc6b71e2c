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
  'src/storage/{indexed-values,unique/unique-keys}.property.test.ts',
  'src/http/routes/{data,operate}/{documents,documents-transfer,validated-documents,validated-documents-nodes,preparations,queues,storage-advice,storages}.test.ts',
  'src/http/pages/{data-table,page-events,permitted-page,page-events-nodes,page-forms,table-references}.test.ts',
  'src/http/live/*.test.ts',
  'src/http/approvals/*.test.ts',
  'src/identity/{factors,passkeys,passkey-setup}.test.ts',
  'test/end-to-end/*.test.ts',
  'test/contract.test.ts',
  'test/contract/*.test.ts',
]

/**
 * On PostgreSQL in `npm run torture` only, by reason. The rule: what a suite asks of the storage is to keep and find records,
 * which the suites of storage and of the contract prove on both engines. A suite stays on both where transactions meet, values
 * are compared, ordered, numbered or made unique, fields are migrated, jobs are claimed, or another node must hear of a change.
 */
export const onPostgresInTorture: Readonly<Record<string, readonly string[]>> = {
  'Requests, replies and schemas: the engine is behind them': [
    'test/end-to-end/{bad-input,body-limits,example-clients,line-breaks,other-clients,reply-files,reply-kinds}.test.ts',
    'test/end-to-end/{mcp,request-schemas,signed-tries,typed-fields,unset-public-url,wrong-parameters}.test.ts',
    'test/end-to-end/{agent-orders,agents-page,connection-documents,describe,offered-tools}.test.ts',
    'test/end-to-end/{unsent-fields,written-rows-again}.test.ts',
  ],
  'Steps and limits of runs: values in memory, and records that are written once': [
    'test/end-to-end/{daylight-saving,environment,extract-function,frames,hand-runs,in-flight,limits}.test.ts',
    'test/end-to-end/{pinned-replies,run-limits,slow-searches,tracing,tracing-branches}.test.ts',
    'test/end-to-end/{tracing-breakpoints,tracing-expressions,tracing-models,tracing-replay}.test.ts',
    'test/end-to-end/{block-times,compared-runs,control-blocks,failed-runs,last-values,refused-runs,tracing-same}.test.ts',
    'src/flows/run/expanded-documents.test.ts',
    'src/flows/{samples/sampled-runs,trace/traced-flows}.test.ts',
  ],
  'Deploys: what is checked before anything is stored': [
    'src/flows/compile/**/*.test.ts',
    'test/end-to-end/{application-objects,application-texts,applications,applications-page,behind-references,block-names,drafts}.test.ts',
    'test/end-to-end/{hostile-applications,refused-blueprints,release-plans,staging}.test.ts',
    'test/end-to-end/{blueprint-tests,verified-pushes,watched-folder}.test.ts',
    'src/flows/blueprints/block-staging.test.ts',
  ],
  'Sign-in and scopes: users and keys are records': [
    'test/end-to-end/{account-links,agents-of-users,api-keys,common-passwords,configured-providers,explain-user}.test.ts',
    'test/end-to-end/{hostile-providers,lost-everything,passkeys,proof-of-work,provider-sessions}.test.ts',
    'test/end-to-end/{confirmed-sessions,scim,scim-vendors,scopes,second-factor,sessions}.test.ts',
    'test/end-to-end/sign-in-providers.test.ts',
    'src/blocks/people/*.test.ts',
    'src/identity/{passkey-setup,provider-accounts}.test.ts',
  ],
  'Pages: what is drawn of records that were found': [
    'test/end-to-end/{page-language,reference-names,time-zone,usable-pages}.test.ts',
    'src/http/pages/{page-forms,permitted-page}.test.ts',
  ],
  'Mails, models and other servers: their jobs are those of `src/queue` and `ended-jobs`, their counts those of `limit-counts`':
    [
      'src/blocks/{mail,models}/*.test.ts',
      'test/end-to-end/{alerts,audit-stream,connections,failures,mail,mail-sender,paged-lists,secret-hosts}.test.ts',
      'test/end-to-end/{send-again,telemetry,try-connection,webhooks}.test.ts',
    ],
  'Other systems: what is read of them goes in as `import-interrupted` does on both': [
    'test/end-to-end/import-{directus,files,flows,pocketbase,postgres}.test.ts',
  ],
  'Files: on the disk or in a bucket (on both engines: `assets-in-s3`, `endpoint-uploads`, `sweep-assets`)': [
    'src/blocks/files/*.test.ts',
    'test/end-to-end/{downloads,file-links,files,images}.test.ts',
  ],
  'Whole examples: their parts run on both; `tasks-contract` and `board` do as a whole': [
    'test/end-to-end/{booking,crm-people,example-fixture,inventory,mcp-booking}.test.ts',
  ],
  'Each space is a database, which takes a second to make there; `space-guids`, `space-worlds` and `space-nodes` have what spaces ask of PostgreSQL':
    ['test/end-to-end/{previews,spaces}.test.ts'],
  'Killed migrations of fields take 18 s there; `renamed-fields` and `converted-fields` are on both': [
    'test/end-to-end/killed-migrations.test.ts',
  ],
  'Killed approvals and spaces take 20 s there; `killed-releases` and `pending-pushes` are on both': [
    'test/end-to-end/{killed-approvals,killed-spaces}.test.ts',
  ],
}

/** In `npm run torture` only, by reason. */
export const onlyInTorture: Readonly<Record<string, readonly string[]>> = {
  '100,000 cities. The suites of search and import have fewer documents': ['test/end-to-end/cities.test.ts'],
  'The tool behind `npm run mutate`, which no part of Quoin uses': ['test/mutate/mutate.test.ts'],
}

/**
 * On one engine, also in `npm run torture`: those that start processes choose their engine themselves, 100,000 cities take
 * PostgreSQL minutes to import, uploads to a disk there are none in a cluster, turns of large applications are of the embedded
 * engine, and faults of spaces are made in its files.
 */
const onOneEngine = [
  'test/end-to-end/{access-matrix,crash,fuzz,large-applications,tasks-walk,cities,uploads,waiting-processes,watchdog}.test.ts',
  'test/end-to-end/space-faults.test.ts',
]

/** About two nodes, which the embedded engine does not have. */
const onlyOnPostgres = [
  'test/end-to-end/{block-times,cached-replies,sign-in-provider,space,tracing}-nodes.test.ts',
  'src/http/live/live-nodes.test.ts',
  'src/http/pages/page-events-nodes.test.ts',
  'src/http/routes/data/validated-documents-nodes.test.ts',
]

/** Slow by nature: `npm run torture` runs them. */
const slowByNature = ['**/*.torture.test.ts', ...Object.values(onlyInTorture).flat()]

/** Paths below the root. */
export function suiteFiles(): Readonly<Record<Engine, readonly string[]>> {
  const left = new Set(find([...onOneEngine, ...Object.values(onPostgresInTorture).flat(), ...slowByNature]))
  return {
    sqlite: find(['{src,test}/**/*.test.ts'], [...onlyOnPostgres, ...slowByNature]),
    postgres: engineSuites(onBothEngines).filter((file) => !left.has(file)),
  }
}

function find(patterns: readonly string[], exclude: readonly string[] = []): string[] {
  return globSync([...patterns], { cwd: root, exclude: [...exclude, '**/node_modules'] })
    .map((file) => relative(root, join(root, file)).replaceAll('\\', '/'))
    .sort()
}
