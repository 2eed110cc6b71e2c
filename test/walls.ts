import type { ImportRule } from './import-graph.ts'

/**
 * What each folder of `src` may import besides itself: one line a folder, from the bottom of the arrow to its top.
 * A name stands for the files directly in that folder; `name/**` for everything below it too, and a file for itself.
 * Tests are not bound.
 */
const base = [
  'shared/**',
  'storage',
  'storage/search',
  'storage/ranking',
  'storage/unique',
  'storage/aggregate',
  'storage/many',
  'storage/reference',
]
const flows = [...base, 'blocks', 'blocks/pins', 'records/**']
const server = [...flows, 'access', 'access/keys', 'access/links', 'identity', 'identity/scim', 'flows/**']

const walls: Readonly<Record<string, readonly string[]>> = {
  'shared/**': [],
  telemetry: ['shared/**'],
  'pages/**': ['shared/**'],
  'studio/**': ['shared/**', 'expressions/language/**'],

  'expressions/language/**': ['shared/**'],
  'expressions/functions': ['shared/**', 'expressions/language/**'],

  storage: ['shared/**', 'storage/search', 'storage/unique', 'storage/aggregate'],
  'storage/search': ['shared/**', 'storage'],
  'storage/ranking': ['shared/**', 'storage/search'],
  'storage/unique': ['shared/**'],
  'storage/reference': ['shared/**', 'storage'],
  'storage/aggregate': ['shared/**', 'storage', 'storage/search'],
  'storage/many': ['shared/**', 'storage', 'storage/search'],
  'storage/assets': base,
  'storage/sqlite/**': base,
  'storage/postgres/**': base,
  'storage/backup': [],
  'storage/copy': [...base, 'storage/assets', 'storage/sqlite/**', 'storage/postgres/**'],

  // Tables on pages and in mails calculate their cells.
  blocks: [...base, 'blocks/pins', 'expressions/language', 'expressions/functions'],
  'blocks/pins': [...base, 'blocks'],
  'blocks/extensions': [...base, 'blocks', 'blocks/pins', 'blocks/http', 'blocks/logic', 'blocks/storage'],
  'blocks/background': [...base, 'blocks', 'blocks/pins'],
  'blocks/files': [...base, 'blocks', 'blocks/pins', 'blocks/http', 'blocks/rows'],
  'blocks/http': [...base, 'blocks', 'blocks/pins', 'blocks/rows'],
  'blocks/live': [...base, 'blocks', 'blocks/pins'],
  'blocks/logic': [...base, 'blocks', 'blocks/http', 'blocks/pins', 'blocks/rows'],
  'blocks/mail': [...base, 'blocks', 'blocks/pins', 'pages/mail'],
  'blocks/pages': [...base, 'blocks', 'blocks/pins', 'expressions/functions'],
  'blocks/models': [...base, 'blocks', 'blocks/pins', 'blocks/http'],
  'blocks/people': [...base, 'blocks', 'blocks/pins'],
  'blocks/rows': [...base, 'blocks', 'blocks/pins'],
  'blocks/storage': [...base, 'blocks', 'blocks/pins', 'blocks/rows', 'expressions/functions'],

  records: [...base, 'blocks', 'blocks/pins', 'records/documents', 'records/fields', 'records/permissions'],
  'records/documents': [
    ...base,
    'blocks',
    'blocks/pins',
    'blocks/rows',
    'records',
    'records/fields',
    'records/permissions',
  ],
  'records/fields': [...base, 'records', 'records/permissions', 'expressions/**'],
  'records/permissions': [...base, 'records/fields', 'expressions/**'],
  'records/environment': [...base, 'records'],
  'records/extensions': [...base, 'blocks', 'blocks/extensions', 'records'],
  'records/backups': [...base, 'records', 'storage/backup'],
  'records/settings': [...base, 'records'],
  'records/retention': [...base, 'records'],
  'records/secrets': [...base, 'records'],
  'records/connections': [...base, 'records'],
  'records/operations': [...base, 'records'],
  'records/figures': [...base, 'records'],
  'records/audit-stream': [...base, 'records'],
  'records/alerts': [...base, 'records', 'records/figures', 'records/mail'],
  'records/limits': [...base, 'blocks', 'blocks/pins', 'records'],
  'records/mail': [...base, 'records', 'records/assets'],
  'records/assets': [...base, 'blocks', 'blocks/pins', 'records', 'records/secrets', 'storage/assets'],

  access: [
    ...base,
    'blocks',
    'blocks/pins',
    'records',
    'records/secrets',
    'access/keys',
    'access/links',
    'identity',
    'identity/scim',
  ],
  identity: [
    ...base,
    'expressions/**',
    'records',
    'records/secrets',
    'records/mail',
    'access',
    'access/keys',
    'access/links',
  ],
  'identity/scim': [...base, 'access', 'identity'],
  'access/keys': [...base, 'access'],
  'access/links': [...base, 'access', 'access/keys', 'records/mail'],

  'flows/values': [...base, 'blocks', 'blocks/pins'],
  'flows/compile': [
    ...base,
    'blocks',
    'blocks/pins',
    'expressions/language',
    'flows/compile/checks',
    'flows/compile/constants',
    'flows/compile/expressions',
    'flows/compile/notes',
    'flows/compile/waiting',
    'flows/values',
  ],
  'flows/compile/checks': [
    ...base,
    'blocks',
    'blocks/pins',
    'expressions/language',
    'flows/compile',
    'flows/values',
    'flows/compile/constants',
  ],
  'flows/compile/constants': [
    ...base,
    'blocks',
    'blocks/pins',
    'expressions/language',
    'flows/compile',
    'flows/values',
    'flows/compile/expressions',
  ],
  'flows/compile/expressions': [
    ...base,
    'blocks',
    'blocks/pins',
    'expressions/**',
    'flows/compile',
    'flows/compile/notes',
    'flows/compile/constants',
  ],
  'flows/compile/waiting': [
    ...base,
    'blocks',
    'blocks/pins',
    'flows/compile',
    'flows/compile/expressions',
    'flows/compile/constants',
  ],
  'flows/compile/notes': [
    ...base,
    'blocks',
    'blocks/pins',
    'expressions/language',
    'flows/compile',
    'flows/compile/expressions',
    'flows/compile/waiting',
    'flows/compile/constants',
  ],
  'flows/watchdog': [...flows, 'flows/compile', 'flows/live', 'flows/run'],
  'flows/run': [...flows, 'flows/compile', 'flows/compile/waiting', 'flows/values'],
  'flows/live': [...flows, 'flows/compile', 'flows/compile/notes', 'flows/values'],
  flows: [
    ...flows,
    'blocks/http',
    'flows/compile',
    'flows/live',
    'flows/run',
    'flows/samples',
    'flows/trace',
    'flows/watchdog',
  ],
  'flows/blueprints': [...flows, 'expressions/language', 'flows', 'flows/compile'],
  'flows/background': [...flows, 'flows', 'flows/compile', 'flows/live', 'flows/run'],
  'flows/samples': [...flows, 'flows', 'flows/compile', 'flows/live', 'flows/run', 'flows/trace'],
  // Expressions: whether a block was changed since a run is asked without the names that it has for others.
  // Background: the record of a failed run has the dead letter that its request becomes when it is sent again.
  'flows/trace': [
    ...flows,
    'expressions/language',
    'flows',
    'flows/background',
    'flows/blueprints',
    'flows/compile',
    'flows/live',
    'flows/run',
    'flows/values',
  ],

  applications: [...server, 'expressions/language/**'],

  'http/bodies': server,
  'http/replies': [...server, 'pages/**'],
  'http/server': [...server, 'http/bodies', 'http/docs', 'http/endpoints', 'http/limits', 'http/replies'],
  'http/limits': [...server, 'http/server'],
  'http/metrics': [...server, 'http/server'],
  'http/docs': [...server, 'http/server'],
  'http/endpoints': [
    ...server,
    'http/bodies',
    'http/limits',
    'http/replies',
    'http/server',
    'storage/assets',
  ],
  'http/live': [...server, 'http/endpoints', 'http/limits', 'http/replies', 'http/server'],
  'http/pages': [
    ...server,
    'http/endpoints',
    'http/live',
    'http/replies',
    'http/routes/people',
    'http/server',
    'pages/**',
    'storage/assets',
  ],
  'http/approvals': [...server, 'http/pages', 'http/server', 'pages/**'],
  'http/oauth': [...server, 'http/pages', 'http/server', 'pages/**'],
  'http/scim': [...server, 'http/server'],
  'http/routes': [...server, 'http/server'],
  'http/routes/blueprints': [
    ...server,
    'applications',
    'http/docs',
    'http/endpoints',
    'http/pages',
    'http/routes',
    'http/routes/data',
    'http/server',
    'pages/**',
  ],
  'http/routes/data': [
    ...server,
    'http/endpoints',
    'http/limits',
    'http/pages',
    'http/replies',
    'http/routes',
    'http/server',
    'storage/assets',
  ],
  'http/routes/operate': [
    ...server,
    'http/bodies',
    'http/limits',
    'http/metrics',
    'http/routes',
    'http/server',
  ],
  'http/routes/people': [...server, 'http/routes', 'http/server'],
  'http/routes/site': [...server, 'http/docs', 'http/replies', 'http/routes', 'http/server', 'pages/**'],

  http: [...server, 'applications', 'http/**'],
  agents: [...server, 'blocks/models', 'http/server', 'applications'],

  options: [...base, 'blocks/http', 'records/mail', 'records/secrets', 'storage/assets'],
  queue: [...server],
  quoin: ['**'],
  'cli/**': ['**'],
}

