/** `quoin test` on an application of payments: each kind of step, what a failing test says, and the tests of the examples. */
import { mkdir, mkdtemp, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { quoinCommand, recordingTerminal } from '../../../test/recording-terminal.ts'
import { testFiles } from '../../applications/read-folder.ts'
import type { JsonObject, JsonValue } from '../../shared/json.ts'
import { traceOf } from './coverage.ts'
import { runTests } from './run-tests.ts'

const payments: JsonObject = {
  name: 'Payments',
  fields: [{ storage: 'payments', name: 'amount', type: 'number', required: true }],
  blocks: {
    pay: { type: 'on_startup_register_uri_post', in: { uri: 'payments' }, scopes: ['*public'] },
    store: {
      type: 'function_create_document_from_mutations',
      in: {
        flow: '@pay.flow',
        storage: 'payments',
        set: '={ amount: body.amount, state: "new", at: now() }',
      },
    },
    later: {
      type: 'function_custom_execute_from_queue',
      in: { flow: '@store.flow', function: 'charge', payment: '=store.document._meta.guid' },
      fields: { parameters: ['payment'] },
    },
    accepted: {
      type: 'reply',
      in: { flow: '@later.flow', code: 202, value: '={ guid: store.document._meta.guid }' },
    },
    charge: {
      type: 'trigger_custom_function',
      fields: { name: 'charge' },
      out: [{ id: 'payment', type: 'value' }],
    },
    send: {
      type: 'http_request',
      in: {
        flow: '@charge.flow',
        url: 'https://pay.example/charges',
        method: 'POST',
        body: '={ payment: params.payment }',
      },
      fields: { must_succeed: true },
    },
    charged: {
      type: 'function_update_document_mutations',
      in: {
        flow: '@send.flow',
        storage: 'payments',
        guid: '=params.payment',
        set: '={ state: "charged", charge: send.body.id }',
      },
    },
    confirm: {
      type: 'wait_for_webhook',
      in: { flow: '@charged.flow', for: '1d' },
      fields: { title: 'Paid' },
    },
    told: { type: 'function_console_log', in: { flow: '@confirm.now', value: 'waits' } },
    confirmed: {
      type: 'function_update_document_mutations',
      in: {
        flow: '@confirm.received',
        storage: 'payments',
        guid: '=params.payment',
        set: '={ state: confirm.body.state }',
      },
    },
    lost: {
      type: 'function_update_document_mutations',
      in: {
        flow: '@confirm.timeout',
        storage: 'payments',
        guid: '=params.payment',
        set: '={ state: "lost" }',
      },
    },
    created: { type: 'storage_event', in: { storage: 'payments', events: ['on_created'] } },
    audit: {
      type: 'function_create_document_from_mutations',
      in: { flow: '@created.flow', storage: 'audits', set: '={ amount: created.document.amount }' },
    },
    hourly: { type: 'schedule_repeating_event', in: { cron: '0 * * * *' } },
    count: {
      type: 'function_aggregate',
      in: { flow: '@hourly.flow', storage: 'payments', values: [{ count: '*', as: 'n' }] },
    },
    noted: {
      type: 'function_create_document_from_mutations',
      in: { flow: '@count.flow', storage: 'hours', set: '={ n: count.rows[0].n, at: hourly.planned_at }' },
    },
  },
}

const charge = { to: 'POST https://pay.example/charges', body: { id: 'ch_1' } }
const pay = { request: 'POST /payments', body: { amount: 5 } }

let folder = ''
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'quoin-test-'))
  await mkdir(join(folder, 'tests'))
  await writeFile(join(folder, 'payments.blueprint.json'), JSON.stringify(payments))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

async function run(tests: readonly JsonValue[], ...words: string[]) {
  for (const [at, one] of tests.entries())
    await writeFile(join(folder, 'tests', `${at}.test.json`), JSON.stringify(one))
  return quoinCommand(['test', folder, ...words])
}

