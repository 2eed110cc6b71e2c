import { expect, test } from 'vitest'
import { conflictsIn, oneByOne, requestsOf, type UndoStep, wordsFor } from './undo-step.ts'

const change = (guid: string, before: object, after: object) => ({
  guid,
  before: new Map(Object.entries(before)),
  after: new Map(Object.entries(after)),
})
const changed = (...changes: ReturnType<typeof change>[]): UndoStep => ({ kind: 'changed', changes })

test.each<[string, UndoStep, object, object]>([
  ['nothing', changed(), [], []],
  [
    'a value, and one that was not there',
    changed(change('a', { n: 1, 'b.c': undefined }, { n: 2, 'b.c': 'x' })),
    [{ changes: [{ guid: 'a', from: { n: 2, 'b.c': 'x' }, to: { n: 1, 'b.c': null } }] }],
    [{ changes: [{ guid: 'a', from: { n: 1, 'b.c': null }, to: { n: 2, 'b.c': 'x' } }] }],
  ],
  [
    'two writes of one document',
    changed(change('a', { n: 1 }, { n: 2 }), change('a', { n: 2, t: 'x' }, { n: 3, t: 'y' })),
    [{ changes: [{ guid: 'a', from: { n: 3, t: 'y' }, to: { n: 1, t: 'x' } }] }],
    [{ changes: [{ guid: 'a', from: { n: 1, t: 'x' }, to: { n: 3, t: 'y' } }] }],
  ],
  ['a removal', { kind: 'removed', guids: ['a', 'b'] }, [{ restore: ['a', 'b'] }], [{ guids: ['a', 'b'] }]],
])('%s is undone and done again by its own requests', (_what, step, undo, redo) => {
  expect(requestsOf(step, 'undo').map(({ body }) => body)).toEqual(undo)
  expect(requestsOf(step, 'redo').map(({ body }) => body)).toEqual(redo)
})

test.each([
  ['433 documents', 433, 10, [433]],
  ['more than go at once', 2_001, 1, [1_000, 1_000, 1]],
  ['long values', 5, 60_000, [2, 2, 1]],
  ['one that is longer than all', 2, 300_000, [1, 1]],
])('%s go in as few requests as fit', (_what, count, length, sizes) => {
  const text = 'x'.repeat(length)
  const all = Array.from({ length: count }, (_, at) => change(`${at}`, { t: text }, { t: `${text}!` }))
  expect(requestsOf(changed(...all), 'undo')).toHaveLength(sizes.length)
  expect(
    requestsOf(changed(...all), 'undo').map(({ body }) => 'changes' in body && [body.changes].flat().length),
  ).toEqual(sizes)
})

test('a step is named by what it takes back, and what stays by its document', () => {
  expect(wordsFor({ kind: 'removed', guids: ['a', 'b'] })).toBe('removal of 2 documents')
  expect(wordsFor(changed(change('a', {}, {})))).toBe('change of 1 document')
  const left = [{ guid: 'g', fields: ['a'], message: 'It was changed since: a.' }]
  expect([conflictsIn({ left }), conflictsIn({})]).toEqual([['g: It was changed since: a.'], []])
})

test('what is pressed while an undo goes is done behind it, not dropped; a failure ends what waits', async () => {
  const done: string[] = []
  const sent: { readonly name: string; readonly reply: PromiseWithResolvers<void> }[] = []
  const press = oneByOne<string>(2, async (name) => {
    const reply = Promise.withResolvers<void>()
    sent.push({ name, reply })
    await reply.promise
    done.push(name)
  })
  const all = [press('first'), press('second'), press('third'), press('one too many')]
  expect(sent.map(({ name }) => name)).toEqual(['first'])
  for (const at of [0, 1, 2]) {
    await expect.poll(() => sent.length).toBe(at + 1)
    sent[at]?.reply.resolve()
  }
  await Promise.all(all)
  expect(done).toEqual(['first', 'second', 'third'])

  const failing = press('fails')
  await press('waits')
  sent.at(-1)?.reply.reject(new Error('no answer'))
  await expect(failing).rejects.toThrow('no answer')
  const later = press('later')
  sent.at(-1)?.reply.resolve()
  await later
  expect(done).toEqual(['first', 'second', 'third', 'later'])
})
