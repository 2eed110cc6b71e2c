import { type FitViewOptions, useStore } from '@xyflow/react'
import { useMemo } from 'react'
import { laneList } from '../model/lane-list.ts'
import { LIST, MARGIN, WIDE } from '../model/places/opening-view.ts'
import { useEditorState } from '../state/editor-context.ts'

/** How everything is shown at once: beside the list of lanes, not below it. */
export function useFitOptions(): FitViewOptions {
  const flow = useEditorState(({ drawing }) => drawing.flow)
  const catalogue = useEditorState((state) => state.catalogue)
  const isWide = useStore(({ width }) => width > WIDE)
  return useMemo(() => {
    const hasList = isWide && laneList(flow, catalogue).length > 1
    const [margin, list] = [`${MARGIN}px`, `${LIST}px`] as const
    return { maxZoom: 1, padding: hasList ? { x: margin, y: margin, left: list } : 0.15 }
  }, [flow, catalogue, isWide])
}
