import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { BlockContent } from '../../../../shared/blueprint.ts'
import { emptyContent } from '../../../../shared/empty-content.ts'
import { catalogueOf } from '../block-description.ts'
import type { Flow } from '../flow.ts'
import { commandBetween, type Drawing } from './command.ts'
import { connect, disconnect, moveBlocks, removeBlocks, setLiteral } from './flow-changes.ts'
import { applied, emptyHistory, type History, redo, remember, undo } from './history.ts'

const catalogue = catalogueOf([
  {
    identifier: 'plain',
    aliases: [],
    group: 'logic',
    kind: 'value',
    on: null,
    more_in: false,
    more_out: false,
    title: 'Plain',
    summary: '',
    in: { a: { type: 'any', help: '' }, b: { type: 'any', help: '', several: true } },
    out: { x: { type: 'any', help: '' } },
    settings: {},
    adds: { in: {}, out: {}, custom_out: false },
  },
])
const plain: BlockContent = { ...emptyContent, type: 'plain' }
const names = ['p', 'q', 'r', 's']
const guid = fc.constantFrom(...names)
const pin = fc.constantFrom('a', 'b')
const wire = fc
  .tuple(guid, guid, pin)
  .map(([from, to, into]) => ({ from: { block: from, pin: 'x' }, to: { block: to, pin: into } }))

type Change = (flow: Flow) => Flow
const change: fc.Arbitrary<Change> = fc.oneof(
  guid.map(
    (one): Change =>
      (flow) =>
        flow.has(one) ? flow : new Map(flow).set(one, plain),
  ),
  guid.map(
    (one): Change =>
      (flow) =>
        removeBlocks(flow, new Set([one])),
  ),
  wire.map(
    (one): Change =>
      (flow) =>
        connect(flow, catalogue, one),
  ),
  wire.map(
    (one): Change =>
      (flow) =>
        disconnect(flow, one),
  ),
  fc.tuple(guid, pin, fc.jsonValue()).map(
    ([one, at, value]): Change =>
      (flow) =>
        setLiteral(flow, one, at, JSON.parse(JSON.stringify(value))),
  ),
  fc.tuple(guid, fc.nat(3)).map(
    ([one, x]): Change =>
      (flow) =>
        moveBlocks(flow, new Map([[one, { x, y: 0 }]])),
  ),
)

/** As JSON, whatever the order of the blocks: undo puts one that was removed back at the end. */
const seen = ({ flow }: Drawing) => Object.fromEntries([...flow].toSorted(([a], [b]) => a.localeCompare(b)))

function does(changes: readonly Change[], merge?: string): { history: History; drawings: Drawing[] } {
  let history = emptyHistory
  const drawings: Drawing[] = [{ flow: new Map(), notes: [] }]
  for (const one of changes) {
    const before = drawings.at(-1) ?? { flow: new Map(), notes: [] }
    const after = { ...before, flow: one(before.flow) }
    const command = commandBetween('change', before, after, merge)
    if (!command) continue
    history = remember(history, command, 1)
    drawings.push(after)
  }
  return { history, drawings }
}

test('undo goes back through every state, and redo forth again', () => {
  fc.assert(
    fc.property(fc.array(change, { maxLength: 30 }), (changes) => {
      const { history, drawings } = does(changes)
      let now = { history, drawing: drawings.at(-1) ?? { flow: new Map(), notes: [] } }
      const walk = (step: typeof undo) => {
        const taken = step(now.history, now.drawing)
        expect(taken.outcome).toBe('done')
        if (taken.outcome === 'done')
          now = { history: taken.history, drawing: applied(now.drawing, taken.command) }
      }
      for (const expected of drawings.slice(0, -1).reverse()) {
        walk(undo)
        expect(seen(now.drawing)).toEqual(seen(expected))
      }
      expect(undo(now.history, now.drawing).outcome).toBe('nothing')
      for (const expected of drawings.slice(1)) {
        walk(redo)
        expect(seen(now.drawing)).toEqual(seen(expected))
      }
    }),
  )
})

test('no change makes a wire from a block that is not there when it removed one', () => {
  fc.assert(
    fc.property(fc.array(change, { maxLength: 30 }), guid, (changes, gone) => {
      const last = does(changes).drawings.at(-1)?.flow ?? new Map()
      const flow = removeBlocks(last, new Set([gone]))
      const ends = [...flow.values()].flatMap(({ in_pins }) => in_pins.flatMap(({ from }) => from ?? []))
      expect(ends.filter(({ block }) => block === gone)).toEqual([])
    }),
  )
})

test('letters typed in a row are one step, and doing something new forgets what was taken back', () => {
  const { history, drawings } = does(
    [
      () => new Map([['p', plain]]),
      (flow) => setLiteral(flow, 'p', 'a', 'h'),
      (flow) => setLiteral(flow, 'p', 'a', 'hi'),
    ],
    'typing',
  )
  expect(history.done).toHaveLength(1)
  const back = undo(history, drawings.at(-1) ?? { flow: new Map(), notes: [] })
  expect(back.outcome === 'done' && back.history.undone.length).toBe(1)
  if (back.outcome !== 'done') return
  expect(applied(drawings.at(-1) ?? { flow: new Map(), notes: [] }, back.command).flow.size).toBe(0)
  const other = commandBetween(
    'other',
    { flow: new Map(), notes: [] },
    { flow: new Map([['q', plain]]), notes: [] },
  )
  expect(other && remember(back.history, other, 2).undone).toEqual([])
})

test('a later change of another user is not undone', () => {
  const { history, drawings } = does([() => new Map([['p', plain]]), (flow) => setLiteral(flow, 'p', 'a', 1)])
  const mine = drawings.at(-1)?.flow ?? new Map()
  const theirs = { flow: setLiteral(mine, 'p', 'b', 2), notes: [] }
  expect(undo(history, theirs)).toEqual({ outcome: 'overtaken', guid: 'p', label: 'change' })
})
