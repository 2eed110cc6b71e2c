import { useQuery } from '@tanstack/react-query'
import type { Edge } from '@xyflow/react'
import { useEffect, useMemo, useRef, useState } from 'react'
import type { PinType } from '../../../shared/pin-type.ts'
import { draftsOf } from '../../api/applications.ts'
import { canvasTexts } from '../../texts/canvas.ts'
import { referencesOf } from '../expressions/references.ts'
import { drawnEnd, type Folds } from '../folds/folds.ts'
import { useFolds } from '../folds/use-folds.ts'
import type { Catalogue } from '../model/block-description.ts'
import { type Flow, wireId, wiresOf } from '../model/flow.ts'
import { carriedType, pinsOf } from '../model/pins/pins.ts'
import { glance } from '../model/runs/glance.ts'
import type { RunView } from '../model/runs/run-view.ts'
import { pinLooks } from '../pins/pin-look.ts'
import { usePausedRuns, useShownRun } from '../runs/run-queries.ts'
import { useBreakpoints } from '../runs/use-breakpoints.ts'
import { useChecks, useEditorState } from '../state/editor-context.ts'
import { crossWires } from '../stubs/cross-wires.ts'
import { useBlockTimes } from '../values/block-time.ts'
import { useLastValues } from '../values/use-last-values.ts'
import { type CanvasNode, type CoveredBlock, nodeMaker } from './canvas-nodes.ts'

/** The nodes as the state has them, and as they are while something is being dragged; and the wires. */
export function useCanvasGraph() {
  const flow = useEditorState(({ drawing }) => drawing.flow)
  const notes = useEditorState(({ drawing }) => drawing.notes)
  const catalogue = useEditorState((state) => state.catalogue)
  const known = useEditorState((state) => state.known)
  const checked = useChecks()
  const selection = useEditorState((state) => state.selection)
  const unfolded = useEditorState((state) => state.unfolded)
  const { view, shown } = useShownRun()
  const values = useLastValues()
  const showsValues = useEditorState((state) => state.shows.values)
  const coverage = useCoverage(shown !== undefined)
  const last = shown || coverage || !showsValues ? undefined : values
  const times = useBlockTimes().byBlock
  const { at, hold } = useBreakpoints()
  const paused = usePausedBlocks()
  const drafted = useDraftedBlocks()
  const folds = useFolds()
  const make = useRef(nodeMaker())
  const made = useMemo(() => {
    const breakpoints = { at, hold }
    return make.current({
      ...{
        flow,
        notes,
        catalogue,
        known,
        checked,
        selection,
        unfolded,
        view,
        coverage,
        last,
        times,
        breakpoints,
        paused,
        drafted,
        folds,
      },
    })
  }, [
    flow,
    notes,
    catalogue,
    known,
    checked,
    selection,
    unfolded,
    view,
    coverage,
    last,
    times,
    at,
    hold,
    paused,
    drafted,
    folds,
  ])
  const [nodes, setNodes] = useState<CanvasNode[]>(made)
  useEffect(() => {
    // What is in the hand stays there.
    setNodes((now) => {
      const held = new Map(now.filter(({ dragging }) => dragging).map((node) => [node.id, node.position]))
      if (held.size === 0) return made
      return made.map((node) => {
        const position = held.get(node.id)
        return position ? { ...node, position, dragging: true } : node
      })
    })
  }, [made])
  const selectedWires = useEditorState((state) => state.selectedWires)
  const makeEdges = useRef(edgeMaker())
  const edges = useMemo(
    (): Edge[] => makeEdges.current({ flow, catalogue, view, coverage, selection, folds }, selectedWires),
    [flow, catalogue, view, coverage, selection, folds, selectedWires],
  )
  return { nodes, setNodes, edges }
}

/** What the tests ran, by block, beside their results. A run that is shown comes first. */
function useCoverage(isRunShown: boolean): ReadonlyMap<string, CoveredBlock> | undefined {
  const tested = useEditorState((state) => (state.panel === 'tests' ? state.tested : undefined))
  return useMemo(
    () =>
      tested && !isRunShown
        ? new Map(tested.coverage.blocks.map((one) => [one.block, one] as const))
        : undefined,
    [tested, isRunShown],
  )
}

function usePausedBlocks(): ReadonlySet<string> {
  const { data } = usePausedRuns()
  return useMemo(() => new Set(data?.map(({ block }) => block)), [data])
}

