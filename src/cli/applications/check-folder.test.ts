import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { quoinCommand } from '../../../test/recording-terminal.ts'

let directory: string
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'quoin-test-'))
})
afterAll(() => rm(directory, { recursive: true, force: true }))

let made = 0
async function folderWith(files: Readonly<Record<string, unknown>>): Promise<string> {
  made += 1
  const folder = join(directory, `folder${made}`)
  for (const [path, content] of Object.entries({ 'quoin.json': { name: 'shop' }, ...files })) {
    await mkdir(join(folder, dirname(path)), { recursive: true })
    const text = typeof content === 'string' ? content : `${JSON.stringify(content, undefined, 2)}\n`
    await writeFile(join(folder, path), text)
  }
  return folder
}

async function checked(files: Readonly<Record<string, unknown>>) {
  const folder = await folderWith(files)
  const { code, printed, complained } = await quoinCommand(['check', folder, '--json'])
  expect(complained).toBe('')
  const problems: {
    file: string
    line: number
    column: number
    block?: string
    pin?: string
    message: string
  }[] = JSON.parse(printed)
  return { code, problems }
}

const on = { type: 'on_startup_register_uri_get', in: { uri: 'goods' }, scopes: ['*public'] }
const reply = { type: 'httpconnection_set_json', in: { flow: '@on.flow', value: [] } }

test('an application that can run is said to, and what is not part of one is left alone', async () => {
  const folder = await folderWith({
    'README.md': '# Shop',
    '.github/workflows/a.yml': 'on: push',
    'blueprints/goods.json': { name: 'Goods', blocks: { on, reply } },
    'storages/goods.json': { fields: { sku: { type: 'string', unique: true } } },
    'groups.json': { groups: { Staff: { scopes: ['shop_sell'] } } },
    'templates/frame.json': { name: 'Frame', content: { layout: 'side' } },
    'templates/frame.css': 'h1 { color: red }\n',
    'seed/goods.ndjson': '{ "sku": "A1" }\n',
    'tests/list.test.json': { name: 'Lists', steps: [{ request: 'GET /goods', expect: { status: 200 } }] },
  })
  expect(await quoinCommand(['check', folder])).toEqual({
    code: 0,
    printed: `${folder} can run.`,
    complained: '',
  })
})

