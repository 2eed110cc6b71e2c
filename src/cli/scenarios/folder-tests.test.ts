/** `quoin test` in the folder of an application: its files are pushed to the cluster of each test, without its first documents. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
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
  folder = await mkdtemp(join(tmpdir(), 'quoin-test-'))
  for (const [path, content] of Object.entries(files)) await write(path, content)
})
afterEach(() => rm(folder, { recursive: true }))

async function write(path: string, content: JsonObject): Promise<void> {
  await mkdir(dirname(join(folder, path)), { recursive: true })
  await writeFile(join(folder, path), JSON.stringify(content))
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
