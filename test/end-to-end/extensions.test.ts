/**
 * Extensions, from `quoin extension new` to their removal. On PostgreSQL a second node has no folder of its own, and serves what the
 * first one has switched on.
 */
import { execFile } from 'node:child_process'
import {
  appendFile,
  copyFile,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, inject, onTestFinished, test } from 'vitest'
import type { JsonObject, JsonValue } from '../../src/shared/json.ts'
import { textsIn } from '../../src/storage/document-fields.ts'
import { jsonAt, textAt } from '../json-at.ts'
import { type LocalServer, startLocalServer } from '../local-server.ts'
import { quoinTemplate } from '../quoin-template.ts'
import { quoinCommand } from '../recording-terminal.ts'
import { openTemporaryDatabase, type TemporaryDatabase } from '../temporary-database.ts'
import { greeting, ledger, look } from './extension-sources.ts'
import { guidOf, objectOf, objectsOf, openTestQuoin, type TestQuoin } from './harness.ts'
import { soon } from './tracing-fixture.ts'

const root = join(import.meta.dirname, '../..')
const path = '/_system/extensions'
let folder: string
let server: LocalServer
let temporary: TemporaryDatabase | undefined
let one: TestQuoin
/** The other node, where there is one. */
let other: TestQuoin
let greetings: string
/** Requests to the server. */
let rateCalls = 0

async function writeExtension(
  name: string,
  permissions: JsonObject,
  files: Readonly<Record<string, string>>,
) {
  for (const [file, text] of Object.entries(files)) {
    await mkdir(join(folder, name, file, '..'), { recursive: true })
    await writeFile(join(folder, name, file), text)
  }
  const manifest = { name, version: '2.0.0', quoin: { extension: name, permissions } }
  await writeFile(join(folder, name, 'package.json'), JSON.stringify(manifest))
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'quoin-blocks-'))
  server = await startLocalServer((request, response) => {
    rateCalls += 1
    if (request.url === '/v1/away') return response.writeHead(302, { location: 'http://127.0.0.2:9/' }).end()
    response.writeHead(200, { 'content-type': 'application/json' })
    return response.end(
      JSON.stringify({ url: request.url, rate: 4, secret: request.headers.authorization ?? null }),
    )
  })
  temporary = inject('engine') === 'postgres' ? await openTemporaryDatabase(quoinTemplate) : undefined
  const settings = { QUOIN_ALLOWED_HOSTS: '127.0.0.1', ...(temporary && { DATABASE_URL: temporary.url }) }
  one = await openTestQuoin({ ...settings, QUOIN_BLOCKS: folder, QUOIN_NODE: 'one' })
  other = temporary ? await openTestQuoin({ ...settings, QUOIN_NODE: 'two' }) : one
})
afterAll(async () => {
  if (other !== one) await other?.close()
  await one?.close()
  await temporary?.drop()
  await server?.close()
  await rm(folder, { recursive: true, force: true })
})

const extensions = async () => objectsOf(await one.manage('GET', path))
const extension = async (name: string) => objectOf((await extensions()).find((each) => each.name === name))
const problemsOf = async (name: string) => jsonAt(await extension(name), 'found', 'problems')
const switchOn = async (name: string) =>
  one.manage('PUT', `${path}/${name}`, { on: true, hash: textAt(await extension(name), 'found', 'hash') })
const greet = async () => (await other.send('GET', '/greetings?name=Ada')).body
const command = (...words: string[]) => quoinCommand(words, {})

test('quoin extension new makes what passes its own tests, and nothing over what is there', async () => {
  const made = join(folder, 'acme')
  expect((await command('extension', 'new', 'Acme Corp')).code).toBe(2)
  expect(await command('extension', 'new', 'acme', '--folder', made)).toMatchObject({ code: 0 })
  expect(await command('extension', 'new', 'acme', '--folder', made)).toMatchObject({ code: 2 })
  expect(await command('extension', 'test', made)).toMatchObject({ code: 0, printed: '3 passed, 0 failed' })
  const rows = join(made, 'blocks/acme_greet.test.json')
  const text = await readFile(rows, 'utf8')
  await writeFile(rows, text.replace('Hello, Ada!', 'Goodbye'))
  const failed = await command('extension', 'test', made)
  expect(failed).toMatchObject({ code: 1 })
  expect(failed.complained).toContain('a name: it gives {"greeting":"Hello, Ada!"}')
  await writeFile(rows, text)
})

