/** Evaluations in `quoin test`: a model sorts mails, its answers are recorded, and the share of right ones counts. */
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { says, startModelServer } from '../../../test/model-server.ts'
import { quoinCommand } from '../../../test/recording-terminal.ts'
import type { JsonObject, JsonValue } from '../../shared/json.ts'

const sorter: JsonObject = {
  name: 'Sorter',
  blocks: {
    mail: { type: 'on_startup_register_uri_post', in: { uri: 'mails' }, scopes: ['*public'] },
    ask: {
      type: 'ask_model',
      in: { flow: '@mail.flow', connection: 'MODEL', model: 'small', input: '=body.text' },
    },
    reply: { type: 'reply', in: { flow: '@ask.flow', value: '={ kind: ask.answer }' } },
  },
}
const answered = (content: string): JsonObject => ({
  to: 'POST https://model.example/v1/chat/completions',
  body: { choices: [{ message: { content }, finish_reason: 'stop' }] },
})
const mail = (name: string, kind: string, says: string): JsonObject => ({
  ...{ name, text: `Mail ${name}`, kind, replies: [answered(says)] },
})
const evaluation = (more: JsonObject): JsonObject => ({
  name: 'Mails are sorted',
  given: { connections: [{ name: 'MODEL', base_url: 'https://model.example/v1' }] },
  steps: [{ request: 'POST /mails', body: { text: '{case.text}' }, expect: { status: 200 } }],
  score: '=value.kind == doc.kind',
  at_least: 0.6,
  ...more,
})
const three = [mail('a', 'bill', 'bill'), mail('b', 'offer', 'offer'), mail('c', 'bill', 'spam')]

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'quoin-test-'))
  await mkdir(join(folder, 'blueprints'))
  await mkdir(join(folder, 'tests'))
  await write('quoin.json', { name: 'sorter' })
  await write('blueprints/sorter.json', sorter)
})
afterEach(() => rm(folder, { recursive: true, force: true }))

const write = (path: string, value: JsonValue | string) =>
  writeFile(join(folder, path), typeof value === 'string' ? value : JSON.stringify(value))
const lines = (cases: readonly JsonObject[]) => cases.map((one) => `${JSON.stringify(one)}\n`).join('')

test.each<[string, JsonObject, string]>([
  ['no score', { cases: three, score: null, at_least: null }, 'score'],
  ['no bound', { cases: three, at_least: undefined as never }, 'needs all of cases, score and at_least'],
  ['no cases', { cases: [] }, 'cases'],
  ['a score that is no expression', { cases: three, score: '=value.' }, 'score cannot be read'],
  ['a file that is not there', { cases: 'none.ndjson' }, 'which cannot be read'],
  ['a file somewhere else', { cases: '../cases.ndjson' }, 'cases'],
  ['a line that is no case', { cases: 'bad.ndjson' }, 'line 2'],
  [
    'a step that no case makes whole',
    { cases: three, steps: [{ request: '{case.none}' }] },
    'case 1: steps.0',
  ],
])('%s is refused', async (_, more, message) => {
  await write('tests/bad.ndjson', '{}\n[]\n')
  await write('tests/sorted.test.json', evaluation(more))
  const { code, complained } = await quoinCommand(['test', folder])
  expect([code, complained]).toEqual([1, expect.stringContaining(message)])
})

test('the example of docs/tests.md is an evaluation', async () => {
  const page = await readFile(new URL('../../../docs/tests.md', import.meta.url), 'utf8')
  const [, example = ''] = /^## Evaluations\n.*?^```json\n(.*?)^```$/ms.exec(page) ?? []
  await write('tests/sorted.test.json', example)
  await write('tests/mails.ndjson', lines([mail('a', 'bill', 'bill')]))
  const passed = await quoinCommand(['test', folder])
  expect([passed.code, passed.complained]).toEqual([0, ''])
  await write('tests/mails.ndjson', lines(three))
  const { code, printed } = await quoinCommand(['test', folder])
  expect([code, printed]).toEqual([1, expect.stringContaining('score 0.667 of 3 cases, at least 0.9')])
})

test('enough right answers pass, and the score is said', async () => {
  await write('tests/sorted.test.json', evaluation({ cases: 'mails.ndjson' }))
  await write('tests/mails.ndjson', lines(three))
  const { code, printed } = await quoinCommand(['test', folder])
  expect([code, printed]).toEqual([
    0,
    expect.stringMatching(/^ok {3}Mails are sorted \(\d+ ms, score 0\.667\)\n1 tests, 0 failed/),
  ])
  expect((await quoinCommand(['check', folder])).code).toBe(0)
})

