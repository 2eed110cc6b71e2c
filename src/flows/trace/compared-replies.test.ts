import { expect, test } from 'vitest'
import type { JsonValue } from '../../shared/json.ts'
import { differenceOf, type Side, sideOf, slowerBlocks, timesOf } from './compared-replies.ts'

const replied = (body: JsonValue, more: Partial<Side> = {}): Side => ({
  ...{ status: 200, headers: {}, body, error: null },
  ...more,
})

test.each<[string, Side, Side, Side, { kind: string; paths: string[] } | undefined]>([
  ['the same', replied({ a: 1 }), replied({ a: 1 }), replied({ a: 1 }), undefined],
  [
    'names in another order',
    replied({ a: 1, b: 2 }),
    replied({ b: 2, a: 1 }),
    replied({ a: 1, b: 2 }),
    undefined,
  ],
  ['a value', replied({ a: 1 }), replied({ a: 2 }), replied({ a: 1 }), { kind: 'value', paths: ['a'] }],
  ['a value that varies by itself', replied({ a: 1 }), replied({ a: 2 }), replied({ a: 3 }), undefined],
  [
    'beside one that varies',
    replied({ a: 1, b: 1 }),
    replied({ a: 2, b: 2 }),
    replied({ a: 3, b: 1 }),
    { kind: 'value', paths: ['b'] },
  ],
  [
    'another type of one that varies',
    replied({ a: 1 }),
    replied({ a: '2' }),
    replied({ a: 3 }),
    { kind: 'shape', paths: ['a'] },
  ],
  [
    'a name that is gone',
    replied({ a: 1, b: 1 }),
    replied({ a: 1 }),
    replied({ a: 1, b: 1 }),
    { kind: 'shape', paths: ['b'] },
  ],
  [
    'a new name',
    replied({ a: 1 }),
    replied({ a: 1, b: null }),
    replied({ a: 1 }),
    { kind: 'shape', paths: ['b'] },
  ],
  [
    'in lists',
    replied([{ a: 1 }, { a: 1 }]),
    replied([{ a: 2 }, { a: 3 }]),
    replied([{ a: 1 }, { a: 1 }]),
    { kind: 'value', paths: ['[].a'] },
  ],
  [
    'a shorter list',
    replied({ l: [1, 2] }),
    replied({ l: [1] }),
    replied({ l: [1, 2] }),
    { kind: 'value', paths: ['l[]'] },
  ],
  ['a status', replied(1), replied(1, { status: 201 }), replied(1), { kind: 'status', paths: [] }],
  ['a failure', replied(1), replied(1, { error: 'broken' }), replied(1), { kind: 'fails', paths: [] }],
  [
    'a failure that is mended',
    replied(1, { error: 'broken' }),
    replied(1),
    replied(1, { error: 'broken' }),
    { kind: 'fails', paths: [] },
  ],
  [
    'a header',
    replied(1, { headers: { location: '/a' } }),
    replied(1, { headers: { location: '/b' } }),
    replied(1, { headers: { location: '/a' } }),
    { kind: 'headers', paths: ['location'] },
  ],
  [
    'a header that varies',
    replied(1, { headers: { location: '/a' } }),
    replied(1, { headers: { location: '/b' } }),
    replied(1, { headers: { location: '/c' } }),
    undefined,
  ],
])('%s', (_what, deployed, candidate, again, found) => {
  const difference = differenceOf('GET a', deployed, candidate, again)
  expect(difference && { kind: difference.kind, paths: difference.paths }).toEqual(found)
})

test('the same difference of other values has the same key, and of another trigger another one', () => {
  const key = (label: string, was: number, is: number) =>
    differenceOf(label, replied({ a: was }), replied({ a: is }), replied({ a: was }))?.key
  expect([key('GET a', 1, 2) === key('GET a', 3, 4), key('GET a', 1, 2) === key('GET b', 1, 2)]).toEqual([
    true,
    false,
  ])
})

test('a side has what clients act upon', () => {
  const headers = { 'Content-Type': 'text/plain', etag: '"1"', date: 'now' }
  expect(
    sideOf({
      reply: { status: 200, headers, body: { a: 1, _meta: { guid: 'x' } } },
      result: null,
      error: null,
    }),
  ).toEqual({
    ...{ status: 200, headers: { 'content-type': 'text/plain' }, body: { a: 1 }, error: null },
  })
  expect(sideOf({ reply: null, result: { a: [{ _meta: {} }] }, error: { message: 'no' } })).toEqual({
    ...{ status: null, headers: {}, body: { a: [{}] }, error: 'no' },
  })
})

const five = (us: number) => [us, us + 1, us - 1, us, us]
test.each<[string, number[], number[], [number, number] | undefined]>([
  ['too few runs', five(100).slice(1), five(9_000), undefined],
  ['twice as long, and not a millisecond more', five(900), five(1_890), undefined],
  ['a millisecond more, and not twice as long', five(9_000), five(17_000), undefined],
  ['faster', five(9_000), five(100), undefined],
  ['one run that the machine held up', five(100), [...five(100), 90_000], undefined],
  ['twice as long', five(1_000), five(2_000), [1_000, 2_000]],
  ['by far', five(10), five(50_000), [10, 50_000]],
])('a block is slower: %s', (_what, deployed, candidate, found) => {
  const runs = Math.min(deployed.length, candidate.length)
  expect(slowerBlocks(new Map([['b', { deployed, candidate }]]))).toEqual(
    found ? [{ block: 'b', runs, deployed_us: found[0], candidate_us: found[1] }] : [],
  )
})

test('the slowest is first, and at most twenty are listed', () => {
  const times = new Map(
    Array.from({ length: 25 }, (_, at) => [
      `b${at}`,
      { deployed: five(100), candidate: five(10_000 + 100 * at) },
    ]),
  )
  const found = slowerBlocks(times)
  expect([found.length, found[0]?.block, found[19]?.block]).toEqual([20, 'b24', 'b5'])
})

test('a flow block takes the time since the one before it, with what it pulls and calls', () => {
  const step = (block: string, kind: string, frame: number, at_us: number, us: number) => ({
    ...{ block, kind, frame, at_us, us },
  })
  expect([
    ...timesOf([
      step('on', 'trigger', 0, 50, 10),
      step('pulled', 'value', 0, 70, 200),
      step('search', 'flow', 0, 300, 40),
      step('call', 'flow', 0, 400, 500),
      step('inside', 'flow', 1, 450, 300),
      step('search', 'flow', 0, 910, 90),
    ]),
  ]).toEqual([
    ['search', 280 + 100],
    ['call', 560],
  ])
})