// The same on each engine: neither the compiler nor `quoin extension test` opens a database.
if (inject('engine') === 'sqlite')
  test('the types of the package and the example of the docs fit', async () => {
    const docs = await readFile(join(root, 'docs/extensions.md'), 'utf8')
    const example = join(folder, '../', `${folder.split('/').at(-1)}-example`)
    onTestFinished(() => rm(example, { recursive: true }))
    await mkdir(join(example, 'blocks'), { recursive: true })
    for (const [, file = '', text = ''] of docs.matchAll(/^```\w+ (blocks\/\S+)\n(.*?)^```$/gms))
      await writeFile(join(example, file), text)
    const [, manifest = ''] = /^```json\n(\{\n {2}"name": "quoin-acme".*?)^```$/ms.exec(docs) ?? []
    await writeFile(join(example, 'package.json'), manifest)
    const tested = await command('extension', 'test', example)
    expect(tested).toMatchObject({ code: 0, printed: '2 passed, 0 failed' })
    const greeting = join(example, 'blocks/acme_greet.js')
    await copyFile(join(folder, 'acme/blocks/acme_greet.js'), greeting)
    await mkdir(join(example, 'node_modules'))
    await symlink(root, join(example, 'node_modules/quoin'))
    expect(await typeProblems(example)).toBe('')
    await writeFile(greeting, (await readFile(greeting, 'utf8')).replace("next: 'empty'", "next: 'emtpy'"))
    expect(await typeProblems(example)).toContain('Did you mean \'"empty"\'')
  })

/** What the compiler of TypeScript prints of the blocks. */
async function typeProblems(extension: string): Promise<string> {
  const compiler = join(root, 'node_modules/@typescript/native/bin/tsc')
  const flags = ['--noEmit', '--allowJs', '--checkJs', '--strict', '--ignoreConfig']
  const kinds = ['--module', 'nodenext', '--target', 'es2023']
  const blocks = (await readdir(join(extension, 'blocks'))).filter((file) => file.endsWith('.js'))
  const files = blocks.map((file) => join(extension, 'blocks', file))
  const words = [compiler, ...flags, ...kinds, ...files]
  return new Promise((resolve) => execFile(process.execPath, words, (_, printed) => resolve(printed)))
}

test('what cannot be switched on says why, and does nothing', async () => {
  const block = (identifier: string, more = '') =>
    `export default { identifier: '${identifier}', title: 'T', summary: 'S.', in: {}, out: {}, run() {}, ${more} }`
  await writeExtension('state', {}, { 'blocks/state_x.js': block('state_x') })
  await writeExtension(
    'odd',
    {},
    {
      'blocks/odd_foreign.js': block('function_search'),
      'blocks/odd_throws.js': 'throw new Error("at once")',
      'blocks/odd_loops.js': 'for (;;) {}',
      'blocks/odd_reads.js': block('odd_reads', 'effects: { reads: true }'),
      'blocks/odd_secret.js': block('odd_secret', 'in: { secret: { type: "secret", help: "S." } }'),
      'blocks/odd_pins.js': block('odd_pins', 'in: { __proto__: null, constructor: 5 }'),
      'blocks/odd_files.js': `import fs from 'node:fs'\n${block('odd_files')}`,
      'blocks/odd_up.js': `import '../../acme/blocks/acme_greet.js'\n${block('odd_up')}`,
    },
  )
  await writeExtension('large', {}, { 'blocks/large_x.js': block('large_x') })
  await appendFile(join(folder, 'large/blocks/large_x.js'), ' '.repeat(10 * 1024 * 1024))
  expect(await problemsOf('state')).toEqual(['Blocks of Quoin begin with state_. Choose another name.'])
  expect(await problemsOf('large')).toEqual(['Its modules have more than 256 KiB together.'])
  expect(await problemsOf('odd')).toEqual([
    expect.stringContaining(
      'odd_files.js: The block cannot be loaded: it was ended: there is no module node:fs',
    ),
    expect.stringContaining('calls itself function_search: blocks of this extension begin with odd_'),
    expect.stringContaining('odd_loops.js: The block cannot be loaded: it'),
    expect.stringContaining('odd_pins.js: The block has a definition that is none: in.constructor'),
    expect.stringContaining('odd_reads.js: The block reads documents, and the extension names no storages'),
    expect.stringContaining('odd_secret.js: The block has a definition that is none: in.secret.type'),
    expect.stringContaining('odd_throws.js: The block cannot be loaded: it'),
    expect.stringContaining('odd_up.js: The block cannot be loaded: it was ended: there is no module'),
  ])
  await expect(switchOn('odd')).rejects.toThrow('409')
  expect(jsonAt(await extension('odd'), 'stored')).toEqual([])
  for (const name of ['state', 'odd', 'large']) await rm(join(folder, name), { recursive: true })
})

