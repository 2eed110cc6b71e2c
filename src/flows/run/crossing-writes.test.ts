/**
 * Two that write the same two documents in opposite order. On PostgreSQL each then waits for the other, until it ends one of them;
 * the embedded engine lets the second one begin when the first one is over.
 */
import { afterEach, beforeEach, describe, expect, inject, test } from 'vitest'
import { ada, type JobFixture, openJobFixture } from '../../../test/job-fixture.ts'
import type { FlowBlocks } from '../../../test/run-flow.ts'
import { setFields } from '../../shared/mutation.ts'
import { documentOf } from '../../storage/database.ts'
import { guidOf } from '../../storage/document-fields.ts'
import { transact, transactAgain } from '../../storage/transact.ts'

let fixture: JobFixture
let guids: string[]
beforeEach(async () => {
  fixture = await openJobFixture()
  await fixture.database.ensure('accounts')
  guids = await transact(fixture.database, async (session) => {
    const made: string[] = []
    for (const name of ['a', 'b'])
      made.push(guidOf(documentOf(await session.create('accounts', setFields({ name, amount: 100 })))))
    return made
  })
})
afterEach(() => fixture.close())

const amounts = async () => (await fixture.documents('accounts')).map(({ amount }) => amount)

/** Holds the first write of each of two until both have done one, where an engine lets them. Gives the writes that were done. */
function meetAfterOneWrite(): () => number {
  let writes = 0
  const met = Promise.withResolvers<void>()
  fixture.database.observe('accounts', async () => {
    writes += 1
    if (writes === 2 || inject('engine') !== 'postgres') met.resolve()
    await met.promise
  })
  return () => writes
}

const move = (trigger: string, from: string, to: string): FlowBlocks => ({
  less: {
    type: 'function_update_document_mutations',
    in: { flow: `@${trigger}.flow`, storage: 'accounts', guid: from, mutations: '@minus.mutations' },
  },
  minus: { type: 'mutations_increment_by_field', in: { field: 'amount', amount: -1 } },
  more: {
    type: 'function_update_document_mutations',
    in: { flow: '@less.flow', storage: 'accounts', guid: to, mutations: '@plus.mutations' },
  },
  plus: { type: 'mutations_increment_by_field', in: { field: 'amount', amount: 1 } },
})

test('two transfers that cross are both done, once each, and both clients have their reply', async () => {
  const blueprint = await fixture.install({
    post: { type: 'on_startup_register_uri_post', in: { uri: 'move' } },
    ...move('post', '=params.from', '=params.to'),
    log: { type: 'function_console_log', in: { flow: '@more.flow', value: 'moved' } },
    reply: { type: 'httpconnection_set_json', in: { flow: '@log.flow', value: 'moved' } },
  })
  const writes = meetAfterOneWrite()
  const [from = '', to = ''] = guids
  const sent = await Promise.all([
    fixture.send(blueprint, { method: 'POST', query: { from, to } }),
    fixture.send(blueprint, { method: 'POST', query: { from: to, to: from } }),
  ])
  expect(sent.map(({ end }) => end.error)).toEqual([undefined, undefined])
  expect(sent.map(({ replies }) => replies.map(({ value }) => value))).toEqual([['moved'], ['moved']])
  expect(await amounts()).toEqual([100, 100])
  expect(writes()).toBeGreaterThanOrEqual(inject('engine') === 'postgres' ? 5 : 4)
  expect((await fixture.logged()).filter((message) => message === 'moved')).toEqual(['moved', 'moved'])
})

test('two jobs that cross are both done in their first attempt', async () => {
  const [from = '', to = ''] = guids
  await fixture.install({
    move: {
      type: 'trigger_custom_function',
      fields: { name: 'move' },
      out: [
        { id: 'from', type: 'value' },
        { id: 'to', type: 'value' },
      ],
    },
    ...move('move', '@move.from', '@move.to'),
  })
  const job = (parameters: { from: string; to: string }) =>
    ({
      queue: 'default',
      kind: 'function',
      title: 'move',
      payload: { blueprint: '', function: 'move', parameters },
    }) as const
  await transact(
    fixture.database,
    async (session) => {
      await session.enqueue(job({ from, to }))
      await session.enqueue(job({ from: to, to: from }))
    },
    { user: ada },
  )
  meetAfterOneWrite()
  const claimed = await fixture.database.capabilities.jobs.claim({ owner: 'one', leaseMs: 60_000, limit: 2 })
  const never = new AbortController().signal
  expect(await Promise.all(claimed.map((one) => fixture.runJob(one, never)))).toEqual(['ended', 'ended'])
  expect(await amounts()).toEqual([100, 100])
})

