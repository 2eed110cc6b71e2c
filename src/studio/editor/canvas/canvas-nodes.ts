import type { Node } from '@xyflow/react'
import { Position } from '@xyflow/react'
import type { BlockDescription } from '../../../shared/api/blocks/blocks.ts'
import type { TestedBlueprint } from '../../../shared/api/blueprints/applications.ts'
import type { Problem } from '../../../shared/api/blueprints/blueprints.ts'
import type { BlockContent } from '../../../shared/blueprint.ts'
import type { BlueprintNote } from '../../../shared/blueprint-note.ts'
import { canvasTexts } from '../../texts/canvas.ts'
import { type BoxNodeType, boxNode, sameBox } from '../folds/fold-node.ts'
import type { Folds } from '../folds/folds.ts'
import type { Catalogue } from '../model/block-description.ts'
import type { KnownBlocks, Staging } from '../model/changes/staged-blocks.ts'
import type { Flow } from '../model/flow.ts'
import { type Level, problemsOf, type ShownChecks } from '../model/fresh-blocks.ts'
import { type BlockPins, pinsOf } from '../model/pins/pins.ts'
import { allPins, type ShownPins, shownPins, usedOut } from '../model/pins/shown-pins.ts'
import { NODE_WIDTH, pinY, sizeWith } from '../model/places/node-geometry.ts'
import { type BlockTrace, type RunView, sameTrace } from '../model/runs/run-view.ts'
import { type BlockLabels, wordsOf } from '../model/words/block-labels.ts'
import { type BlockTime, sameTime, timeWords } from '../values/block-time.ts'
import { type BlockLast, lastWords, sameLast } from '../values/last-values.ts'

export interface BlockData extends Record<string, unknown> {
  readonly content: BlockContent
  readonly description: BlockDescription | undefined
  readonly words: BlockLabels
  readonly pins: BlockPins
  readonly shown: ShownPins
  readonly staging: Staging | null
  readonly problems: readonly (Problem & { readonly level: Level })[]
  /** Out-pins that a wire leaves. */
  readonly wiredOut: string
  /** What it did in the run that is shown; undefined while none is. */
  readonly trace: BlockTrace | undefined
  /** Whether a test ran it; undefined while coverage is not shown, and for what only gives values. */
  readonly covered: 'ran' | 'partly' | 'missed' | undefined
  /** Its values in the last run that passed it; undefined while a run is shown. */
  readonly last: BlockLast | undefined
  /** In sampled runs; undefined while times are not shown. */
  readonly time: BlockTime | undefined
  /** `waits`: it holds nothing up, because nothing is traced. */
  readonly breakpoint: 'holds' | 'waits' | undefined
  /** A run stands still before it, whosever it is. */
  readonly isPaused: boolean
  /** Who has changed it in a draft, in words. */
  readonly drafted: string | undefined
}

export type CoveredBlock = TestedBlueprint['coverage']['blocks'][number]
export type BlockNodeType = Node<BlockData, 'block'>
export type NoteNodeType = Node<{ note: BlueprintNote }, 'note'>
export type CanvasNode = BlockNodeType | NoteNodeType | BoxNodeType

export const HANDLE = 14

export interface NodeContext {
  readonly flow: Flow
  readonly notes: readonly BlueprintNote[]
  readonly catalogue: Catalogue
  readonly known: KnownBlocks
  readonly checked: ShownChecks
  readonly selection: ReadonlySet<string>
  /** Blocks that show all of their pins. */
  readonly unfolded: ReadonlySet<string>
  /** The shown run. */
  readonly view: RunView | undefined
  /** By block, while it is shown. */
  readonly coverage: ReadonlyMap<string, CoveredBlock> | undefined
  /** By block, while they are shown. */
  readonly times: ReadonlyMap<string, BlockTime> | undefined
  /** By block, while no run is shown. */
  readonly last: ReadonlyMap<string, BlockLast> | undefined
  readonly breakpoints: { readonly at: ReadonlySet<string>; readonly hold: boolean }
  /** Blocks before which runs stand still. */
  readonly paused: ReadonlySet<string>
  /** By block, who has changed it in a draft. */
  readonly drafted: ReadonlyMap<string, string>
  /** What is drawn as one box. */
  readonly folds: Folds
}

/**
 * The nodes that the canvas draws. A node whose block is as before is the very same object again, so that only what
 * changed is drawn again: with 500 blocks the canvas is fluid only this way.
 */
export function nodeMaker(): (input: NodeContext) => CanvasNode[] {
  let before = new Map<string, CanvasNode>()
  return (input) => {
    const leaving = usedOut(input.flow)
    const next = new Map<string, CanvasNode>()
    for (const note of input.notes) {
      const id = `note:${note.id}`
      if (input.folds.boxOf.has(id)) continue
      const old = before.get(id)
      const box = input.folds.boxes.get(id)
      if (box) {
        const made = boxNode(id, box, input)
        next.set(id, old?.type === 'box' && sameBox(old, made) ? old : made)
        continue
      }
      // A lane has no frame.
      if (note.collapsed?.lane) continue
      const made = noteNode(note, input.selection.has(id))
      next.set(id, old?.type === 'note' && sameNote(old, made) ? old : made)
    }
    for (const [guid, content] of input.flow) {
      if (input.folds.boxOf.has(guid)) continue
      const made = blockNode(guid, content, input, usedText(leaving.get(guid)))
      const old = before.get(guid)
      next.set(guid, old?.type === 'block' && sameBlock(old, made) ? old : made)
    }
    before = next
    return [...next.values()]
  }
}

