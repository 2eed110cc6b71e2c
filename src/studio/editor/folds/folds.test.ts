import { expect, test } from 'vitest'
import { describeBlock } from '../../../blocks/describe-block.ts'
import { findBlocks } from '../../../blocks/load-blocks.ts'
import { importBlueprint } from '../../../flows/blueprints/blueprint-file.ts'
import { exportBlueprint } from '../../../shared/application/blueprint-file.ts'
import type { BlueprintNote } from '../../../shared/blueprint-note.ts'
import { catalogueOf } from '../model/block-description.ts'
import type { Drawing } from '../model/changes/command.ts'
import type { Flow } from '../model/flow.ts'
import { openingView } from '../model/places/opening-view.ts'
import type { BlockTrace } from '../model/runs/run-view.ts'
import { collapseFrame, collapseLane, expand, triggerOf } from './fold-changes.ts'
import { arranged } from './fold-layout.ts'
import { boxNode } from './fold-node.ts'
import {
  boxesWith,
  drawnEnd,
  type Folds,
  foldsOf,
  MOST_ROWS,
  movedDrawing,
  noFolds,
  OTHER,
  ownRows,
  placeAt,
} from './folds.ts'

const catalogue = catalogueOf(
  (await findBlocks()).map(({ definition, group }) => describeBlock(definition, group)),
)
const log = (flow: string | string[]) => ({ type: 'function_console_log', in: { flow } })
const blocks = {
  ask: { type: 'on_startup_register_uri_get', in: { uri: 'a' }, scopes: ['*public'] },
  one: log('@ask.flow'),
  two: log('@one.flow'),
  three: log('@two.flow'),
  other: { type: 'on_startup_register_uri_get', in: { uri: 'b' }, scopes: ['*public'] },
  far: log('@other.flow'),
}
const layout = {
  ask: [0, 0],
  one: [400, 0],
  two: [800, 0],
  three: [1200, 0],
  other: [0, 600],
  far: [400, 600],
} satisfies Record<string, [number, number]>

let next = 0
const flow: Flow = new Map(
  importBlueprint({ name: 'Two', blocks, layout }, () => `g${next++}`).blocks.map(({ guid, ...content }) => [
    guid,
    content,
  ]),
)
const guid = (name: string) => [...flow].find(([, content]) => content.name === name)?.[0] ?? ''
const frame = (change: Partial<BlueprintNote> = {}): BlueprintNote => ({
  id: 'f',
  kind: 'group',
  text: 'Middle',
  color: 'blue',
  position: { x: 370, y: -50 },
  size: { width: 720, height: 400 },
  ...change,
})
const folds = ({ flow, notes }: Drawing, opened: readonly string[] = []) =>
  foldsOf({ flow, notes }, catalogue, new Set(opened))
const drawing: Drawing = { flow, notes: [frame()] }
const folded = collapseFrame(drawing, catalogue, 'f')

test('a frame holds what stands wholly inside, and its wires from and to outside are its ways', () => {
  const box = folds(folded).boxes.get('note:f')
  expect(box?.blocks).toEqual([guid('one'), guid('two')])
  expect(box?.in.map(({ block, pin }) => [block, pin])).toEqual([[guid('one'), 'flow']])
  expect(box?.out.map(({ block, pin }) => [block, pin])).toEqual([[guid('two'), 'flow']])
  const end = drawnEnd(folds(folded), 'in', { block: guid('one'), pin: 'flow' })
  expect(end).toEqual({ node: 'note:f', handle: `${guid('one')}|flow` })
  expect(placeAt(end.node, end.handle)).toEqual({ block: guid('one'), pin: 'flow' })
  expect(drawnEnd(folds(folded), 'in', { block: guid('three'), pin: 'flow' }).node).toBe(guid('three'))
})

test('an empty frame, a remark and one that is not there stay as they are', () => {
  const empty = { flow, notes: [frame({ position: { x: 5_000, y: 0 } }), frame({ id: 'r', kind: 'note' })] }
  for (const id of ['f', 'r', 'gone']) expect(collapseFrame(empty, catalogue, id)).toBe(empty)
  expect(folds(drawing)).toBe(noFolds)
})

test('what is opened is drawn in full and stays stored as collapsed', () => {
  expect(folds(folded, ['f'])).toBe(noFolds)
  expect(folded.notes[0]?.collapsed?.inside.length).toBe(2)
})