test('only who holds the scopes sees, switches and removes; other code than was seen is refused', async () => {
  await one.addUser('viewer', ['extensions_view'])
  await one.addUser('builder', ['blueprints_update', 'blueprintactions_view', 'connections_update'])
  const hash = textAt(await extension('acme'), 'found', 'hash')
  const body = { on: true, hash }
  expect((await one.send('GET', path)).status).toBe(401)
  expect((await one.send('GET', path, { as: 'builder' })).status).toBe(403)
  expect((await one.send('PUT', `${path}/acme`, { as: 'viewer', body })).status).toBe(403)
  expect((await one.send('DELETE', `${path}/acme`, { as: 'viewer' })).status).toBe(403)
  const wrong = { on: true, hash: hash.replace(/./g, '0') }
  expect((await one.send('PUT', `${path}/acme`, { as: 'admin', body: wrong })).status).toBe(409)
  expect((await one.send('PUT', `${path}/other`, { as: 'admin', body: wrong })).status).toBe(404)
  expect((await one.send('PUT', `${path}/acme`, { as: 'admin', body: { on: false } })).status).toBe(404)
  const seen = await one.send('GET', path, { as: 'viewer' })
  expect(seen.body).toMatchObject([
    {
      name: 'acme',
      found: {
        version: '0.1.0',
        permissions: { hosts: [], read: [], write: [] },
        blocks: [{ identifier: 'acme_greet', effects: [] }],
      },
      stored: [],
    },
  ])
})

test('off: its blocks are unknown; on: an endpoint, a page and a job use them, on each node', async () => {
  await expect(one.install('Too early', greeting('acme_greet'))).rejects.toThrow(
    'no block of the type "acme_greet"',
  )
  expect(await greet()).toEqual({ error: expect.any(String) })
  await switchOn('acme')
  greetings = await one.install('Greetings', greeting('acme_greet'))
  expect(await greet()).toBe('Hello, Ada!')
  expect((await other.send('GET', '/greetings?name=%20')).status).toBe(400)
  const texts = await soon(async () => {
    const found = (await one.documents('notes')).map(({ text }) => text)
    return found.length > 0 ? found : undefined
  })
  expect(texts).toEqual(['Later, Ada!'])
  const page = await other.quoin.server.app.inject('/greeted')
  expect(page.body).toContain('Hello, Page!')
  const palette = objectsOf(await other.manage('GET', '/blocks'))
  expect(palette.find(({ identifier }) => identifier === 'acme_greet')).toMatchObject({
    group: 'acme',
    title: 'Greet',
  })
  const audit = objectsOf(
    await one.manage('POST', '/_system/auditlogs', { filters: { category: 'extensions' } }),
  )
  expect(audit).toMatchObject([{ action: 'created', user: { username: 'admin' } }])
  expect(JSON.stringify(audit)).not.toContain('settings.word')
})