test('too few fail, and name the worst; a case that ends early counts as 0', async () => {
  const silent = { name: 'd', text: 'Mail d', kind: 'bill' }
  await write('tests/sorted.test.json', evaluation({ cases: [...three, silent], at_least: 0.9 }))
  const { code, printed } = await quoinCommand(['test', folder])
  expect(code).toBe(1)
  expect(printed).toContain('score 0.5 of 4 cases, at least 0.9. Worst: c 0; d 0 (step 1, POST /mails:')
  expect(printed).toContain('Add to given.replies')
})

test('two releases are compared by their reports', async () => {
  await write(
    'tests/sorted.test.json',
    evaluation({ cases: three, score: '=value.kind == doc.kind ? 1 : 0.25' }),
  )
  const before = await quoinCommand(['test', folder, '--reporter', 'json'])
  expect(JSON.parse(before.printed)).toMatchObject([
    {
      name: 'Mails are sorted',
      score: 0.75,
      cases: [{ case: 'a', score: 1 }, { score: 1 }, { score: 0.25 }],
    },
  ])
  await write('.report.json', before.printed)
  const better = [mail('a', 'bill', 'offer'), mail('b', 'offer', 'offer'), mail('c', 'bill', 'bill')]
  await write(
    'tests/sorted.test.json',
    evaluation({ cases: better, score: '=value.kind == doc.kind ? 1 : 0' }),
  )
  const { code, complained } = await quoinCommand(['test', folder, '--compare', join(folder, '.report.json')])
  expect([code, complained]).toEqual([
    0,
    'Mails are sorted: 0.75 → 0.667\n     worse: a 1 → 0\n     better: c 0.25 → 1',
  ])
  const none = await quoinCommand(['test', folder, '--compare', join(folder, 'quoin.json')])
  expect([none.code, none.complained]).toEqual([1, expect.stringContaining('is no report')])
})

test('a score out of its bounds counts as 0 and says so', async () => {
  await write('tests/sorted.test.json', evaluation({ cases: three.slice(0, 1), score: '=2' }))
  const { code, printed } = await quoinCommand(['test', folder])
  expect([code, printed]).toEqual([1, expect.stringContaining('score must be from 0 to 1')])
})

test.each([
  ['is not there', undefined],
  ['is no JSON', '{ "secrets": { "KEY": "hush" } '],
  ['has no connections', { secrets: { KEY: 'hush' } }],
  ['has a connection without an address', { connections: [{ name: 'MODEL' }], secrets: { KEY: 'hush' } }],
])('a file for --live that %s is refused, and nothing of it is shown', async (_, content) => {
  await write('tests/sorted.test.json', evaluation({ cases: three }))
  if (content !== undefined) await write('.live.json', content)
  const { code, complained } = await quoinCommand(['test', folder, '--live', join(folder, '.live.json')])
  expect([code, complained]).toEqual([1, expect.stringMatching(/no file for --live|needs a base_url/)])
  expect(complained).not.toContain('hush')
})

test('with --live the model is asked in place of the records, by evaluations alone', async () => {
  const model = await startModelServer()
  const keys: unknown[] = []
  model.answers((response, body, request) => {
    keys.push(request.headers.authorization)
    says('bill')(response, body, request)
  })
  try {
    await write('tests/sorted.test.json', evaluation({ cases: three }))
    const { cases: _, score: _score, at_least: _least, ...plain } = evaluation({ name: 'z' })
    const steps = [{ request: 'POST /mails', body: { text: 'x' }, expect: { body: { kind: 'offer' } } }]
    const recordedOnly = { connections: [{ name: 'MODEL', base_url: `${model.url}/v1` }] }
    const replies = [{ ...answered('offer'), to: `POST ${model.url}/v1/chat/completions` }]
    await write('tests/z.test.json', { ...plain, given: { ...recordedOnly, replies }, steps })
    const auth = { kind: 'bearer', secret: 'KEY' }
    const connections = [{ name: 'MODEL', base_url: `${model.url}/v1`, auth }]
    await write('.live.json', { connections, secrets: { KEY: 'hush' } })
    const { code, printed } = await quoinCommand(['test', folder, '--live', join(folder, '.live.json')])
    expect([code, printed]).toEqual([0, expect.stringContaining('score 0.667')])
    expect(keys).toEqual(Array(3).fill('Bearer hush'))
    expect(model.seen.map(({ messages }) => messages)).toEqual(
      ['a', 'b', 'c'].map((name) => [{ role: 'user', content: `Mail ${name}` }]),
    )
    const recorded = await quoinCommand(['test', folder, '--filter', 'Mails'])
    expect([recorded.code, keys.length]).toEqual([0, 3])
  } finally {
    await model.close()
  }
})