describe('every problem of every file has its place', () => {
  test.each<[string, Record<string, unknown>, object]>([
    [
      'an unknown word of quoin.json',
      { 'quoin.json': { name: 'shop', colour: 'red' } },
      { file: 'quoin.json', line: 3, message: expect.stringContaining('colour') },
    ],
    [
      'a misspelled word of quoin.json',
      { 'quoin.json': { name: 'shop', titel: 'Shop' } },
      { file: 'quoin.json', line: 3, message: 'titel is unknown here. Did you mean title?' },
    ],
    [
      'a misspelled word of a field',
      { 'storages/goods.json': { fields: { sku: { type: 'string', requierd: true } } } },
      { file: 'storages/goods.json', line: 5, message: 'requierd is unknown here. Did you mean required?' },
    ],
    [
      'a misspelled type',
      { 'storages/goods.json': { fields: { sku: { type: 'strin' } } } },
      { file: 'storages/goods.json', line: 4, message: 'type cannot be "strin". Did you mean string?' },
    ],
    [
      'a field without a type',
      { 'storages/goods.json': { fields: { sku: { unique: true } } } },
      { file: 'storages/goods.json', line: 3, message: 'type is missing.' },
    ],
    [
      'a misspelled word of a group',
      { 'groups.json': { groups: { Staff: { scope: [] } } } },
      { file: 'groups.json', line: 4, message: 'scope is unknown here. Did you mean scopes?' },
    ],
    [
      'another word where one of few is due',
      { 'alerts.json': { alerts: { late: { figure: 'queue', threshold: 1 } } } },
      {
        ...{ file: 'alerts.json', line: 4 },
        message:
          'figure must be one of error_share, dead_letters, queue_age, disk_free; got "queue". Did you mean queue_age?',
      },
    ],
    ['a name with capitals', { 'quoin.json': { name: 'Shop' } }, { file: 'quoin.json', line: 2, column: 11 }],
    [
      'a pin that a block does not have',
      {
        'blueprints/goods.json': {
          name: 'Goods',
          blocks: { on, reply: { ...reply, in: { ...reply.in, valeu: 1 } } },
        },
      },
      {
        file: 'blueprints/goods.json',
        line: 18,
        block: 'reply',
        pin: 'valeu',
        message: expect.stringContaining('Did you mean value?'),
      },
    ],
    [
      'a setting that a block does not have',
      {
        'blueprints/goods.json': { name: 'Goods', blocks: { on: { ...on, fields: { sumary: 'a' } }, reply } },
      },
      { file: 'blueprints/goods.json', line: 13, block: 'on', pin: 'sumary' },
    ],
    [
      'a blueprint of no shape',
      { 'blueprints/goods.json': { name: 'Goods', blocks: { on: { typ: 'x' } } } },
      { file: 'blueprints/goods.json', line: 4 },
    ],
    [
      'parts in a blueprint',
      { 'blueprints/goods.json': { name: 'Goods', blocks: {}, fields: [{ name: 'a' }] } },
      { file: 'blueprints/goods.json', message: expect.stringContaining('files of its own') },
    ],
    [
      'two blueprints with one address',
      {
        'blueprints/a.json': { name: 'A', blocks: { on, reply } },
        'blueprints/b.json': { name: 'B', blocks: { on, reply } },
      },
      { file: 'blueprints/b.json', message: expect.stringContaining('GET goods belongs to') },
    ],
    [
      'a field of no type',
      { 'storages/goods.json': { fields: { sku: { type: 'colour' } } } },
      { file: 'storages/goods.json', line: 4 },
    ],
    [
      'a rule that no search can ask',
      { 'storages/goods.json': { rules: { see: 'doc.a.length > 1' } } },
      { file: 'storages/goods.json', message: expect.stringContaining('column 1') },
    ],
    [
      'fields as a list',
      { 'storages/goods.json': { fields: [{ name: 'a' }] } },
      { file: 'storages/goods.json', line: 2, message: expect.stringContaining('fields must be an object') },
    ],
    [
      'a scope that can be none',
      { 'groups.json': { groups: { Staff: { scopes: ['a b c'] } } } },
      { file: 'groups.json', line: 4 },
    ],
    [
      'a seed for no storage',
      { 'seed/goods.ndjson': '{}\n' },
      { file: 'seed/goods.ndjson', message: expect.stringContaining('storages/goods.json') },
    ],
    [
      'a key of first documents that is not unique',
      {
        'storages/goods.json': { fields: { sku: { type: 'string' } } },
        'seed/goods.ndjson': '{"$upsert_by":"sku"}\n{"sku":"A"}\n',
      },
      { file: 'seed/goods.ndjson', message: expect.stringContaining('"unique": true') },
    ],
    [
      'two first documents with one key',
      {
        'storages/goods.json': { fields: { sku: { type: 'string', unique: true } } },
        'seed/goods.ndjson': '{"$upsert_by":"sku"}\n{"sku":"A"}\n{"sku":"A"}\n',
      },
      {
        file: 'seed/goods.ndjson',
        message: expect.stringContaining('document 2 must have a sku of its own'),
      },
    ],
    [
      'a first document whose value is of another type',
      {
        'storages/goods.json': { fields: { sku: { type: 'string' }, stock: { type: 'integer' } } },
        'seed/goods.ndjson': '{"sku":"A"}\n\n{"sku":"B","stock":"many"}\n',
      },
      { file: 'seed/goods.ndjson', line: 3, column: 20, message: expect.stringContaining('stock') },
    ],
    [
      'a first document without a field that is required',
      {
        'storages/goods.json': { fields: { sku: { type: 'string', required: true } } },
        'seed/goods.ndjson': '{"sku":"A"}\n{"name":"B"}\n',
      },
      { file: 'seed/goods.ndjson', line: 2, column: 1, message: 'sku is required and must not be empty.' },
    ],
    [
      'a first document with a field that its closed storage has not',
      {
        'storages/goods.json': { closed: true, fields: { sku: { type: 'string' } } },
        'seed/goods.ndjson': '{"skuu":"A"}\n',
      },
      { file: 'seed/goods.ndjson', line: 1, message: expect.stringContaining('no field skuu') },
    ],
    [
      'a step of a test',
      { 'tests/a.test.json': { name: 'A', steps: [{ request: 'GET goods' }] } },
      { file: 'tests/a.test.json', line: 5, message: expect.stringContaining('steps.0') },
    ],
    [
      'cases that are in no file',
      {
        'tests/a.test.json': { name: 'A', steps: [], cases: 'b.ndjson' },
        'tests/a.ndjson': '{}\n',
      },
      { file: 'tests/a.test.json', line: 4, message: 'cases: There is no file tests/b.ndjson.' },
    ],
    [
      'cases within a test',
      { 'tests/a.test.json': { name: 'A', steps: [], ndjson: '{}' } },
      { file: 'tests/a.test.json', line: 4, message: 'ndjson is a file of its own: tests/a.ndjson.' },
    ],
    [
      'a template without a name',
      { 'templates/a.json': {} },
      { file: 'templates/a.json', message: expect.stringContaining('name') },
    ],
  ])('%s', async (_what, files, expected) => {
    const { code, problems } = await checked(files)
    expect(code).toBe(1)
    expect(problems).toContainEqual(expect.objectContaining(expected))
  })
})

