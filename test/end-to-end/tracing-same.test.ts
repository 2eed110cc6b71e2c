/** Clients cannot tell whether requests are traced: the same requests to two clusters, one of which traces. */
import { readFile } from 'node:fs/promises'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { JsonObject } from '../../src/shared/json.ts'
import { type Answer, objectOf, objectsOf, openTestQuoin, type TestQuoin } from './harness.ts'

let plain: TestQuoin
let traced: TestQuoin
let blueprint: string

beforeAll(async () => {
  const file = await readFile(new URL('../../examples/tasks/blueprints/tasks.json', import.meta.url), 'utf8')
  const blocks = objectOf(objectOf(JSON.parse(file)).blocks)
  ;[plain, traced] = await Promise.all([openTestQuoin(), openTestQuoin()])
  for (const fixture of [plain, traced]) {
    blueprint = await fixture.install('Tasks', blocks)
    await fixture.addUser('worker', [])
  }
  await traced.manage('PUT', `/blueprints/${blueprint}/tracing`, { on: true, minutes: 60, keep_last: 200 })
})
afterAll(async () => {
  await plain.close()
  await traced.close()
})

interface Asked {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** `{n}`: guid of the n-th task that was made. */
  readonly path: string
  readonly body?: JsonObject
}

const text = fc.constantFrom('', 'one', 'two words', 'ä', '5', 'wrong')
const anyValue = fc.oneof(
  text,
  fc.integer(),
  fc.boolean(),
  fc.constant(null),
  fc.array(text, { maxLength: 2 }),
)
const body = fc.dictionary(fc.constantFrom('title', 'status', 'priority', 'due', 'note'), anyValue, {
  maxKeys: 4,
})
const task = fc.oneof(
  fc.constant('none'),
  fc.nat({ max: 3 }).map((n) => `{${n}}`),
)
const query = fc
  .dictionary(fc.constantFrom('limit', 'offset', 'sort', 'order', 'q', 'status'), text, { maxKeys: 3 })
  .map((pairs) => new URLSearchParams(pairs).toString())
const request: fc.Arbitrary<Asked> = fc.oneof(
  query.map((found): Asked => ({ method: 'GET', path: `/tasks?${found}` })),
  task.map((one): Asked => ({ method: 'GET', path: `/tasks/${one}` })),
  body.map((fields): Asked => ({ method: 'POST', path: '/tasks', body: fields })),
  fc
    .tuple(task, body)
    .map(([one, fields]): Asked => ({ method: 'PUT', path: `/tasks/${one}`, body: fields })),
  task.map((one): Asked => ({ method: 'DELETE', path: `/tasks/${one}` })),
)

test('the tasks example replies the same, byte by byte', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(request, { minLength: 1, maxLength: 8 }), async (requests) => {
      const [one, other] = [await answersOf(plain, requests), await answersOf(traced, requests)]
      expect(other).toEqual(one)
    }),
    { numRuns: 40 },
  )
  // Control: they were traced indeed.
  const runs = await traced.manage('GET', '/runs?limit=200')
  expect(objectsOf(runs).length).toBeGreaterThan(40)
  const untraced = objectsOf(await plain.manage('GET', '/runs?limit=200'))
  expect(untraced.filter(({ recorded_as: as }) => as !== 'refused')).toEqual([])
})

async function answersOf(fixture: TestQuoin, requests: readonly Asked[]): Promise<unknown[]> {
  const made: string[] = []
  const answers: unknown[] = []
  for (const { method, path, body: sent } of requests) {
    const filled = path.replace(/\{(\d)\}/, (_, n) => made[Number(n)] ?? 'never-made')
    const answer = await fixture.send(method, filled, { as: 'worker', ...(sent && { body: sent }) })
    if (method === 'POST' && answer.status === 201)
      made.push(String(objectOf(objectOf(answer.body)._meta).guid))
    answers.push(seen(answer))
  }
  return answers
}

/** What a client sees, without what names the moment: guids, times, hashes and what is worked out of them. */
function seen({ status, text: sent, headers }: Answer): unknown {
  const { date: _1, etag: _2, 'x-request-id': _3, ...rest } = headers
  const moments = /"(guid|update_hash|run)":"[^"]+"|"(created|updated|cms|ums|removed)":\d+/g
  return { status, headers: rest, text: sent.replace(moments, (pair) => pair.slice(0, pair.indexOf(':'))) }
}
