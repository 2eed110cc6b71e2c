import { readFile, writeFile } from 'node:fs/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type CommandFixture, openCommandFixture } from '../../../test/command-fixture.ts'
import { adminPassword, guidOf, objectOf, objectsOf } from '../../../test/end-to-end/harness.ts'
import { type CommandEnd, quoinCommand } from '../../../test/recording-terminal.ts'
import type { JsonObject, JsonValue } from '../../shared/json.ts'
import { readSignIns, signInPath, writeSignIns } from '../sign-in/sign-in-file.ts'

// quoin run, on a running server. The routes are tested in test/end-to-end/hand-runs.test.ts.

let fixture: CommandFixture
beforeAll(async () => {
  fixture = await openCommandFixture('over HTTP')
})
afterAll(() => fixture.close())

const run = (words: readonly string[]): Promise<CommandEnd> => fixture.run(words)

test('a function is tried without effects, and run for real', async () => {
  const blocks = {
    add: {
      type: 'trigger_custom_function',
      out: [{ id: 'by', type: 'number' }],
      fields: { name: 'add' },
    },
    keep: {
      type: 'function_create_document_from_mutations',
      in: { flow: '@add.flow', storage: 'kept', set: '={ by: params.by }' },
    },
    all: { type: 'function_search', in: { flow: '@keep.flow', storage: 'kept' } },
    count: { type: 'function_return', in: { flow: '@all.flow', value: '=all.total' } },
    fail: { type: 'trigger_custom_function', fields: { name: 'fail' } },
    failing: { type: 'ensure', in: { flow: '@fail.flow', condition: '=1 > 2' } },
  }
  const file = fixture.file('hand.json')
  await writeFile(file, JSON.stringify({ name: 'By hand', blocks }))
  expect(await run(['import', file, '--activate'])).toMatchObject({ code: 0, complained: '' })
  const add = async (...words: string[]) => {
    const end = await run(['run', 'By hand', 'add', '--input', '{ "by": 3 }', ...words])
    expect([end.code, end.complained]).toEqual([0, ''])
    return JSON.parse(end.printed)
  }
  expect(await add()).toMatchObject({ recorded_as: 'tried', result: 1 })
  expect(await add('--real')).toMatchObject({ recorded_as: 'by_hand', result: 1 })
  const second = await add('--real')
  expect(second).toMatchObject({ recorded_as: 'by_hand', result: 2 })
  const again = await run(['run', 'By hand', 'add', '--from-run', second.guid, '--state', 'saved'])
  expect(JSON.parse(again.printed)).toMatchObject({ recorded_as: 'tried', result: 3 })

  const failed = await run(['run', 'By hand', 'fail'])
  expect([failed.code, JSON.parse(failed.printed)]).toEqual([
    1,
    expect.objectContaining({ status: 'failed' }),
  ])
  for (const [words, code, complained] of [
    [['By hand'], 2, 'Missing argument: <trigger>'],
    [['By hand', 'add', '--input', '{'], 2, '--input is not JSON: {.'],
    [['By hand', 'add', '--input', '1'], 2, '--input must be a JSON object; got 1.'],
    [['By hand', 'add', '--state', 'old'], 2, '--state must be one of deployed, saved, staged.'],
    [['By hand', 'nothing'], 1, 'There is no trigger "nothing". There are: add; fail.'],
    [['Nothing', 'add'], 1, 'There is no blueprint "Nothing".'],
  ] as const)
    expect([words, await run(['run', ...words])]).toEqual([
      words,
      { code, printed: '', complained: expect.stringContaining(complained) },
    ])
})