test('a new version serves from the next deploy on, and the version before comes back', async () => {
  const file = join(folder, 'acme/blocks/acme_greet.js')
  const before = await readFile(file, 'utf8')
  await writeFile(file, before.replace('}!`', '}, again!`'))
  const manifest = join(folder, 'acme/package.json')
  await writeFile(manifest, (await readFile(manifest, 'utf8')).replace('0.1.0', '0.2.0'))
  await switchOn('acme')
  expect(await greet()).toBe('Hello, Ada!')
  expect(jsonAt(await extension('acme'), 'stored')).toMatchObject([
    { version: '0.1.0', on: false, used_by: ['Greetings'] },
    { version: '0.2.0', on: true, used_by: [] },
  ])
  await one.manage('POST', `/blueprints/deploy/${greetings}`)
  expect(await greet()).toBe('Hello, Ada, again!')
  await one.manage('POST', `/blueprints/${greetings}/versions/1/rollback`)
  expect(await greet()).toBe('Hello, Ada!')
  await one.manage('POST', `/blueprints/deploy/${greetings}`)
  expect(await greet()).toBe('Hello, Ada, again!')
})

test('calls and documents: what was named, and nothing else', async () => {
  await writeExtension(
    'ledger',
    { hosts: ['127.0.0.1'], read: ['customers'], write: ['bookings'] },
    {
      'blocks/ledger_book.js': ledger,
      'blocks/ledger_look.js': look,
      'lib/words.js': 'export const dear = (name) => "Dear " + name',
    },
  )
  await switchOn('ledger')
  await one.manage('POST', '/_system/connections', { name: 'RATES', base_url: `${server.url}/v1` })
  await one.manage('POST', '/_system/connections', { name: 'ELSEWHERE', base_url: 'http://localhost:9' })
  await one.install('Booking', {
    customers: { type: 'storage', fields: { storage: 'customers' } },
    bookings: { type: 'storage', fields: { storage: 'bookings' } },
    seen: { type: 'on_startup_register_uri_get', in: { uri: 'seen' }, scopes: ['*public'] },
    all: { type: 'function_search', in: { flow: '@seen.flow', storage: '@customers.storage' } },
    other: { type: 'function_search', in: { flow: '@all.flow', storage: '@bookings.storage' } },
    ask: { type: 'on_startup_register_uri_post', in: { uri: 'book' }, scopes: ['*public'] },
    book: { type: 'ledger_book', in: { flow: '@ask.flow', api: 'RATES', what: '=body' } },
    reply: { type: 'httpconnection_set_json', in: { flow: '@book.flow', value: '@book.result' } },
    ask_elsewhere: {
      type: 'on_startup_register_uri_post',
      in: { uri: 'book-elsewhere' },
      scopes: ['*public'],
    },
    book_elsewhere: {
      type: 'ledger_book',
      in: { flow: '@ask_elsewhere.flow', api: 'ELSEWHERE', what: '=body' },
    },
    replied: {
      type: 'httpconnection_set_json',
      in: { flow: '@book_elsewhere.flow', value: '@book_elsewhere.result' },
    },
  })
  const [storage] = objectsOf(
    await one.manage('POST', '/_system/storages/search', { filters: { name: 'customers' } }),
  )
  await one.manage('POST', `/_system/storages/${guidOf(storage)}/documents`, { name: 'Ada' })
  const book = async (step: string, words: readonly JsonValue[] = [], uri = '/book') => {
    const { status, body, text } = await other.send('POST', uri, { body: { step, words } })
    return status === 200 ? body : text
  }
  const refused = 'the extension may not'
  expect(await book('get', ['bookings', '1'])).toBe(`${refused} read documents of bookings`)
  expect(await book('search', ['notes'])).toBe(`${refused} read documents of notes`)
  expect(await book('search', ['_users'])).toContain('starts with _')
  expect(await book('create', ['customers', { name: 'Eve' }])).toBe(
    `${refused} change documents of customers`,
  )
  expect(await book('create', ['bookings', { '_meta.guid': 'x' }])).not.toContain('"x"')
  expect(await book('search', ['customers', { limit: 1000 }])).toContain('limit must be')
  expect(await book('search', ['customers', { where: { name: { $ne: 1 } } }])).toContain('where.name must be')
  expect(await book('call', [{ path: 'x' }], '/book-elsewhere')).toBe(`${refused} call the host localhost`)
  expect(await book('call', [{ path: 'http://127.0.0.2:9/' }])).not.toMatchObject({ status: 200 })
  expect(await book('call', [{ path: 'away' }])).toMatchObject({ status: 302 })
  expect(await book('call', [{ path: '../../secret', method: 'GET' }])).not.toMatchObject({
    body: { url: '/secret' },
  })
  const long = { name: 'Long', text: 'x'.repeat(300_000) }
  const documents = `/_system/storages/${guidOf(storage)}/documents`
  const two = [await one.manage('POST', documents, long), await one.manage('POST', documents, long)]
  expect(await book('search', ['customers', { where: { name: 'Long' } }])).toContain(
    'ask for fewer documents',
  )
  expect(await book('search', ['customers', { where: { name: 'Long' }, limit: 1 }])).toHaveLength(1)
  for (const document of two) await one.manage('DELETE', `${documents}/${guidOf(document)}`)
  expect(await book('forgotten', ['bookings', { who: 'Eve' }])).toContain('internal error')
  expect((await one.documents('bookings')).filter(({ who }) => who === 'Eve')).toEqual([])
  expect(await book('all')).toEqual({ who: 'Dear Ada', rate: 5, removed: true })
  expect((await one.documents('bookings')).filter(({ who }) => who === 'Dear Ada')).toEqual([])
})