/**
 * Folders that are used by a few files only: what else they hold may change without a look at the rest of `src`. A name with a slash
 * at its end stands for all below it.
 */
const entries: Readonly<Record<string, readonly string[]>> = {
  agents: ['agents.ts'],
  applications: [
    ...['applications.ts', 'apply-release.ts', 'broken-contract.ts', 'check-application.ts', 'drafts.ts'],
    ...['file-schemas.ts', 'install-example.ts', 'parts-problems.ts', 'pending-pushes.ts'],
    'parts-problems.ts',
    'present-application.ts',
    'read-folder.ts',
    'known-application.ts',
    'stored-pushes.ts',
  ],
  cli: ['command.ts', 'run-command.ts'],
  'expressions/functions': [
    'callable-functions.ts',
    'cell-expression.ts',
    'function-bodies.ts',
    'numbers.ts',
  ],
  identity: [
    'scim/provisioning.ts',
    ...[
      'agent-client.ts',
      'agent-grants.ts',
      'challenge.ts',
      'factors.ts',
      'handovers.ts',
      'provider-account.ts',
      'provider-accounts.ts',
    ],
    ...['passkey-record.ts', 'passkey-challenge.ts', 'passkeys.ts', 'provider-client.ts', 'second-factor.ts'],
    'sign-in-providers.ts',
  ],
  options: ['changeable-options.ts', 'limit-options.ts', 'option-kinds.ts', 'options.ts'],
  pages: [...['compressible.ts', 'format.ts', 'mail/', 'messages.ts', 'render-page.ts'], 'read-template.ts'],
  queue: ['planned-times.ts', 'queue-worker.ts', 'scheduler.ts'],
  quoin: ['open-database.ts', 'quoin.ts', 'releasers.ts', 'secret-key-file.ts', 'start.ts', 'watchdog.ts'],
  'storage/copy': ['copy-rows.ts', 'copy-source.ts', 'copy-to-postgres.ts'],
  'storage/sqlite': ['core/'],
  // `storage/copy` writes the tables of PostgreSQL itself.
  'storage/postgres': ['core/', 'nodes/node-rows.ts', 'unique/make-unique.ts'],
  studio: [],
}