test('a frame in a frame belongs to the outer one, and two that claim each other hide nothing for all time', () => {
  const inner = collapseFrame(
    {
      flow,
      notes: [
        frame(),
        frame({ id: 'o', position: { x: -50, y: -100 }, size: { width: 1_600, height: 500 } }),
      ],
    },
    catalogue,
    'f',
  )
  const both = collapseFrame(inner, catalogue, 'o')
  expect([...folds(both).boxes.keys()]).toEqual(['note:o'])
  expect(folds(both).boxOf.get(guid('one'))).toBe('note:o')
  expect(folds(both).boxOf.get('note:f')).toBe('note:o')
  expect(folds(both, ['o']).boxOf.get(guid('one'))).toBe('note:f')
  const circle = [
    frame({ id: 'a', collapsed: { inside: ['note:b', guid('one')], lane: false } }),
    frame({ id: 'b', collapsed: { inside: ['note:a', guid('two')], lane: false } }),
  ]
  const found = folds({ flow, notes: circle })
  expect(found.boxes.size).toBe(1)
  expect([found.boxOf.get(guid('one')), found.boxOf.get(guid('two'))]).toEqual(['note:a', 'note:a'])
})

test('a lane is its trigger and what hangs on it, stands where the trigger stands, and is gone when expanded', () => {
  const lane = collapseLane({ flow, notes: [] }, catalogue, guid('ask'), 'l')
  const box = folds(lane).boxes.get('note:l')
  expect(new Set(box?.blocks)).toEqual(new Set(['ask', 'one', 'two', 'three'].map(guid)))
  expect(box?.note.position).toEqual({ x: 0, y: 0 })
  expect(box?.note.text).toContain('/a')
  expect(triggerOf(lane, catalogue, guid('three'))).toBe(guid('ask'))
  expect(triggerOf(lane, catalogue, guid('far'))).toBe(guid('other'))
  expect(expand(lane, catalogue, 'l')).toEqual({ flow, notes: [] })
  // Again, after it was only opened: the same box with what is there now.
  expect(collapseLane(lane, catalogue, guid('ask'), 'second').notes.map(({ id }) => id)).toEqual(['l'])
})

test('a box that is moved takes along what is inside', () => {
  const moved = movedDrawing(folded, folds(folded), new Map([['note:f', { x: 470, y: 50 }]]))
  expect(moved.flow.get(guid('two'))?.position).toEqual({ x: 900, y: 100 })
  expect(moved.flow.get(guid('three'))).toBe(flow.get(guid('three')))
  expect(moved.notes[0]?.position).toEqual({ x: 470, y: 50 })
  expect(movedDrawing(folded, folds(folded), new Map())).toEqual(folded)
})

test('the layout takes a box as one block, and blocks in it keep their places to each other', () => {
  const before = folds(folded)
  const ids = new Set([...[...flow.keys()].filter((id) => !before.boxOf.has(id)), 'note:f'])
  const after = arranged(folded, catalogue, before, ids)
  const place = (name: string) => after.flow.get(guid(name))?.position ?? { x: 0, y: 0 }
  expect(place('two').x - place('one').x).toBe(400)
  const box = after.notes[0]
  expect(place('one').x - (box?.position.x ?? 0)).toBe(30)
  // The next block follows the box closely, not the blocks that are inside of it.
  expect(place('three').x - (box?.position.x ?? 0)).toBeLessThan(500)
  expect(overlapsOf(after, folds(after))).toEqual([])
  // Expanded, what has come near makes room.
  const wide = expand(after, catalogue, 'f')
  expect(overlapsOf(wide, noFolds)).toEqual([])
  expect(wide.notes[0]?.collapsed).toBeUndefined()
  const free = expand(folded, catalogue, 'f')
  expect(free.flow).toBe(flow)
})