test('a replay calls no server: a block that calls gives what it gave, and one that reads looks again', async () => {
  const blueprint = await one.install('Replayed', {
    ask: { type: 'on_startup_register_uri_post', in: { uri: 'replayed' }, scopes: ['*public'] },
    look: { type: 'ledger_look', in: { flow: '@ask.flow' } },
    book: { type: 'ledger_book', in: { flow: '@look.flow', api: 'RATES', what: '=body' } },
    reply: {
      type: 'httpconnection_set_json',
      in: { flow: '@book.flow', value: '={ count: look.count, booked: book.result }' },
    },
  })
  await one.manage('PUT', `/blueprints/${blueprint}/tracing`, { on: true })
  const calls = { step: 'call', words: [{ path: 'rates/Ada' }] }
  const creates = { step: 'create', words: ['bookings', { who: 'Replay' }] }
  const replies = []
  for (const body of [calls, creates]) replies.push((await one.send('POST', '/replayed', { body })).body)
  const [storage] = objectsOf(
    await one.manage('POST', '/_system/storages/search', { filters: { name: 'customers' } }),
  )
  await one.manage('POST', `/_system/storages/${guidOf(storage)}/documents`, { name: 'Bob' })
  const asked = rateCalls
  const runs = await soon(async () => {
    const found = objectsOf(await one.manage('GET', `/runs?blueprint=${blueprint}`))
    return found.length === 2 ? found.reverse() : undefined
  })
  for (const [at, run] of runs.entries()) {
    const replay = await one.manage('POST', `/runs/${textAt(run, 'guid')}/replay`)
    const before = objectOf(replies[at])
    expect(before).toMatchObject({ count: 1 })
    expect(jsonAt(replay, 'compared')).toMatchObject({ same: false, before, after: { ...before, count: 2 } })
  }
  expect(rateCalls).toBe(asked)
  expect((await one.documents('bookings')).filter(({ who }) => who === 'Replay')).toHaveLength(1)
})