test('management work that crosses another one is done again', async () => {
  meetAfterOneWrite()
  const [a = '', b = ''] = guids
  const both = (first: string, second: string) =>
    transactAgain(fixture.database, async (session) => {
      await session.update('accounts', first, setFields({ first }))
      await session.update('accounts', second, setFields({ second }))
    })
  await Promise.all([both(a, b), both(b, a)])
  const [one, two] = await fixture.documents('accounts')
  expect([one?.first, one?.second, two?.first, two?.second]).toEqual([a, a, b, b])
})

describe('requests with the same one_at_a_time', () => {
  /** Adds one to what it has read. Each request is held when it writes; gives how many have come as far. */
  async function openCounting(pins: Readonly<Record<string, string>>) {
    const blueprint = await fixture.install({
      post: { type: 'on_startup_register_uri_post', in: { uri: 'count', ...pins } },
      found: {
        type: 'function_search',
        in: { flow: '@post.flow', storage: 'accounts', where: '=doc.name == params.name' },
      },
      more: {
        type: 'mutations_set_bp_field_multiple',
        in: { amount: '=found.documents[0].amount + 1' },
        fields: { fields: ['amount'] },
      },
      update: {
        type: 'function_update_document_mutations',
        in: {
          flow: '@found.flow',
          storage: 'accounts',
          guid: '=found.documents[0]._meta.guid',
          mutations: '@more.mutations',
        },
      },
      reply: {
        type: 'httpconnection_set_json',
        in: { flow: '@update.flow', value: '=update.document.amount' },
      },
    })
    let writes = 0
    const held = Promise.withResolvers<void>()
    fixture.database.observe('accounts', async () => {
      writes += 1
      await held.promise
    })
    const send = (name: string) => fixture.send(blueprint, { method: 'POST', query: { name } })
    return { send, writes: () => writes, go: held.resolve }
  }

  /** Until so many are held, and then long enough for what waits for nothing but the database. */
  async function areHeld(writes: () => number, count: number) {
    await expect.poll(writes, { timeout: 10_000 }).toBe(count)
    await new Promise<void>((resolve) => setTimeout(resolve, 200))
    expect(writes()).toBe(count)
  }

  test('come one after the other, and never begin again', async () => {
    const { send, writes, go } = await openCounting({ one_at_a_time: '=params.name' })
    const first = [send('a'), send('a'), send('a')]
    await areHeld(writes, 1)
    go()
    const sent = await Promise.all(first)
    expect(sent.map(({ replies }) => replies.map(({ value }) => value))).toEqual([[101], [102], [103]])
    expect(writes()).toBe(3)
  })

  test('with another value does not wait, where the engine has several writers', async () => {
    const { send, writes, go } = await openCounting({ one_at_a_time: '=params.name' })
    const sent = ['a', 'a', 'b', 'b'].map(send)
    await areHeld(writes, inject('engine') === 'postgres' ? 2 : 1)
    go()
    for (const { end } of await Promise.all(sent)) expect(end.error).toBeUndefined()
    expect(await amounts()).toEqual([102, 102])
  })

  test('with a value that is the same for all come one after the other', async () => {
    const { send, writes, go } = await openCounting({ one_at_a_time: 'all' })
    const sent = ['a', 'b', 'a', 'b'].map(send)
    await areHeld(writes, 1)
    go()
    for (const { end } of await Promise.all(sent)) expect(end.error).toBeUndefined()
    expect(writes()).toBe(4)
    expect(await amounts()).toEqual([102, 102])
  })

  test('with an empty value wait for none', async () => {
    const { send, writes, go } = await openCounting({ one_at_a_time: '=params.none ?? ""' })
    const sent = ['a', 'b'].map(send)
    await areHeld(writes, inject('engine') === 'postgres' ? 2 : 1)
    go()
    for (const { end } of await Promise.all(sent)) expect(end.error).toBeUndefined()
    expect(await amounts()).toEqual([101, 101])
  })

  test('a value that is too long is refused, and nothing is written', async () => {
    const { send, writes } = await openCounting({ one_at_a_time: '=repeat("ab", 2049)' })
    const { end } = await send('a')
    expect(end.error).toMatchObject({
      code: 'INVALID_BODY',
      message: expect.stringContaining('4096 characters'),
    })
    expect(writes()).toBe(0)
  })
})