test('what a change of many wrote is shown, and taken back with --yes', async () => {
  expect(await run(['storage', 'add', 'parcels', '--history'])).toMatchObject({ code: 0 })
  const file = fixture.file('parcels.ndjson')
  await writeFile(file, '{"state":"sent"}\n{"state":"lost"}\n')
  expect(await run(['rows', 'import', 'parcels', file])).toMatchObject({ code: 0 })
  const [, address = ''] = fixture.flags
  const api = async (path: string, body: JsonObject): Promise<JsonValue> => {
    const headers = {
      'content-type': 'application/json',
      authorization: `Bearer ${fixture.environment.QUOIN_TOKEN}`,
    }
    const sent = { method: 'POST', headers, body: JSON.stringify(body) }
    return (await fetch(`${address}/api/v1${path}`, sent)).json()
  }
  const [storage] = objectsOf(await api('/_system/storages/search', { filters: { name: 'parcels' } }))
  const path = `/_system/storages/${guidOf(storage)}/documents`
  const states = async () =>
    objectsOf(await api(`${path}/search`, { sort: [{ state: 'asc' }] })).map(({ state }) => state)
  const { run: guid } = objectOf(await api(`${path}/update-many`, { filters: {}, set: { state: 'found' } }))
  const shown = await run(['undo', String(guid)])
  expect(shown).toMatchObject({ code: 1, complained: 'Nothing was changed. Take it back with --yes.' })
  expect(shown.printed).toMatch(
    /^parcels \S+: set back\nparcels \S+: set back\nnot known, as the run was not recorded: .*\n2 documents are taken back, 0 are not\.$/,
  )
  expect(await states()).toEqual(['found', 'found'])
  expect(await run(['undo', String(guid), '--yes'])).toMatchObject({ code: 0, complained: '' })
  expect(await states()).toEqual(['lost', 'sent'])
  expect(await run(['undo', 'unknown'])).toMatchObject({
    code: 1,
    complained: expect.stringContaining('The history has no writes of this run.'),
  })
})

test('without --url the server of this machine is asked, or the only one with a sign-in', async () => {
  const [, address = ''] = fixture.flags
  const { port } = new URL(address)
  const file = fixture.file('found.json')
  const blocks = { ping: { type: 'trigger_custom_function', fields: { name: 'ping' } } }
  await writeFile(file, JSON.stringify({ name: 'Found', blocks }))
  await run(['import', file, '--activate'])
  const ping = (more: Record<string, string>) =>
    quoinCommand(['run', 'Found', 'ping'], { ...fixture.environment, ...more })
  for (const host of ['127.0.0.1', '0.0.0.0'])
    expect([host, await ping({ QUOIN_PORT: port, QUOIN_HOST: host })]).toMatchObject([
      host,
      { code: 0, complained: `Server: http://127.0.0.1:${port}` },
    ])

  const config = { XDG_CONFIG_HOME: fixture.file('config'), QUOIN_TOKEN: '' }
  expect(await ping(config)).toMatchObject({
    code: 2,
    complained: expect.stringContaining('run quoin login <address> <username> first'),
  })
  const login = ['login', address, 'admin']
  expect(await quoinCommand(login, { ...fixture.environment, ...config }, adminPassword)).toMatchObject({
    code: 0,
  })
  expect(await ping(config)).toMatchObject({ code: 0, complained: `Server: ${address}` })
  const path = signInPath(config.XDG_CONFIG_HOME)
  const other = { 'http://other.example': { username: 'ann', token: 'x' } }
  await writeSignIns(path, { ...(await readSignIns(path)), ...other })
  expect(await ping(config)).toMatchObject({
    code: 2,
    complained: expect.stringContaining(`${address} and http://other.example: name one of them with --url`),
  })
})

test('a client is written for the endpoints of the server, to the output and to a file', async () => {
  const printed = await run(['client'])
  expect(printed).toMatchObject({ code: 0, complained: '' })
  expect(printed.printed).toContain('export function createClient(')
  expect(printed.printed).toContain('call("GET", "/api/v1/users/me", args)')
  const file = fixture.file('client.ts')
  expect(await run(['client', '--out', file])).toMatchObject({ code: 0, printed: '', complained: '' })
  expect(await readFile(file, 'utf8')).toBe(printed.printed)
})

test('on the data directory runs are looked for as on a server', async () => {
  const local = await openCommandFixture('on the data directory')
  try {
    await local.run(['user', 'create', 'ann'])
    const unknown = '0190a6e0-0000-7000-8000-000000000000'
    expect(await local.run(['undo', unknown])).toMatchObject({
      code: 1,
      complained: 'The history has no writes of this run. Only storages that keep history record them.',
    })
    expect(await local.run(['test', '--record', unknown])).toMatchObject({
      code: 1,
      complained: `There is no traced run with the guid ${unknown}.`,
    })
  } finally {
    await local.close()
  }
})
