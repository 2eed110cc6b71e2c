import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { BlockContent } from '../../../../shared/blueprint.ts'
import type { BlueprintNote } from '../../../../shared/blueprint-note.ts'
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

test('a later change of another user is not undone, and the next undo takes the step before', () => {
  const { history, drawings } = does([
    () => new Map([['p', plain]]),
    (flow) => new Map(flow).set('q', plain),
    (flow) => setLiteral(flow, 'p', 'a', 1),
  ])
  const mine = drawings.at(-1)?.flow ?? new Map()
  const theirs = { flow: setLiteral(mine, 'p', 'b', 2), notes: [] }
  const first = undo(history, theirs)
  expect(first).toMatchObject({ outcome: 'overtaken', label: 'change' })
  if (first.outcome !== 'overtaken') return
  expect(first.history.undone).toEqual([])
  const second = undo(first.history, theirs)
  expect(second.outcome === 'done' && [...applied(theirs, second.command).flow.keys()]).toEqual(['p'])
  if (second.outcome !== 'done') return
  expect(undo(second.history, applied(theirs, second.command)).outcome).toBe('overtaken')
  const again = redo({ ...emptyHistory, undone: history.done.slice(-1) }, theirs)
  expect(again).toMatchObject({ outcome: 'overtaken', history: emptyHistory })
})

describe('undo and redo of remarks and frames', () => {
  const noteOf = (id: string, kind: BlueprintNote['kind'] = 'note', x = 0): BlueprintNote => ({
    ...{ id, kind, text: id, color: 'yellow', position: { x, y: 0 }, size: { width: 1, height: 1 } },
  })
  const [mine, frame, theirs] = [noteOf('mine'), noteOf('frame', 'group'), noteOf('theirs')]
  const flow: Flow = new Map()
  type Notes = Drawing['notes']
  /** The notes after undoing and after redoing a change, where others have made `now` of it meanwhile. */
  function backAndForth(before: Notes, after: Notes, now: Notes): (string[] | 'overtaken')[] {
    const command = commandBetween('change', { flow, notes: before }, { flow, notes: after })
    if (!command) return []
    const history = remember(emptyHistory, command, 1)
    const back = undo(history, { flow, notes: now })
    if (back.outcome !== 'done') return ['overtaken']
    const undone = applied({ flow, notes: now }, back.command)
    const forth = redo(back.history, undone)
    const ids = ({ notes }: Drawing) => notes.map(({ id, position }) => `${id} ${position.x}`)
    return [ids(undone), forth.outcome === 'done' ? ids(applied(undone, forth.command)) : 'overtaken']
  }
  const moved = noteOf('mine', 'note', 5)
  test.each<[string, Notes, Notes, Notes, (string[] | 'overtaken')[]]>([
    [
      'not one that another user has moved since',
      [mine],
      [moved],
      [noteOf('mine', 'note', 9)],
      ['overtaken'],
    ],
    ['not one that another user has removed since', [mine], [moved], [theirs], ['overtaken']],
    [
      'a move',
      [mine],
      [moved],
      [structuredClone(moved), theirs],
      [
        ['mine 0', 'theirs 0'],
        ['mine 5', 'theirs 0'],
      ],
    ],
    ['an addition', [], [mine], [mine, theirs], [['theirs 0'], ['theirs 0', 'mine 0']]],
    ['a removal', [mine], [], [theirs], [['theirs 0', 'mine 0'], ['theirs 0']]],
    ['a removed frame, behind the others', [frame], [], [theirs], [['frame 0', 'theirs 0'], ['theirs 0']]],
  ])('%s; those that others have added since stay', (_what, before, after, now, expected) => {
    expect(backAndForth(before, after, now)).toEqual(expected)
  })
})