test('a box tells the problems inside, and what a run did there', () => {
  const box = folds(folded).boxes.get('note:f')
  if (!box) throw new Error('There is no box.')
  const [one, two, three] = ['one', 'two', 'three'].map(guid)
  const trace = (state: BlockTrace['state'], order: number, message = ''): BlockTrace => ({
    ...{ state, order, message, times: 1, us: 1, current: false, step: undefined },
  })
  const none = {
    checked: { problems: [], needed: [], notes: [] },
    selection: new Set<string>(),
    paused: new Set<string>(),
  }
  const node = (input: Partial<Parameters<typeof boxNode>[2]>) =>
    boxNode('note:f', box, { ...none, view: undefined, last: undefined, ...input })
  const problem = (block = '') => ({ block, pin: '', message: 'Wrong', name: '' })
  const checked = {
    problems: [problem(one), problem(three)],
    needed: [problem(two)],
    notes: [{ ...problem(two), level: 'warn' as const }],
  }
  expect(node({ checked }).data).toMatchObject({ errors: 1, warnings: 1, state: undefined })
  const view = (traces: [string | undefined, BlockTrace][]) => ({
    view: { wires: new Map(), blocks: new Map(traces.map(([id = '', made]) => [id, made])) },
  })
  const [idle, ran, failed] = [trace('idle', 0), trace('ran', 1), trace('failed', 2, 'Broken')]
  expect(
    node(
      view([
        [one, idle],
        [two, idle],
        [three, ran],
      ]),
    ).data.state,
  ).toBe('idle')
  expect(
    node(
      view([
        [one, ran],
        [two, idle],
      ]),
    ).data,
  ).toMatchObject({ state: 'ran', ran: 1 })
  expect(
    node(
      view([
        [one, ran],
        [two, failed],
      ]),
    ).ariaLabel,
  ).toBe('Middle, collapsed frame of 2 blocks, failed: Broken')
  expect(node({ paused: new Set([two ?? '']) }).data.isPaused).toBe(true)
  expect(node({ paused: new Set([three ?? '']) }).data.isPaused).toBe(false)
})

test('more ways than rows share the last one', () => {
  const many = Object.fromEntries(
    Array.from({ length: 12 }, (_, at) => [`s${at}`, log(`@ask.flow`)] as const),
  )
  let count = 0
  const wide: Flow = new Map(
    importBlueprint({ name: 'Many', blocks: { ask: blocks.ask, ...many } }, () => `m${count++}`).blocks.map(
      ({ guid, ...content }) => [guid, content],
    ),
  )
  const inside = [...wide].filter(([, { name }]) => name !== 'ask').map(([id]) => id)
  const found = folds({ flow: wide, notes: [frame({ collapsed: { inside, lane: false } })] })
  const box = found.boxes.get('note:f')
  expect(box?.in.length).toBe(12)
  expect(ownRows(box?.in ?? [])).toBe(MOST_ROWS - 1)
  const last = box?.in.at(-1) ?? { block: '', pin: '' }
  expect(drawnEnd(found, 'in', last)).toEqual({ node: 'note:f', handle: OTHER })
})

test('the canvas opens on what is drawn, not on what is inside of a box', () => {
  const far = new Map(flow)
  const screen = { width: 2_400, height: 1_200 }
  const content = flow.get(guid('two'))
  if (content) far.set(guid('two'), { ...content, position: { x: 60_000, y: 0 } })
  const notes = [frame({ collapsed: { inside: [guid('two')], lane: false } })]
  const view = openingView(far, catalogue, screen, folds({ flow: far, notes }))
  expect(view.zoom).toBe(1)
  expect(openingView(far, catalogue, screen).zoom).toBeLessThan(1)
})

test('a file has frames expanded and no lanes', () => {
  const lane = collapseLane(folded, catalogue, guid('other'), 'l')
  const input = { name: 'Two', description: '', category: '', tags: [], notes: lane.notes }
  const file = exportBlueprint({
    ...input,
    blocks: [...flow].map(([id, content]) => ({ guid: id, ...content })),
  })
  expect(file.notes).toEqual([
    { kind: 'group', text: 'Middle', color: 'blue', at: [370, -50], size: [720, 400] },
  ])
})

function overlapsOf(now: Drawing, boxes: Folds): string[] {
  const drawn = [...boxesWith(now.flow, catalogue, boxes)]
  return drawn.flatMap(([a, one], at) =>
    drawn
      .slice(at + 1)
      .filter(
        ([, two]) =>
          one.left < two.right && two.left < one.right && one.top < two.bottom && two.top < one.bottom,
      )
      .map(([b]) => `${a} ${b}`),
  )
}
