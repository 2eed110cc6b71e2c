/** `quoin test` in the folder of an application: its files are pushed to the cluster of each test, without its first documents. */
import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { quoinCommand } from '../../../test/recording-terminal.ts'
import type { JsonObject } from '../../shared/json.ts'

const files: Readonly<Record<string, JsonObject>> = {
  'quoin.json': { name: 'desk' },
  'groups.json': { groups: { desk: { scopes: ['desk'] } } },
  'storages/notes.json': { fields: { title: { type: 'string', required: true } } },
  'seed/notes.ndjson': { title: 'first' },
  'blueprints/desk.json': {
    name: 'Desk',
    blocks: {
      add: { type: 'on_startup_register_uri_post', in: { uri: 'notes' }, scopes: ['desk'] },
      create: {
        type: 'function_create_document_from_mutations',
        in: { flow: '@add.flow', storage: 'notes', set: '=body' },
      },
      done: { type: 'reply', in: { flow: '@create.flow', code: 201, value: '@create.document' } },
    },
  },
  'tests/add.test.json': {
    name: 'The desk adds a note',
    given: { users: [{ username: 'ann', groups: ['desk'] }] },
    steps: [
      {
        request: 'POST /notes',
        as: 'ann',
        body: { title: 'x' },
        expect: { status: 201, documents: { notes: [{ title: 'x' }] } },
      },
      { request: 'POST /notes', as: 'ann', body: {}, expect: { status: 400, documents: { notes: 1 } } },
    ],
  },
}

let folder: string
beforeEach(async () => {
  folder = join(await mkdtemp(join(tmpdir(), 'quoin-test-')), 'desk')
  for (const [path, content] of Object.entries(files)) await write(path, content)
})
afterEach(() => rm(dirname(folder), { recursive: true }))

async function write(path: string, content: JsonObject | string): Promise<void> {
  await mkdir(dirname(join(folder, path)), { recursive: true })
  await writeFile(join(folder, path), typeof content === 'string' ? content : JSON.stringify(content))
}

test('a folder with a problem is not tested, and the problem has its place', async () => {
  await write('storages/notes.json', { fields: { title: { type: 'strng' } } })
  const end = await quoinCommand(['test', folder], {})
  expect([end.code, end.printed, end.complained]).toEqual([
    1,
    '',
    expect.stringMatching(/notes\.json:1:\d+: /),
  ])
})

test('a folder without tests says where they belong', async () => {
  await rm(join(folder, 'tests/add.test.json'))
  const end = await quoinCommand(['test', folder], {})
  expect(end).toMatchObject({ code: 1, complained: expect.stringContaining(join(folder, 'tests')) })
})

test('its fields and groups count, and storages begin empty', async () => {
  const end = await quoinCommand(['test', folder, '--min-coverage', '100'], {})
  expect([end.code, end.printed]).toEqual([0, expect.stringContaining('1 tests, 0 failed')])
})

const rateBlock = `
import { defineFlow } from 'quoin/extension'
export default defineFlow({
  identifier: 'rates_ask',
  title: 'Ask',
  summary: 'Asks for the rate.',
  in: {
    api: { type: 'http_connection', required: true, help: 'The server.' },
    now: { type: 'date', required: true, help: 'The time.' },
  },
  out: { said: { type: 'object', help: 'The rate, and when.' }, none: { type: 'flow', help: 'There is none.' } },
  effects: { calls: true },
  async run({ api }, { call }) {
    const { status, body } = await call(api, { path: 'today' })
    return status === 200 ? { said: { rate: body.rate, at: new Date().toISOString() } } : { next: 'none' }
  },
})`

/** An application with a block of an extension, which is in this folder. */
async function writeRates(extension: string, needs: JsonObject): Promise<void> {
  const permissions = { hosts: ['rates.example'] }
  const about = { name: 'quoin-rates', version: '1.2.0', quoin: { extension: 'rates', permissions } }
  await write(join(extension, 'package.json'), about)
  await write(join(extension, 'blocks/rates_ask.js'), rateBlock)
  await write('quoin.json', { name: 'desk', needs: { extensions: needs } })
  await write('blueprints/rates.json', {
    name: 'Rates',
    blocks: {
      on: { type: 'on_startup_register_uri_get', in: { uri: 'rate' }, scopes: ['*public'] },
      ask: { type: 'rates_ask', in: { flow: '@on.flow', api: 'RATES', now: '=now()' } },
      said: { type: 'reply', in: { flow: '@ask.flow', value: '@ask.said' } },
      none: { type: 'reply', in: { flow: '@ask.none', code: 404 } },
    },
  })
  await write(
    'tests/rate.test.json',
    rateTest([{ to: 'GET https://rates.example/today', body: { rate: 4 } }]),
  )
}