test('of each file all that is wrong is named, and not the first of it', async () => {
  const { code, problems } = await checked({
    'quoin.json': { name: 'shop', titel: 'Shop', version: 1, langauge: 'en' },
    'storages/goods.json': {
      rules: { see: 'doc.a.length > 1', change: 'doc.a >' },
      fields: { a: 1, b: 2, sku: { type: 'strin', requierd: true }, name: { typ: 'string' } },
    },
    'storages/keys.json': { fields: { code: { type: 'string', unique: true } } },
    'groups.json': { groups: { Staff: { scopes: ['a b', 'c d'] } }, gruops: {}, more: {} },
    'seed/keys.ndjson': '{"$upsert_by":"code"}\n{"code":"A"}\n{"code":"A"}\n{}\n',
    'blueprints/shape.json': { name: 'Shape', blocks: { on: { typ: 'x' }, off: { type: 1 } } },
    'blueprints/wires.json': {
      ...{ name: 'Wires', fields: undefined },
      blocks: { on, reply: { ...reply, in: { flow: '@onn.flow', value: '@in.value' } } },
    },
    'blueprints/parts.json': { name: 'Parts', blocks: {}, fields: [{ name: 'a' }], groups: [{ name: 'a' }] },
    'tests/a.test.json': {
      ...{ name: 'A', more: 1, given: { now: 'soon' } },
      steps: [
        { request: 'GET goods', expct: 1 },
        { request: 'GET /goods', expect: { body: [{ a: '=value >' }, '=value == 1'], status: '=)' } },
        { tick: 'a', call: 'b' },
      ],
    },
    'tests/b.test.json': { name: 'B', steps: [{ advance: '1' }], cases: [{}], score: '=)', at_least: 1 },
  })
  expect(code).toBe(1)
  const of = (file: string) =>
    problems.filter((one) => one.file === file).map(({ line, message }) => `${line} ${message}`)
  expect(of('quoin.json')).toEqual([
    '3 titel is unknown here. Did you mean title?',
    '4 version must be string.',
    '5 langauge is unknown here. Did you mean language?',
  ])
  expect(of('storages/goods.json').map((text) => text.replace(/:.*/, ''))).toEqual([
    '3 The rule see cannot be used',
    '4 The rule change cannot be used',
    ...['a', 'b'].map((name, at) => `${at + 7} ${name} must be an object.`),
    '10 type cannot be "strin". Did you mean string?',
    '11 requierd is unknown here. Did you mean required?',
    '13 type is missing.',
    '14 typ is unknown here. Did you mean type?',
  ])
  expect(of('groups.json')).toEqual([
    ...['a b', 'c d'].map((scope) => `4 The scope "${scope}" contains spaces or invisible characters.`),
    ...['gruops', 'more'].map((word, at) => `${at + 10} has "${word}"; its one part is "groups".`),
  ])
  expect(of('seed/keys.ndjson')).toEqual(
    [2, 3].map((at) => `${at + 1} document ${at} must have a code of its own, a text or a number.`),
  )
  expect(
    of('blueprints/shape.json').map((text) => text.replace('The blueprint file does not fit at ', '')),
  ).toEqual([
    '4 blocks.on: must have required properties type.',
    '5 blocks.on: typ is unknown.',
    '8 blocks.off.type: must be string.',
  ])
  expect(of('blueprints/wires.json')).toEqual([
    '16 blocks.reply.in.flow is wired to @onn.flow, and there is no such block.',
    '17 blocks.reply.in.value is wired to @in.value, and there is no such block.',
  ])
  expect(of('blueprints/parts.json').map((text) => text.slice(2, 10))).toEqual(['fields h', 'groups h'])
  expect(of('tests/a.test.json').map((text) => text.replace(/ (?:must|cannot).*/, ''))).toEqual([
    '3 more is unknown.',
    '5 given.now is no time: soon',
    '9 steps.0.request',
    '10 steps.0.expct is unknown.',
    '17 steps.1.expect.body.0.a: the condition =value >',
    '21 steps.1.expect.status: the condition =)',
    '24 steps.2',
  ])
  expect(of('tests/b.test.json')).toEqual(['11 score cannot be read: Unexpected text (column 1).'])
})

test('a line for people begins with the file, the line and the column', async () => {
  const folder = await folderWith({ 'storages/goods.json': { fields: { sku: { type: 'colour' } } } })
  const { complained } = await quoinCommand(['check', folder])
  expect(complained).toMatch(/storages\/goods\.json:4:\d+: /)
})

test('a link is refused, wherever it leads, and so is a folder inside', async () => {
  const folder = await folderWith({ 'storages/goods.json': {} })
  await symlink('/etc/hostname', join(folder, 'storages', 'secret.json'))
  expect(await quoinCommand(['check', folder])).toMatchObject({
    code: 1,
    complained: expect.stringContaining('secret.json is a link'),
  })
  const outside = await folderWith({})
  await symlink(directory, join(outside, 'storages'))
  expect((await quoinCommand(['check', outside])).complained).toContain('storages is a link')
  const deep = await folderWith({ 'storages/inner/a.json': {} })
  expect((await quoinCommand(['check', deep])).complained).toContain('storages/inner is no file')
})

test('without quoin.json its absence is the one problem', async () => {
  const folder = await mkdtemp(join(directory, 'empty-'))
  const { code, complained, printed } = await quoinCommand(['check', folder])
  expect([code, (complained + printed).split('\n').map((line) => line.split(':1:1: ')[1])]).toEqual([
    1,
    ['is missing. It needs at least { "name": "…" }.'],
  ])
})