test('an application is planned, pushed, pulled and removed with blocks of an extension', async () => {
  const blueprint: JsonObject = {
    name: 'Pushed',
    blocks: {
      ask: { type: 'on_startup_register_uri_get', in: { uri: 'pushed' }, scopes: ['*public'] },
      greet: { type: 'acme_greet', in: { flow: '@ask.flow', name: 'Push' } },
      reply: { type: 'reply', in: { flow: '@greet.flow', value: '@greet.greeting' } },
    },
  }
  const application = (extensions: JsonObject, blueprints: JsonObject) => ({
    about: { name: 'greetings', needs: { extensions } },
    ...{ blueprints, storages: {}, groups: {}, templates: {}, seed: {}, tests: {} },
  })
  const plan = (extensions: JsonObject) =>
    one.send('POST', '/_system/applications/plan', {
      as: 'admin',
      body: { application: application(extensions, { pushed: blueprint }) },
    })
  const refusals: readonly (readonly [JsonObject, string])[] = [
    [{ absent: '1' }, 'The application needs the extension absent 1, which is not switched on here'],
    [{ acme: '0.3' }, 'The application needs the extension acme 0.3, and there is 0.2.0.'],
    [{ acme: '1' }, 'The application needs the extension acme 1, and there is 0.2.0.'],
  ]
  for (const [needs, why] of refusals) {
    const reply = await plan(needs)
    expect([reply.status, reply.text.includes(why)], reply.text).toEqual([409, true])
  }
  await one.manage('PUT', `${path}/acme`, { on: false })
  const off = await plan({})
  expect([off.status, off.text.includes('of the extension acme, which is switched off')]).toEqual([409, true])
  expect(await other.send('GET', '/pushed')).toMatchObject({ status: 404 })
  const versions = objectsOf(jsonAt(await extension('acme'), 'stored'))
  const hash = textAt(objectOf(versions.find(({ version }) => version === '0.2.0')), 'hash')
  await one.manage('PUT', `${path}/acme`, { on: true, hash })

  const planned = await plan({ acme: '0.1' })
  const pushed = { application: application({ acme: '0.1' }, { pushed: blueprint }) }
  const state = textAt(planned.body, 'state')
  await one.manage('POST', '/_system/applications/push', { ...pushed, state, allow_loss: false })
  expect((await other.send('GET', '/pushed')).body).toBe('Hello, Push, again!')
  const content = objectOf(await one.manage('GET', '/_system/applications/greetings/content'))
  expect(content).toMatchObject({ about: { needs: { extensions: { acme: '0.1' } } } })
  expect(jsonAt(content, 'blueprints', 'pushed', 'blocks', 'greet', 'type')).toBe('acme_greet')
  expect(await plan({ acme: '0.1' })).toMatchObject({ status: 200, body: { steps: [], refused: [] } })
  const removed = await one.manage('GET', '/_system/applications/greetings/removal')
  const back = { state: textAt(removed, 'state'), allow_loss: true }
  await one.manage('POST', '/_system/applications/greetings/remove', back)
  expect((await other.send('GET', '/pushed')).status).toBe(404)
})

/** All versions, with their code. */
const storedOf = async (name: string) => objectsOf(jsonAt(await extension(name), 'stored')).length

/** What uses the extension beside active deployments: a run that waits, a job, and a draft. Gives what ends the first two. */
async function usesOfAcme() {
  const patient = await one.install('Patient', {
    ask: { type: 'on_startup_register_uri_get', in: { uri: 'patient' }, scopes: ['*public'] },
    approval: { type: 'wait_for_approval', in: { flow: '@ask.flow', title: 'patient', scopes: ['a'] } },
    greets: { type: 'acme_greet', in: { flow: '@approval.approved', name: 'Ada' } },
  })
  expect((await one.send('GET', '/patient')).status).toBe(204)
  const blocks = objectsOf(
    await one.manage('POST', '/blueprintactions/search', { filters: { blueprint_guid: patient } }),
  )
  const block = guidOf(blocks.find(({ type }) => type === 'acme_greet'))
  await one.manage('DELETE', `/blueprintactions/${block}`)
  await one.manage('POST', `/blueprintactions/unsaved/${patient}`)
  await one.manage('POST', `/blueprints/deploy/${patient}`)
  const postponed = await one.install('Postponed', {
    ask: { type: 'on_startup_register_uri_get', in: { uri: 'postponed' }, scopes: ['*public'] },
    later: {
      type: 'function_custom_execute_from_queue',
      in: { flow: '@ask.flow', function: 'postponed', delay: '1d' },
    },
    postponed: { type: 'trigger_custom_function', fields: { name: 'postponed' } },
    greets: { type: 'acme_greet', in: { flow: '@postponed.flow', name: 'Ada' } },
  })
  expect((await one.send('GET', '/postponed')).status).toBe(204)
  await one.manage('PUT', `/blueprints/update/set/inactive/${postponed}`)
  const draft = { name: 'Drafted', blocks: { greets: { type: 'acme_greet', in: { name: 'Ada' } } } }
  const changes = [{ path: 'blueprints/drafted.json', text: JSON.stringify(draft) }]
  await one.manage('POST', '/_system/drafts', { application: 'drafted', changes })
  const ended = async (family: string, title: string) => {
    const search = { filters: { title } }
    const [found] = objectsOf(await one.manage('POST', `${family}/search`, search))
    await one.manage('DELETE', `${family}/${guidOf(found)}`)
  }
  return {
    endWait: () => ended('/_system/waits', 'patient'),
    endJob: () => ended('/queue', 'postponed'),
  }
}

