import type { Edge } from '@xyflow/react'
import { useEffect, useMemo, useRef, useState } from 'react'
import { useFolds } from '../folds/use-folds.ts'
import { usePausedRuns, useShownRun } from '../runs/run-queries.ts'
import { useBreakpoints } from '../runs/use-breakpoints.ts'
import { useChecks, useEditorState } from '../state/editor-context.ts'
import { useBlockTimes } from '../values/use-block-times.ts'
import { useLastValues } from '../values/use-last-values.ts'
import { edgeMaker } from './canvas-edges.ts'
import { type CanvasNode, nodeMaker } from './canvas-nodes.ts'

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
  const last = shown || !showsValues ? undefined : values
  const times = useBlockTimes().byBlock
  const { at, hold } = useBreakpoints()
  const paused = usePausedBlocks()
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
        last,
        times,
        breakpoints,
        paused,
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
    last,
    times,
    at,
    hold,
    paused,
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
    (): Edge[] => makeEdges.current({ flow, catalogue, view, selection, folds }, selectedWires),
    [flow, catalogue, view, selection, folds, selectedWires],
  )
  return { nodes, setNodes, edges }
}

function usePausedBlocks(): ReadonlySet<string> {
  const { data } = usePausedRuns()
  return useMemo(() => new Set(data?.map(({ block }) => block)), [data])
}
