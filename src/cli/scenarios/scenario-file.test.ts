import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readScenario } from './scenario-file.ts'

let folder = ''
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'quoin-test-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

async function read(text: string) {
  const file = join(folder, 'one.test.json')
  await writeFile(file, text)
  return readScenario(file)
}

const step = { request: 'GET /tasks' }

test.each<[string, unknown, string]>([
  ['no steps', { name: 'a' }, 'steps is missing.'],
  ['an empty list of steps', { name: 'a', steps: [] }, 'steps must not have fewer than 1 items.'],
  ['no name', { steps: [step] }, 'name is missing.'],
  ['an unknown word', { name: 'a', steps: [step], more: 1 }, 'more is unknown.'],
  ['an unknown word of a step', { name: 'a', steps: [{ ...step, expct: {} }] }, 'steps.0.expct is unknown.'],
  [
    'an unknown expectation',
    { name: 'a', steps: [{ ...step, expect: { code: 1 } }] },
    'steps.0.expect.code is unknown.',
  ],
  [
    'a step that does nothing',
    { name: 'a', steps: [{ as: 'ann' }] },
    'steps.0 must have one of request, page, event,',
  ],
  [
    'a step that does two things',
    { name: 'a', steps: [{ ...step, tick: 'a' }] },
    'steps.0 must have one of request',
  ],
  [
    'a name that every object has',
    { name: 'a', steps: [{ toString: 1 }] },
    'steps.0 must have one of request',
  ],
  [
    'a request without a method',
    { name: 'a', steps: [{ request: '/tasks' }] },
    'steps.0.request must match pattern',
  ],
  [
    'a duration without a unit',
    { name: 'a', steps: [{ advance: '20' }] },
    'steps.0.advance must match pattern',
  ],
  ['too many steps', { name: 'a', steps: Array(201).fill(step) }, 'steps must not have more than 200 items.'],
  [
    'a reply without a host',
    { name: 'a', given: { replies: [{ to: 'POST /x' }] }, steps: [step] },
    'given.replies.0.to',
  ],
])('%s is refused', async (_name, json, message) => {
  await expect(read(JSON.stringify(json))).rejects.toThrow(`one.test.json: ${message}`)
})

test('a file that is half written is refused, and all faults of one are told at once', async () => {
  await expect(read('{ "name": ')).rejects.toThrow('one.test.json: is not JSON: ')
  const bad = { name: 'a', steps: [{ advance: '1' }, { tick: '' }, step] }
  await expect(read(JSON.stringify(bad))).rejects.toMatchObject({
    problems: [expect.any(String), expect.any(String)],
  })
})

test('a test of each kind of step is read', async () => {
  const steps = [
    { request: 'POST /a', as: 'ann', headers: { a: 'b' }, body: { a: 1 }, expect: { status: 201 } },
    { event: { storage: 'goods', document: { a: 1 } } },
    { tick: 'each_morning' },
    { call: 'add', parameters: { n: 1 } },
    { advance: '2d' },
    { approve: 'A', as: 'boss', comment: 'yes' },
    { reject: 'A' },
    { webhook: 'Paid', body: {} },
    { expect: { documents: { goods: 1 } } },
  ]
  const scenario = await read(JSON.stringify({ $schema: 'x', name: 'a', steps }))
  expect(scenario.steps.map(({ kind }) => kind)).toEqual(steps.map((one) => Object.keys(one)[0]))
  expect(scenario.given).toEqual({})
})
