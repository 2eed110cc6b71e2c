/**
 * Two that write the same two documents in opposite order. On PostgreSQL each then waits for the other, until it ends one of them;
 * the embedded engine lets the second one begin when the first one is over.
 */
import { afterEach, beforeEach, expect, inject, test } from 'vitest'
import { ada, type JobRoom, openJobRoom } from '../../../test/job-room.ts'
import type { FlowBlocks } from '../../../test/run-flow.ts'
import { setFields } from '../../shared/mutation.ts'
import { documentOf } from '../../storage/database.ts'
import { guidOf } from '../../storage/document-fields.ts'
import { transact, transactAgain } from '../../storage/transact.ts'

let room: JobRoom
let guids: string[]
beforeEach(async () => {
  room = await openJobRoom()
  await room.database.ensure('accounts')
  guids = await transact(room.database, async (session) => {
    const made: string[] = []
    for (const name of ['a', 'b'])
      made.push(guidOf(documentOf(await session.create('accounts', setFields({ name, amount: 100 })))))
    return made
  })
})
afterEach(() => room.close())

const amounts = async () => (await room.documents('accounts')).map(({ amount }) => amount)

/** Holds the first write of each of two until both have done one, where an engine lets them. Gives the writes that were done. */
function meetAfterOneWrite(): () => number {
  let writes = 0
  const met = Promise.withResolvers<void>()
  room.database.observe('accounts', async () => {
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
  const blueprint = await room.install({
    post: { type: 'on_startup_register_uri_post', in: { uri: 'move' } },
    ...move('post', '=params.from', '=params.to'),
    log: { type: 'function_console_log', in: { flow: '@more.flow', value: 'moved' } },
    reply: { type: 'httpconnection_set_json', in: { flow: '@log.flow', value: 'moved' } },
  })
  const writes = meetAfterOneWrite()
  const [from = '', to = ''] = guids
  const sent = await Promise.all([
    room.send(blueprint, { method: 'POST', query: { from, to } }),
    room.send(blueprint, { method: 'POST', query: { from: to, to: from } }),
  ])
  expect(sent.map(({ end }) => end.error)).toEqual([undefined, undefined])
  expect(sent.map(({ replies }) => replies.map(({ value }) => value))).toEqual([['moved'], ['moved']])
  expect(await amounts()).toEqual([100, 100])
  expect(writes()).toBeGreaterThanOrEqual(inject('engine') === 'postgres' ? 5 : 4)
  expect((await room.logged()).filter((message) => message === 'moved')).toEqual(['moved', 'moved'])
})

test('two jobs that cross are both done in their first attempt', async () => {
  const [from = '', to = ''] = guids
  await room.install({
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
    room.database,
    async (session) => {
      await session.enqueue(job({ from, to }))
      await session.enqueue(job({ from: to, to: from }))
    },
    { user: ada },
  )
  meetAfterOneWrite()
  const claimed = await room.database.capabilities.jobs.claim({ owner: 'one', leaseMs: 60_000, limit: 2 })
  const never = new AbortController().signal
  expect(await Promise.all(claimed.map((one) => room.runJob(one, never)))).toEqual(['ended', 'ended'])
  expect(await amounts()).toEqual([100, 100])
})

test('management work that crosses another one is done again', async () => {
  meetAfterOneWrite()
  const [a = '', b = ''] = guids
  const both = (first: string, second: string) =>
    transactAgain(room.database, async (session) => {
      await session.update('accounts', first, setFields({ first }))
      await session.update('accounts', second, setFields({ second }))
    })
  await Promise.all([both(a, b), both(b, a)])
  const [one, two] = await room.documents('accounts')
  expect([one?.first, one?.second, two?.first, two?.second]).toEqual([a, a, b, b])
})