/** Each refuses imports of a folder's inner files from outside of it. */
export function entryRules(): readonly ImportRule[] {
  return Object.entries(entries).map(([folder, files]) => ({
    name: `entry of ${folder}`,
    from: { path: '^src/', pathNot: `^src/${folder}/|${NOT_BOUND}` },
    to: { path: `^src/${folder}/`, pathNot: files.map((file) => `^src/${folder}/${file}`).join('|') || '^$' },
  }))
}

const NOT_BOUND = '\\.test\\.tsx?$'

export function wallRules(): readonly ImportRule[] {
  return Object.entries(walls).map(([folder, allowed]) => ({
    name: `wall of ${folder}`,
    from: { path: below(folder), pathNot: NOT_BOUND },
    to: { path: '^src/', pathNot: [folder, ...allowed].map(below).join('|') },
  }))
}

/** Each is broken by an import that its wall allows: where none is, the wall sees no import at all. */
export function controlRules(): readonly ImportRule[] {
  return Object.entries(walls)
    .filter(([, allowed]) => allowed.length > 0)
    .map(([folder]) => ({
      name: `control of ${folder}`,
      from: { path: below(folder), pathNot: NOT_BOUND },
      to: { path: '^src/', pathNot: below(folder) },
    }))
}

/** Lines that stand for a folder of `src`: every folder has one. */
export function wallsOf(folder: string): readonly string[] {
  return Object.keys(walls).filter((name) => new RegExp(below(name)).test(`src/${folder}/file.ts`))
}

function below(folder: string): string {
  if (folder === '**') return '^src/'
  if (folder.endsWith('.ts')) return `^src/${folder}$`
  return folder.endsWith('/**') ? `^src/${folder.slice(0, -2)}` : `^src/${folder}/[^/]+$`
}