function rateTest(replies: JsonObject[]): JsonObject {
  const connections = [{ name: 'RATES', base_url: 'https://rates.example/' }]
  const said = { rate: 4, at: '2030-05-01T10:00:00.000Z' }
  return {
    name: 'The rate of a time',
    given: { now: '2030-05-01T09:00:00Z', connections, replies },
    steps: [{ advance: '1h' }, { request: 'GET /rate', expect: { status: 200, body: said } }],
  }
}

test.each<[string, JsonObject, string]>([
  [
    'a later version',
    { rates: '1.3' },
    'quoin.json:1:47: The application needs the extension rates 1.3, and there is 1.2.0.',
  ],
  ['another major version', { rates: '2' }, 'needs the extension rates 2, and there is 1.2.0.'],
  [
    'one that is nowhere',
    { rates: '1', other: '1' },
    'other 1, which is in neither of the folders extensions and QUOIN_BLOCKS.',
  ],
])('an application that needs %s of an extension is refused', async (_what, needs, message) => {
  await writeRates('extensions/rates', needs)
  const end = await quoinCommand(['check', folder])
  expect([end.code, end.complained]).toEqual([1, expect.stringContaining(message)])
})

test('an extension that cannot be used says why, and one that is not named is told', async () => {
  await writeRates('extensions/rates', {})
  const warned = await quoinCommand(['check', folder])
  expect([warned.code, warned.complained]).toEqual([
    0,
    expect.stringContaining('"extensions": { "rates": "1.2.0" }'),
  ])
  await write('extensions/rates/blocks/rates_ask.js', rateBlock.replace('calls: true', 'reads: true'))
  const refused = await quoinCommand(['check', folder])
  expect([refused.code, refused.complained]).toEqual([
    1,
    expect.stringContaining(
      'ask: The block rates_ask is of an extension that cannot be used: blocks/rates_ask.js',
    ),
  ])
})

test('blocks of extensions run in its tests, with the time and the answers of the test', async () => {
  await writeRates('extensions/rates', { rates: '1.1' })
  expect(await quoinCommand(['check', folder])).toMatchObject({ code: 0, complained: '' })
  const end = await quoinCommand(['test', folder, '--coverage'])
  expect([end.code, end.printed]).toEqual([0, expect.stringContaining('2 tests, 0 failed')])
  expect(end.complained).toContain('Rates: ask.none')
  await write('tests/rate.test.json', rateTest([]))
  const unanswered = await quoinCommand(['test', folder, '--filter', 'rate'])
  expect([unanswered.code, unanswered.complained + unanswered.printed]).toEqual([
    1,
    expect.stringContaining(
      'a call has no reply. Add to given.replies: {"to":"GET https://rates.example/today"',
    ),
  ])
})

test('extensions of QUOIN_BLOCKS are for applications and for files of blueprints', async () => {
  await writeRates('../more/rates', { rates: '1.1' })
  await rm(join(folder, 'tests/add.test.json'))
  const environment = { QUOIN_BLOCKS: join(folder, '../more') }
  expect(await quoinCommand(['check', folder])).toMatchObject({ code: 1 })
  expect(await quoinCommand(['check', folder], environment)).toMatchObject({ code: 0 })
  const file = join(folder, 'rates.blueprint.json')
  await copyFile(join(folder, 'blueprints/rates.json'), file)
  await copyFile(join(folder, 'tests/rate.test.json'), join(folder, 'rates.test.json'))
  expect(await quoinCommand(['check', file])).toMatchObject({ code: 1 })
  expect(await quoinCommand(['check', file], environment)).toMatchObject({ code: 0 })
  const end = await quoinCommand(['test', file], environment)
  expect([end.code, end.printed]).toEqual([0, expect.stringContaining('1 tests, 0 failed')])
})
