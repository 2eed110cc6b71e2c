import { expect, test } from 'vitest'
import type { FromReader } from './worker-messages.ts'
import { writerLink } from './writer-link.ts'

function open() {
  const sent: FromReader[] = []
  const broken: unknown[] = []
  const link = writerLink({
    guid: 'r',
    send: (message) => sent.push(message),
    alive: () => true,
    broken: (error) => broken.push(error),
  })
  const change = (number: number, topic: string, messages: string[] | null) =>
    link.change({ kind: 'change', number, topic, messages })
  return { link, sent, broken, change }
}

test('a change of a storage without a watcher is answered, and raises its version', async () => {
  const { link, sent, change } = open()
  change(1, 'rules', ['g'])
  await link.settled()
  expect(sent).toEqual([{ kind: 'applied', number: 1 }])
  expect([link.version('rules'), link.version('others')]).toEqual([1, 0])
})

test('changes are applied one after the other, and answered when all that follows is done', async () => {
  const { link, sent, change } = open()
  const { promise, resolve } = Promise.withResolvers<void>()
  const heard: unknown[] = []
  const end = link.watch('rules', async (guids) => {
    heard.push(['begins', guids])
    await promise
    heard.push(['ends', guids])
  })
  change(1, 'rules', ['a'])
  change(2, 'rules', null)
  change(3, 'others', [])
  while (heard.length === 0) await new Promise((turn) => setImmediate(turn))
  expect([heard, sent]).toEqual([[['begins', ['a']]], []])
  resolve()
  await link.settled()
  expect(heard).toEqual([
    ['begins', ['a']],
    ['ends', ['a']],
    ['begins', undefined],
    ['ends', undefined],
  ])
  expect(sent.map((message) => 'number' in message && message.number)).toEqual([1, 2, 3])
  end()
  change(4, 'rules', ['b'])
  await link.settled()
  expect(heard).toHaveLength(4)
})

test('who cannot follow never says that it did, not of later changes either', async () => {
  const { link, sent, broken, change } = open()
  link.watch('rules', () => {
    throw new Error('cannot be read')
  })
  change(1, 'rules', ['a'])
  change(2, 'others', ['a'])
  await link.settled().catch(() => undefined)
  await new Promise((turn) => setImmediate(turn))
  expect(sent).toEqual([])
  expect(broken).toContainEqual(new Error('cannot be read'))
})

test('a reader cannot announce changes', async () => {
  await expect(open().link.cluster.tell('cache deletions', ['k'])).rejects.toThrow('only reads')
})