function blockNode(guid: string, content: BlockContent, input: NodeContext, wiredOut: string): BlockNodeType {
  const { catalogue, known, checked, selection, view, breakpoints, paused } = input
  const pins = pinsOf(content, catalogue)
  const shown = (input.unfolded.has(guid) ? allPins : shownPins)(input.flow, catalogue, guid)
  const size = sizeWith(content, shown)
  const description = catalogue.get(content.type)
  const [last, time, drafted] = [input.last?.get(guid), input.times?.get(guid), input.drafted.get(guid)]
  const covered = coveredBy(input.coverage?.get(guid))
  const words = wordsOf(input.flow, catalogue, guid)
  const [half, box] = [HANDLE / 2, { width: HANDLE, height: HANDLE }]
  const into = shown.in.map((id, row) => ({
    ...box,
    id,
    type: 'target' as const,
    position: Position.Left,
    x: -half,
    y: pinY(content, row) - half,
  }))
  const out = shown.out.map((id, row) => ({
    ...box,
    id,
    type: 'source' as const,
    position: Position.Right,
    x: NODE_WIDTH - half,
    y: pinY(content, row) - half,
  }))
  return {
    id: guid,
    type: 'block',
    position: content.position,
    ...size,
    measured: size,
    handles: [...into, ...out],
    selected: selection.has(guid),
    // Unfolded it may reach over those below it.
    zIndex: shown.isUnfolded ? 1 : 0,
    ariaLabel: canvasTexts.block(
      words.title,
      covered ? canvasTexts.covered[covered] : traceWords(view?.blocks.get(guid)),
      lastText(last),
      time ? `, ${timeWords(time).spoken}` : '',
    ),
    data: {
      content,
      description,
      words,
      pins,
      shown,
      staging: known.get(guid)?.staging ?? null,
      problems: problemsOf(checked, guid),
      wiredOut,
      trace: view?.blocks.get(guid),
      covered,
      ...{ last, time, drafted },
      breakpoint: breakpoints.at.has(guid) ? (breakpoints.hold ? 'holds' : 'waits') : undefined,
      isPaused: paused.has(guid),
    },
  }
}

function coveredBy(block: CoveredBlock | undefined): BlockData['covered'] {
  if (!block) return undefined
  if (!block.ran) return 'missed'
  return block.ways.every(({ taken }) => taken) ? 'ran' : 'partly'
}

function traceWords(trace: BlockTrace | undefined): string {
  if (!trace) return ''
  const { state, order, message } = trace
  if (state === 'idle') return canvasTexts.didNotRun
  if (state === 'fixed') return canvasTexts.itsValueIsFixed
  return canvasTexts.stepOf(order, state === 'ran' ? '' : `, ${state}`, message === '' ? '' : `: ${message}`)
}

function lastText(last: BlockLast | undefined): string {
  return last ? `, ${lastWords[last.run.recorded_as]}${last.isChanged ? canvasTexts.changedSince : ''}` : ''
}

function noteNode(note: BlueprintNote, selected: boolean): NoteNodeType {
  return {
    id: `note:${note.id}`,
    type: 'note',
    position: note.position,
    ...note.size,
    measured: note.size,
    selected,
    zIndex: note.kind === 'group' ? -2 : -1,
    ariaLabel: `${note.kind === 'group' ? canvasTexts.group : canvasTexts.remark}: ${note.text}`,
    data: { note },
  }
}

function sameBlock(a: BlockNodeType, b: BlockNodeType): boolean {
  return (
    a.data.content === b.data.content &&
    a.data.description === b.data.description &&
    sameShown(a.data.shown, b.data.shown) &&
    a.data.words.title === b.data.words.title &&
    a.data.words.kind === b.data.words.kind &&
    a.data.staging === b.data.staging &&
    a.data.wiredOut === b.data.wiredOut &&
    a.data.breakpoint === b.data.breakpoint &&
    a.data.isPaused === b.data.isPaused &&
    a.data.covered === b.data.covered &&
    a.data.drafted === b.data.drafted &&
    sameTrace(a.data.trace, b.data.trace) &&
    sameLast(a.data.last, b.data.last) &&
    sameTime(a.data.time, b.data.time) &&
    a.selected === b.selected &&
    sameProblems(a.data.problems, b.data.problems)
  )
}

function sameNote(a: NoteNodeType, b: NoteNodeType): boolean {
  return a.data.note === b.data.note && a.selected === b.selected
}

function sameProblems(a: BlockData['problems'], b: BlockData['problems']): boolean {
  return (
    a.length === b.length &&
    a.every(({ message, pin, level }, at) => {
      const other = b[at]
      return message === other?.message && pin === other.pin && level === other.level
    })
  )
}

function sameShown(a: ShownPins, b: ShownPins): boolean {
  return a === b || (sameList(a.in, b.in) && sameList(a.out, b.out) && a.isUnfolded === b.isUnfolded)
}

function sameList(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((one, at) => one === b[at])
}

/** One text for the same pins, so that it can be compared. */
function usedText(pins: ReadonlySet<string> | undefined): string {
  return pins ? `|${[...pins].sort().join('|')}|` : ''
}