test('off and removed: what is deployed goes on, what is not is refused by name', async () => {
  const uses = await usesOfAcme()
  const off = 'The block acme_greet is of the extension acme, which is switched off.'
  expect((await one.send('DELETE', `${path}/acme`, { as: 'admin' })).body).toMatchObject({ code: 409 })
  await one.manage('PUT', `${path}/acme`, { on: false })
  expect(await greet()).toBe('Hello, Ada, again!')
  const checked = await one.manage('POST', `/blueprints/check/${greetings}`)
  expect(objectsOf(jsonAt(checked, 'problems')).map(({ message }) => message)).toEqual([off, off, off])
  for (const attempt of [`/blueprints/deploy/${greetings}`, `/blueprints/${greetings}/versions/1/rollback`]) {
    const reply = await one.send('POST', attempt, { as: 'admin' })
    expect([reply.status, reply.text.includes(off)]).toEqual([422, true])
  }
  // As at a start, where only the deployment is there to go by.
  await one.quoin.flows.deployments.restore()
  expect(await greet()).toBe('Hello, Ada, again!')
  const used = await one.send('DELETE', `${path}/acme`, { as: 'admin' })
  expect([used.status, used.text.includes('acme 0.2.0')]).toEqual([409, true])
  await one.manage('PUT', `/blueprints/update/set/inactive/${greetings}`)
  const steps: readonly (readonly [string, () => Promise<void>])[] = [
    ['Runs that wait go on with the extension acme, of these blueprints: Patient.', uses.endWait],
    ['with blocks of the extension acme: postponed of Postponed.', uses.endJob],
  ]
  const stored = await storedOf('acme')
  for (const [why, end] of steps) {
    const refused = await one.send('DELETE', `${path}/acme`, { as: 'admin' })
    expect([refused.status, refused.text]).toEqual([409, expect.stringContaining(why)])
    expect([await storedOf('acme'), (await one.documents('_extension_code')).length]).toEqual([
      stored,
      stored + 1,
    ])
    await end()
  }
  const removed = objectOf(await one.manage('DELETE', `${path}/acme`))
  expect({ ...removed, warnings: [...textsIn(removed.warnings)].sort() }).toEqual({
    name: 'acme',
    removed: true,
    warnings: [
      'A draft of drafted, by admin has blocks of it.',
      'The blueprint Greetings has blocks of it, and cannot be deployed with them.',
      'The blueprint Postponed has blocks of it, and cannot be deployed with them.',
    ],
  })
  expect(await one.documents('_extension_code')).toHaveLength(1)
  expect(jsonAt(await extension('acme'), 'stored')).toEqual([])
  const again = await one.send('PUT', `/blueprints/update/set/active/${greetings}`, { as: 'admin' })
  expect([again.status, again.text.includes('no block of the type')]).toEqual([422, true])
  const names = objectsOf(await other.manage('GET', '/blocks')).map(({ identifier }) => identifier)
  expect([names.includes('acme_greet'), names.includes('ledger_book')]).toEqual([false, true])
})
