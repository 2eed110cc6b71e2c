/**
 * Plans and pushes of many small objects are worked at in turns: the embedded engine answers within the turn, so that 990 blueprints held the
 * event loop for 0.3 to 1 s, and 990 groups or connections for 0.1. PostgreSQL answers in turns of its own.
 */
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { applicationProblems, switchedOn } from '../../src/applications/check-application.ts'
import { normalApplication } from '../../src/shared/application/application.ts'
import type { JsonObject, JsonValue } from '../../src/shared/json.ts'
import { SqliteConnection } from '../../src/storage/sqlite/core/sqlite-connection.ts'
import { slowSteps, turnsDuring } from '../turns-during.ts'
import { objectOf, openTestQuoin, type TestQuoin } from './harness.ts'

const COUNT = 40
/** In one turn. An object is one to five, and without pauses there are 120 to 290. */
const MOST_WRITES = 80

let quoin: TestQuoin
beforeAll(async () => {
  quoin = await openTestQuoin()
})
afterAll(() => quoin?.close())
afterEach(() => vi.restoreAllMocks())

const empty = { blueprints: {}, storages: {}, groups: {}, templates: {}, seed: {}, tests: {} }

function many(make: (number: number) => JsonValue): JsonObject {
  return Object.fromEntries(Array.from({ length: COUNT }, (_, number) => [`n${number}`, make(number)]))
}

async function pushed(more: JsonObject): Promise<void> {
  const application = { about: { name: 'many', title: 'Many', version: '1' }, ...empty, ...more }
  const { state = null } = objectOf(await quoin.manage('POST', '/_system/applications/plan', { application }))
  const push = { application, state, allow_loss: true }
  expect(objectOf(await quoin.manage('POST', '/_system/applications/push', push)).problems).toEqual([])
}

/** The most statements that write between two turns of the event loop. */
async function mostWrites(work: () => Promise<void>): Promise<number> {
  slowSteps()
  let [most, writes] = [0, 0]
  for (const name of ['run', 'insert'] as const) {
    const real = SqliteConnection.prototype[name]
    vi.spyOn(SqliteConnection.prototype, name).mockImplementation(function (
      this: SqliteConnection,
      ...all: Parameters<typeof real>
    ) {
      // The log chains its records beside, some hundred at once, by updates.
      if (!all[0].startsWith('UPDATE')) writes += 1
      most = Math.max(most, writes)
      return Reflect.apply(real, this, all)
    })
  }
  let next: NodeJS.Immediate | undefined
  const look = () => {
    writes = 0
    next = setImmediate(look)
  }
  look()
  await work()
  clearImmediate(next)
  vi.restoreAllMocks()
  return most
}

test.each<[string, JsonObject]>([
  ['storages', { storages: many(() => ({ fields: { a: { type: 'string' } } })) }],
  ['groups', { groups: many((number) => ({ scopes: [`a${number}`] })) }],
  ['templates', { templates: many((number) => ({ name: `n${number}`, content: {} })) }],
  ['connections', { connections: many(() => ({ base_url: 'https://a.example/' })) }],
  ['views', { storages: { s: { fields: {} } }, views: many(() => ({ storage: 's', address: 'sort=a' })) }],
  ['queues', { queues: many(() => ({ concurrency: 1 })) }],
])('%s are pushed and removed in turns', async (_what, more) => {
  const most = [await mostWrites(() => pushed(more)), await mostWrites(() => pushed({}))]
  expect(Math.min(...most)).toBeGreaterThan(0)
  expect(Math.max(...most)).toBeLessThan(MOST_WRITES)
})

test('blueprints are checked in turns', async () => {
  slowSteps()
  const { catalogue, live } = quoin.quoin.flows
  const blueprints = many((number) => ({ name: `n${number}`, blocks: {} }))
  const application = normalApplication({ about: { name: 'many' }, ...empty, blueprints })
  const parts = { catalogue, live: live.copy(), extensions: switchedOn(quoin.quoin.flows) }
  const turns = await turnsDuring(() => applicationProblems(application, parts))
  // Each is compiled, and then the next one waits: 161 turns, and 81 without that.
  expect(turns).toBeGreaterThan(3 * COUNT)
})