test.each([
  ['no test names what changed', ['elsewhere'], false, ['ok Hours', 'ok Paid']],
  ['one does', ['payments'], false, ['Tests of what changed first: 1 of 2.', 'ok Paid', 'ok Hours']],
  [
    'one does, and a file is saved again meanwhile',
    ['payments'],
    true,
    [
      'Tests of what changed first: 1 of 2.',
      'ok Paid',
      'Left for the next time, as files were saved again: 1 tests.',
    ],
  ],
])('tests that a change touches come first: %s', async (_, words, isAgain, lines) => {
  const tests = [
    { name: 'Hours', steps: [{ advance: '1m' }] },
    { name: 'Paid', given: { replies: [charge] }, steps: [pay] },
  ]
  for (const [at, one] of tests.entries())
    await writeFile(join(folder, 'tests', `${at}.test.json`), JSON.stringify(one))
  const printed: string[] = []
  const options = { folder, filter: undefined, reporter: 'text', coverage: false, minCoverage: 0 } as const
  const first = { words, isSavedAgain: async () => isAgain }
  const code = await runTests({ ...options, first }, recordingTerminal({}, { printed }))
  const plain = printed.slice(0, -1).map((line) => line.replace(/ +/g, ' ').replace(/ \(\d.*/, ''))
  expect([code, plain]).toEqual([0, lines])
})

test('a request, its job, the call, what waits and time are done, each test from the beginning', async () => {
  const { code, printed, complained } = await run([
    {
      name: 'A payment is charged and confirmed',
      given: { now: '2026-05-01T10:30:00Z', replies: [charge] },
      steps: [
        {
          ...pay,
          expect: {
            status: 202,
            headers: { 'Content-Type': '=startsWith(value, "application/json")' },
            body: { guid: '=length(value) == 36' },
            calls: [{ to: 'POST https://pay.example/charges', body: { payment: '=length(value) == 36' } }],
            waits: 1,
            documents: {
              payments: [{ state: 'charged', charge: 'ch_1', at: '2026-05-01T10:30:00.000Z' }],
              audits: 1,
            },
          },
        },
        {
          webhook: 'Paid',
          body: { state: 'paid' },
          expect: { documents: { payments: [{ state: 'paid' }] }, waits: 0, calls: [] },
        },
      ],
    },
    {
      name: 'A payment that is not confirmed is lost after a day, and every hour is counted',
      given: { now: '2026-05-01T10:30:00Z', replies: [charge] },
      steps: [
        pay,
        {
          advance: '2h',
          expect: { documents: { hours: [{ n: 1, at: '2026-05-01T11:00:00.000Z' }, { n: 1 }] } },
        },
        { advance: '1d', expect: { documents: { payments: [{ state: 'lost' }], hours: 26 } } },
      ],
    },
    {
      name: 'A call that fails twice is made again, later',
      given: { replies: [{ ...charge, status: 503 }, { ...charge, status: 503 }, charge] },
      steps: [
        { ...pay, expect: { documents: { payments: [{ state: 'new' }] } } },
        {
          advance: '1m',
          expect: { documents: { payments: [{ state: 'charged' }] }, calls: { contains: [{}] } },
        },
      ],
    },
    {
      name: 'A call that never succeeds is a dead letter',
      given: { replies: [{ ...charge, status: 500 }] },
      steps: [pay, { advance: '1h', expect: { dead: 1, documents: { payments: [{ state: 'new' }] } } }],
    },
    {
      name: 'An event and a tick by hand, and documents that were there before',
      given: { documents: { payments: [{ amount: 1 }, { amount: 2 }] } },
      steps: [
        { expect: { documents: { payments: 2, audits: 0 } } },
        { tick: 'hourly', expect: { documents: { hours: [{ n: 2 }] } } },
        {
          event: { storage: 'payments', document: { amount: 3 } },
          expect: { status: 200, documents: { audits: [{ amount: 3 }] } },
        },
      ],
    },
  ])
  expect(complained).toBe('')
  expect(printed.split('\n').filter((line) => !line.startsWith('ok'))).toEqual([
    expect.stringMatching(/^5 tests, 0 failed, /),
  ])
  expect(code).toBe(0)
})

const failing: readonly (readonly [string, JsonObject, string])[] = [
  [
    'another status',
    { steps: [{ ...pay, expect: { status: 201 } }], given: { replies: [charge] } },
    'step 1, POST /payments: status: expected 201, got 202',
  ],
  [
    'a call without a reply',
    { steps: [pay] },
    'step 1, POST /payments: a call has no reply. Add to given.replies: {"to":"POST https://pay.example/charges","status":200,"body":{}}',
  ],
  [
    'a dead letter that was not expected',
    { given: { replies: [{ ...charge, status: 500 }] }, steps: [pay, { advance: '1h' }] },
    'step 2, advance 1h: dead: expected 0 dead letters, got 1; charge: ',
  ],
  ['a user that is not there', { steps: [{ ...pay, as: 'ann' }] }, 'The test has no user ann.'],
  [
    'a wait that is not there',
    { steps: [{ approve: 'A1' }] },
    'No approval with the title "A1" waits. Those that wait: none.',
  ],
  ['a trigger that is not there', { steps: [{ tick: 'nightly' }] }, 'nightly could not be run: '],
  [
    'a storage that is not there',
    { given: { documents: { others: [{}] } }, steps: [pay] },
    'The application has no storage others.',
  ],
  [
    'a document that does not fit',
    { given: { documents: { payments: [{ amount: 'much' }] } }, steps: [pay] },
    'given.documents.payments: ',
  ],
  ['a time that is none', { given: { now: 'soon' }, steps: [pay] }, 'given.now is no time: soon'],
]

test('each test that fails says what is not as expected, and where', async () => {
  const { code, printed } = await run(failing.map(([name, test]) => ({ name, ...test })))
  const blocks = new Map(
    printed.split(/^FAIL /m).map((block) => [block.replace(/ \(\d+ ms\)[\s\S]*/, ''), block]),
  )
  for (const [name, , message] of failing) expect(blocks.get(name), name).toContain(message)
  expect(blocks.get('a dead letter that was not expected')).toMatch(
    /Payments: charge failed at send: [A-Z_]+ .*\n(?: .*\n)* +send got .*"url":"https:.*, failed: /,
  )
  expect(printed).toMatch(new RegExp(`^${failing.length} tests, ${failing.length} failed, `, 'm'))
  expect(code).toBe(1)
})

test('reports for build pipelines, and only the tests that are asked for', async () => {
  const tests = ['a<b', 'other'].map((name) => ({
    name,
    given: { replies: [charge] },
    steps: [{ ...pay, body: { amount: 5, password: 'a word of ann' }, expect: { status: 200 } }],
  }))
  const asXml = await run(tests, '--reporter', 'junit', '--filter', 'a<')
  expect(asXml.code).toBe(1)
  expect(asXml.printed).toContain('<testsuite name="quoin" tests="1" failures="1">')
  expect(asXml.printed).toContain('<testcase name="a&lt;b" classname=')
  const asJson = await run(tests, '--reporter', 'json', '--filter', 'other')
  expect(JSON.parse(asJson.printed)).toMatchObject([
    { name: 'other', failures: [expect.stringContaining('status')] },
  ])
  // With what ran, each value masked as traces mask it.
  const [{ trace }] = JSON.parse(asJson.printed)
  const [posted] = trace
  expect(posted).toMatchObject({
    blueprint: 'Payments',
    label: 'POST payments',
    status: 'ended',
    error: null,
  })
  const steps = new Map(posted.steps.map((step: JsonObject) => [step.block, step]))
  expect(steps.get('store')).toMatchObject({ in: { storage: 'payments' }, next: 'flow' })
  expect(JSON.stringify(trace)).toContain('"amount":5')
  expect(`${asXml.printed}${asJson.printed}`).not.toContain('a word of ann')
  expect(asXml.printed).toContain('Payments: POST payments ended\n  pay got {}')
  expect((await run(tests, '--filter', 'none')).complained).toContain('No test contains "none".')
  expect((await run(tests, '--reporter', 'loud')).code).toBe(2)
})

test('an application that cannot run, or has no tests, is told before anything runs', async () => {
  expect((await quoinCommand(['test', folder])).complained).toContain('There is no *.test.json for ')
  expect((await quoinCommand(['test', join(folder, 'none')])).complained).toContain('There is no folder ')
  await writeFile(
    join(folder, 'bad.blueprint.json'),
    JSON.stringify({ name: 'Bad', blocks: { a: { type: 'nothing' } } }),
  )
  const { code, complained } = await run([{ name: 'one', steps: [pay] }])
  expect(complained).toContain('bad.blueprint.json: ')
  expect(code).toBe(1)
})

test('ways that no test has taken are told, and fail where they are too many', async () => {
  const paid = [
    { ...pay, expect: { status: 202 } },
    { webhook: 'Paid', body: { state: 'paid' } },
  ]
  const test = { name: 'one', given: { replies: [charge] } }
  const one = [{ ...test, steps: paid }]
  const reported = await run(one, '--coverage')
  expect(reported.code).toBe(0)
  expect(reported.complained.split('\n')).toEqual([
    'Coverage: 13 of 18 ways, 72.2 %.',
    ...['confirm.timeout', 'lost', 'hourly.flow', 'count.flow', 'noted'].map(
      (way) => `     not taken: Payments: ${way}`,
    ),
  ])
  const refused = await run(one, '--min-coverage', '90')
  expect(refused.complained).toContain('At least 90 % of the ways must be taken.')
  expect(refused.code).toBe(1)
  expect((await run(one, '--min-coverage', '101')).code).toBe(2)

  // What a test ran that failed in its last step counts too.
  const failing = [{ ...test, steps: [...paid, { expect: { waits: 1 } }] }]
  const out = join(folder, 'coverage.json')
  const last = await run(failing, '--coverage-out', out)
  expect([last.code, last.printed]).toEqual([1, expect.stringContaining('Payments: POST payments ended')])
  const blocks = JSON.parse(await readFile(out, 'utf8'))[0].blocks
  const of = (name: string) => blocks.find(({ block }: { block: string }) => block === name)
  expect([of('confirm'), of('lost')]).toEqual([
    { block: 'confirm', ran: true, ways: expect.arrayContaining([{ pin: 'timeout', taken: false }]) },
    { block: 'lost', ran: false, ways: [{ pin: '', taken: false }] },
  ])
})

test.each<[string, JsonObject[], { runs: string[]; blocks: number; longest: number }]>([
  ['nothing ran', [], { runs: [], blocks: 0, longest: 0 }],
  [
    'many runs, and one failed long before',
    Array.from({ length: 20 }, (_, at) => ({ label: `${at}`, status: at === 1 ? 'failed' : 'ended' })),
    { runs: ['1', '17', '18', '19'], blocks: 0, longest: 0 },
  ],
  [
    'many blocks: the last ones',
    [{ label: 'loop', steps: Array.from({ length: 500 }, (_, at) => ({ block: `b${at}`, in: { at } })) }],
    { runs: ['loop'], blocks: 40, longest: 8_000 },
  ],
  [
    'long values',
    [{ label: 'one', steps: Array.from({ length: 30 }, () => ({ in: { a: 'x'.repeat(9_000) } })) }],
    { runs: ['one'], blocks: 17, longest: 8_500 },
  ],
])('the trace of a failed test is bounded: %s', (_, runs, { runs: labels, blocks, longest }) => {
  const trace = traceOf(runs)
  expect(trace.map(({ label }) => label)).toEqual(labels)
  const steps = trace.flatMap((one) => one.steps)
  expect(steps).toHaveLength(blocks)
  expect(JSON.stringify(steps).length).toBeLessThanOrEqual(Math.max(longest, 2))
  if (blocks === 40) expect(steps.at(-1)).toMatchObject({ block: 'b499', in: { at: 499 } })
})

const waits = {
  name: 'Waits',
  blocks: {
    on: { type: 'on_startup_register_uri_get', in: { uri: 'waits' }, scopes: ['*public'] },
    reply: { type: 'httpconnection_set_json', in: { flow: '@on.flow', value: 1 } },
  },
}
const long = { name: 'Long', steps: Array.from({ length: 100 }, () => ({ request: 'GET /waits' })) }

test.each<[string, (inside: string, leave: () => void) => Promise<void> | void, RegExp]>([
  ['their caller has left', (_, leave) => leave(), /did not end|without a report/],
  [
    'write too much',
    (inside) => writeFile(join(inside, 'large'), '').then(() => truncate(join(inside, 'large'), 2 ** 30)),
    /more than \d+ bytes/,
  ],
])('tests of a draft that %s are ended and leave no cluster behind', async (_, ends, reason) => {
  const left = new AbortController()
  const outside = await mkdtemp(join(tmpdir(), 'quoin-test-'))
  vi.stubEnv('TMPDIR', outside)
  try {
    const files = { 'quoin.json': { name: 'waits' }, 'blueprints/waits.json': waits }
    const tests = Array.from({ length: 40 }, (_, at) => [`tests/t${at}.test.json`, long] as const)
    const all = [...Object.entries(files), ...tests].map(
      ([path, file]) => [path, JSON.stringify(file)] as const,
    )
    const run = testFiles(new Map(all), new Map(), left.signal)
    const ended = expect(run).rejects.toThrow(reason)
    const clusters = async () =>
      (await readdir(outside, { recursive: true })).filter((path) => /\/quoin-tests?-\w+$/.test(path))
    const [inside = ''] = await vi.waitUntil(async () => (await clusters()).length > 0 && clusters(), 30_000)
    await ends(join(outside, inside), () => left.abort())
    await ended
    expect(await readdir(outside)).toEqual([])
  } finally {
    vi.unstubAllEnvs()
    await rm(outside, { recursive: true, force: true })
  }
})
