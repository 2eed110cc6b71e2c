/** The short form of `npm run torture -- --only consistency`: concurrent clients, in this process and without a port. */
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { consistencyBlueprint } from '../torture/consistency/consistency-blueprint.ts'
import { type Lie, lies, lying } from '../torture/consistency/dishonest-transport.ts'
import { runConsistency } from '../torture/consistency/run-consistency.ts'
import type { Transport } from '../torture/consistency/transport.ts'
import { randomSource } from '../torture/random-source.ts'
import { openTestQuoin, type TestQuoin } from './harness.ts'

const CLIENTS = 8
/** How many steps of clients; a step is up to three calls. */
const STEPS = 300

let quoin: TestQuoin
let token: string

beforeAll(async () => {
  quoin = await openTestQuoin({ QUOIN_RATE_LIMIT: '0' })
  token = await quoin.tokenOf('admin')
  await quoin.install(consistencyBlueprint.name, consistencyBlueprint.blocks)
})

afterAll(() => quoin.close())

const inProcess: Transport = {
  call: ({ method, path, body, headers }) =>
    quoin.send(method, path, { ...(body !== undefined && { body }), ...(headers && { headers }) }),
  cut: () => undefined,
  close: async () => undefined,
}

function storm(name: string, lie?: Lie) {
  const random = randomSource(1, name)
  let steps = STEPS
  return runConsistency({
    storm: name,
    connect: () => (lie ? lying(inProcess, lie, random) : inProcess),
    token: () => token,
    clients: CLIENTS,
    random,
    more: () => steps-- > 0,
    cuts: 0,
    oneSnapshot: inject('engine') === 'sqlite',
  })
}

test('concurrent clients are told one history', async () => {
  const { failures, figures } = await storm('honest')
  expect(failures).toEqual([])
  expect(figures).toMatchObject({ 'calls without an answer': 0 })
  for (const name of ['lists', 'calls of shared documents', 'orders', 'names raced for'])
    expect(figures[name]).toBeGreaterThan(0)
  expect(figures['lost races with an update_hash']).toBeGreaterThan(0)
})

// What the checks find does not depend on the engine.
if (inject('engine') === 'sqlite')
  test.each(['replays an old reply to GET', 'swallows a PUT', 'doubles an increment'])(
    'control: a server that %s is found out',
    async (name) => {
      const lie = lies[name]?.()
      expect((await storm(name.replaceAll(' ', ''), lie)).failures).not.toEqual([])
    },
  )