/** By block, who has changed it in a draft: the last one who did. */
function useDraftedBlocks(): ReadonlyMap<string, string> {
  const guid = useEditorState((state) => state.guid)
  const { data } = useQuery({ ...draftsOf(guid), enabled: guid !== '' })
  return useMemo(
    () =>
      new Map(
        (data ?? [])
          .toReversed()
          .flatMap(({ agent, author, blocks }) =>
            blocks.map((block) => [block, canvasTexts.draftedBy(agent, author.username)] as const),
          ),
      ),
    [data],
  )
}

interface NodeContext {
  readonly flow: Flow
  readonly catalogue: Catalogue
  /** The shown run. */
  readonly view: RunView | undefined
  /** What the tests ran; undefined while it is not shown. */
  readonly coverage: ReadonlyMap<string, CoveredBlock> | undefined
  /** References from and to selected blocks are drawn in full. */
  readonly selection: ReadonlySet<string>
  /** Wires from and to what is collapsed lead to its box; those inside of one are not drawn. */
  readonly folds: Folds
}

/** The wires as the canvas draws them; one that is as before is the same object. */
function edgeMaker(): (input: NodeContext, selected: ReadonlySet<string>) => Edge[] {
  let before = new Map<string, Edge>()
  return ({ flow, catalogue, view, coverage, selection, folds }, selected) => {
    const next = new Map<string, Edge>()
    const references = new Set(referencesOf(flow))
    const stubs = crossWires(flow, catalogue).ids
    for (const wire of [...wiresOf(flow), ...references]) {
      const source = flow.get(wire.from.block)
      const target = flow.get(wire.to.block)
      const out = source && pinsOf(source, catalogue).out.get(wire.from.pin)
      const into = target && pinsOf(target, catalogue).in.get(wire.to.pin)
      if (!out || !into) continue
      const start = drawnEnd(folds, 'out', wire.from)
      const end = drawnEnd(folds, 'in', wire.to)
      if (start.node === end.node && start.node !== wire.from.block) continue
      const id = wireId(wire)
      const times = view?.wires.get(id)
      const isReference = references.has(wire)
      const isSelected = selected.has(id)
      // What expressions read, and where long wires to other lanes lead, is told in the blocks; lines for it are drawn for
      // what is selected and for what the shown run took.
      const isReported = isReference || (stubs.has(id) && !times && !isSelected)
      if (isReported && !selection.has(start.node) && !selection.has(end.node)) continue
      const way = coverage?.get(wire.from.block)?.ways.find(({ pin }) => pin === wire.from.pin)
      const lit = way?.taken ?? (view && (times ?? 0) > 0)
      const look = edgeClass(carriedType(out, into.type), lit, way !== undefined)
      const className = isReference ? `${look} wire-reference` : look
      const carried = view && times ? view.blocks.get(wire.to.block)?.step?.in[wire.to.pin] : undefined
      const ariaLabel = canvasTexts.wireName(
        isReference ? canvasTexts.reference : canvasTexts.wire,
        wire.from.pin,
        wire.to.pin,
        way ? canvasTexts.way(way.taken) : carriedWords(view, times, carried),
      )
      const old = before.get(id)
      const isSamePlace =
        old?.source === start.node &&
        old.target === end.node &&
        old.sourceHandle === start.handle &&
        old.targetHandle === end.handle
      if (
        isSamePlace &&
        old.selected === isSelected &&
        old.className === className &&
        old.ariaLabel === ariaLabel
      ) {
        next.set(id, old)
        continue
      }
      next.set(id, {
        id,
        type: isReference ? 'default' : 'wire',
        source: start.node,
        sourceHandle: start.handle,
        target: end.node,
        targetHandle: end.handle,
        selected: isSelected,
        className,
        data: { wire },
        ariaLabel,
        // It is changed where the expression is written.
        ...(isReference && {
          selectable: false,
          focusable: false,
          reconnectable: false,
          deletable: false,
          interactionWidth: 0,
        }),
      })
    }
    before = next
    return [...next.values()]
  }
}

/** `lit`: whether it carried something in the run that is shown, or a test took it; undefined while neither is shown. `isWay`: tests can take it. */
function edgeClass(type: PinType, lit: boolean | undefined, isWay: boolean): string {
  const look = `wire wire-${pinLooks[type].color}`
  const idle = isWay ? 'wire-missed' : 'wire-idle'
  return lit === undefined ? look : `${look} ${lit ? 'wire-lit' : idle}`
}

function carriedWords(view: RunView | undefined, times: number | undefined, carried: unknown): string {
  if (!view) return ''
  if (times === undefined) return canvasTexts.carriedNoValue
  return carried === undefined ? canvasTexts.taken : canvasTexts.carried(glance(carried, 60))
}
