import { type Node, Position } from '@xyflow/react'
import { countsTexts, editorTexts } from '../../texts/editor.ts'
import type { ShownChecks } from '../model/fresh-blocks.ts'
import { NODE_WIDTH } from '../model/places/node-geometry.ts'
import type { RunView } from '../model/runs/run-view.ts'
import { cut } from '../model/words/block-names.ts'
import type { BlockLast } from '../values/last-values.ts'
import { type FoldBox, type FoldPin, OTHER, otherY, ownRows, rowY } from './folds.ts'

/** What a run did inside; undefined where nothing is known. */
export type BoxState = 'idle' | 'ran' | 'failed' | 'paused'

export interface BoxData extends Record<string, unknown> {
  readonly box: FoldBox
  readonly title: string
  readonly errors: number
  readonly warnings: number
  /** Of the run that is shown, else of the last runs that passed blocks inside. */
  readonly state: BoxState | undefined
  readonly isLast: boolean
  /** How many of its blocks ran. */
  readonly ran: number
  readonly message: string
  /** A run stands still inside. */
  readonly isPaused: boolean
}

export type BoxNodeType = Node<BoxData, 'box'>

interface NodeContext {
  readonly checked: ShownChecks
  readonly selection: ReadonlySet<string>
  readonly view: RunView | undefined
  readonly last: ReadonlyMap<string, BlockLast> | undefined
  readonly paused: ReadonlySet<string>
}

const HANDLE = 14
/** Characters of a name. */
const MOST = 120

export function boxNode(id: string, box: FoldBox, input: NodeContext): BoxNodeType {
  const { checked, selection, view, paused } = input
  const inside = new Set(box.blocks)
  const errors = checked.problems.filter(({ block }) => inside.has(block)).length
  const warnings = checked.notes.filter(({ block, level }) => level === 'warn' && inside.has(block)).length
  const title = cut(box.note.text, MOST) || editorTexts.withoutAName
  const run = view ? runInside(box, view) : lastInside(box, input.last)
  const half = HANDLE / 2
  const handle = (type: 'source' | 'target') => (pin: string, y: number) => ({
    id: pin,
    type,
    position: type === 'target' ? Position.Left : Position.Right,
    width: HANDLE,
    height: HANDLE,
    x: (type === 'target' ? 0 : NODE_WIDTH) - half,
    y: y - half,
  })
  return {
    id,
    type: 'box',
    position: box.note.position,
    ...box.size,
    measured: box.size,
    handles: [...endsOf(box.in, handle('target')), ...endsOf(box.out, handle('source'))],
    selected: selection.has(id),
    ariaLabel: editorTexts.collapsedOf(
      title,
      box.note.collapsed?.lane ? editorTexts.aLane : editorTexts.aFrame,
      countsTexts.blocks(box.blocks.length),
      errors,
      countsTexts.problems(errors),
      run.state === undefined ? '' : `, ${runLabels(run)}`,
    ),
    data: { box, title, errors, warnings, ...run, isPaused: box.blocks.some((guid) => paused.has(guid)) },
  }
}

function endsOf<End>(pins: readonly FoldPin[], end: (pin: string, y: number) => End): End[] {
  const own = pins.slice(0, ownRows(pins)).map(({ id }, row) => end(id, rowY(row)))
  return [...own, end(OTHER, otherY(pins))]
}

type Inside = Pick<BoxData, 'state' | 'isLast' | 'ran' | 'message'>

export function runLabels({ state, isLast, ran, message }: Inside): string {
  if (state === 'idle') return editorTexts.didNotRun
  const words =
    state === 'failed'
      ? editorTexts.failed(message)
      : state === 'paused'
        ? editorTexts.paused
        : editorTexts.ran(countsTexts.blocks(ran))
  return isLast ? editorTexts.lastRun(words) : words
}

function runInside({ blocks }: FoldBox, view: RunView): Inside {
  const traces = blocks.flatMap((guid) => view.blocks.get(guid) ?? [])
  const failed = traces.find(({ state }) => state === 'failed')
  const ran = traces.filter(({ order }) => order > 0).length
  const state = failed
    ? 'failed'
    : traces.some((trace) => trace.state === 'paused')
      ? editorTexts.paused
      : ran > 0
        ? 'ran'
        : 'idle'
  return { state, isLast: false, ran, message: failed?.message ?? '' }
}

/** Of the newest of the last runs that passed one of its blocks. */
function lastInside({ blocks }: FoldBox, last: ReadonlyMap<string, BlockLast> | undefined): Inside {
  const passed = blocks.flatMap((guid) => last?.get(guid) ?? [])
  const newest = passed.reduce<BlockLast | undefined>(
    (best, one) => (!best || one.run.started > best.run.started ? one : best),
    undefined,
  )
  if (!newest) return { state: undefined, isLast: true, ran: 0, message: '' }
  const own = passed.filter(({ run }) => run.guid === newest.run.guid)
  const failed = own.find(({ step }) => step.error !== null)
  return {
    state: failed ? 'failed' : 'ran',
    isLast: true,
    ran: own.length,
    message: failed?.step.error ?? '',
  }
}

export function sameBox(a: BoxNodeType, b: BoxNodeType): boolean {
  const [x, y] = [a.data, b.data]
  return (
    a.selected === b.selected &&
    a.ariaLabel === b.ariaLabel &&
    x.warnings === y.warnings &&
    x.isPaused === y.isPaused &&
    x.box.note === y.box.note &&
    samePins(x.box.in, y.box.in) &&
    samePins(x.box.out, y.box.out)
  )
}

function samePins(a: readonly FoldPin[], b: readonly FoldPin[]): boolean {
  return a.length === b.length && a.every((pin, at) => pin.id === b[at]?.id && pin.title === b[at]?.title)
}
