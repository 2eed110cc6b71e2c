import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  type DocumentInput,
  type DocumentOutput,
  type DocumentState,
  documentModel,
} from './document-model.ts'
import { type Call, linearizable } from './linearizable.ts'

type DocumentCall = Call<DocumentInput, DocumentOutput>

const open = Number.POSITIVE_INFINITY
const at = (token: string, count = 0): DocumentState => ({ token, count })
const done = (document: DocumentState): DocumentOutput => ({ is: 'done', document })
const absent: DocumentOutput = { is: 'absent' }
const conflict: DocumentOutput = { is: 'conflict' }

function call(
  invoked: number,
  returned: number,
  input: DocumentInput,
  output?: DocumentOutput,
): DocumentCall {
  return { invoked, returned, input, output }
}
const create = (from: number, to: number, token: string) =>
  call(from, to, { do: 'create', token }, done(at(token)))
const read = (from: number, to: number, shown: DocumentOutput) => call(from, to, { do: 'read' }, shown)
const set = (from: number, to: number, token: string, count = 0) =>
  call(from, to, { do: 'set', token }, done(at(token, count)))
const add = (from: number, to: number, token: string, count: number) =>
  call(from, to, { do: 'add', amount: 1 }, done(at(token, count)))
const swap = (from: number, to: number, expected: DocumentState, token: string, output: DocumentOutput) =>
  call(from, to, { do: 'swap', expected, token }, output)

const a = at('a')

test.each<[string, DocumentCall[]]>([
  ['a read of an old state', [create(0, 1, 'a'), set(2, 3, 'b'), read(4, 5, done(a))]],
  [
    'a read that goes back',
    [create(0, 1, 'a'), set(2, 9, 'b'), read(3, 4, done(at('b'))), read(5, 6, done(a))],
  ],
  ['a lost write', [create(0, 1, 'a'), set(2, 3, 'b'), read(4, 5, absent)]],
  ['a lost increment', [create(0, 1, 'a'), add(2, 5, 'a', 1), add(3, 6, 'a', 1)]],
  ['a doubled increment', [create(0, 1, 'a'), add(2, 3, 'a', 1), read(4, 5, done(at('a', 2)))]],
  [
    'two winners with one hash',
    [create(0, 1, 'a'), swap(2, 5, a, 'b', done(at('b'))), swap(3, 6, a, 'c', done(at('c')))],
  ],
  ['a conflict without another write', [create(0, 1, 'a'), swap(2, 3, a, 'b', conflict)]],
  ['a write without a call', [create(0, 1, 'a'), read(2, 3, done(at('z')))]],
  ['the effect of a call before it was sent', [create(0, 1, 'a'), read(2, 3, done(at('b'))), set(4, 5, 'b')]],
  [
    'a call without an answer that took effect twice',
    [
      create(0, 1, 'a'),
      call(2, open, { do: 'set', token: 'b' }),
      read(3, 4, done(at('b'))),
      set(5, 6, 'c'),
      read(7, 8, done(at('b'))),
    ],
  ],
])('%s is found', (_, calls) => {
  expect(linearizable(calls, documentModel)).toBe('not linearizable')
})

test.each<[string, DocumentCall[]]>([
  ['nothing', []],
  ['one after the other', [create(0, 1, 'a'), set(2, 3, 'b'), read(4, 5, done(at('b')))]],
  ['a read beside a write: before it', [create(0, 1, 'a'), set(2, 9, 'b'), read(3, 4, done(a))]],
  ['a read beside a write: after it', [create(0, 1, 'a'), set(2, 9, 'b'), read(3, 4, done(at('b')))]],
  [
    'one winner with one hash',
    [create(0, 1, 'a'), swap(2, 5, a, 'b', done(at('b'))), swap(3, 6, a, 'c', conflict)],
  ],
  [
    'a call without an answer that took effect late',
    [
      create(0, 1, 'a'),
      call(2, open, { do: 'set', token: 'b' }),
      read(3, 4, done(a)),
      read(8, 9, done(at('b'))),
    ],
  ],
  [
    'a call without an answer that never took effect',
    [create(0, 1, 'a'), call(2, open, { do: 'set', token: 'b' }), read(8, 9, done(a))],
  ],
  ['a deleted document', [create(0, 1, 'a'), call(2, 3, { do: 'delete' }, done(a)), read(4, 5, absent)]],
])('%s is fine', (_, calls) => {
  expect(linearizable(calls, documentModel)).toBe('linearizable')
})

test('what takes too many steps is undecided, and says so', () => {
  const calls = Array.from({ length: 12 }, (_, n) => call(n, open, { do: 'set', token: `${n}` }))
  const wrong = [create(0, 1, 'a'), ...calls, read(20, 21, done(at('z')))]
  expect(linearizable(wrong, documentModel, 50)).toBe('undecided')
})

/** Every order of every choice of the calls without an answer. */
function bruteForce(calls: readonly DocumentCall[], state: DocumentState = documentModel.initial): boolean {
  if (calls.every(({ returned }) => returned === open)) return true
  return calls.some((first, place) => {
    const others = calls.filter((_, other) => other !== place)
    if (others.some(({ returned }) => returned < first.invoked)) return false
    const after = documentModel.step(state, first.input, first.output)
    return after !== undefined && bruteForce(others, after)
  })
}

const someState = fc.constantFrom<DocumentState>(null, a, at('b'), at('a', 1), at('b', 1))
const someInput: fc.Arbitrary<DocumentInput> = fc.oneof(
  fc.constantFrom<DocumentInput>(
    { do: 'create', token: 'a' },
    { do: 'read' },
    { do: 'set', token: 'b' },
    { do: 'add', amount: 1 },
    { do: 'delete' },
  ),
  someState.map((expected): DocumentInput => ({ do: 'swap', expected, token: 'b' })),
)
const someOutput: fc.Arbitrary<DocumentOutput | undefined> = fc.oneof(
  { arbitrary: someState.map(done), weight: 6 },
  fc.constantFrom(absent, conflict),
  fc.constant(undefined),
)
const someCall = fc
  .record({ from: fc.nat(8), length: fc.nat(6), input: someInput, output: someOutput })
  .map(({ from, length, input, output }) =>
    call(from, output === undefined ? open : from + length, input, output),
  )

test('it says what trying every order says', () => {
  const found = { true: 0, false: 0 }
  fc.assert(
    fc.property(fc.array(someCall, { maxLength: 6 }), (calls) => {
      const expected = bruteForce(calls)
      found[`${expected}`] += 1
      return linearizable(calls, documentModel) === (expected ? 'linearizable' : 'not linearizable')
    }),
    { numRuns: 2_000, seed: 1 },
  )
  expect(Math.min(found.true, found.false)).toBeGreaterThan(100)
})
