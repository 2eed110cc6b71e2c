import { useReactFlow, useStoreApi, type Viewport } from '@xyflow/react'
import { useCallback } from 'react'
import { leadInto, presentFolds } from '../folds/fold-commands.ts'
import { LEAST_READABLE, laneView, openingView } from '../model/places/opening-view.ts'
import { useEditor } from '../state/editor-context.ts'

/** Where the canvas stands when it opens, and how it goes to a lane. */
export function useOpeningView() {
  const editor = useEditor()
  const canvas = useStoreApi()
  const { setViewport, getZoom } = useReactFlow()
  const open = useCallback(() => {
    const { drawing, catalogue, seen, focus, selection } = editor.store.getState()
    const { width, height } = canvas.getState()
    const [chosen = ''] = focus.count > 0 ? selection : []
    leadInto(editor, chosen)
    const screen = { width, height }
    void setViewport(
      drawing.flow.has(chosen)
        ? laneView(drawing.flow, catalogue, chosen, screen, 1)
        : (seen ?? openingView(drawing.flow, catalogue, screen, presentFolds(editor.store.getState()))),
    )
  }, [editor, canvas, setViewport])
  const jump = useCallback(
    (trigger: string) => {
      const { drawing, catalogue } = editor.store.getState()
      const { width, height } = canvas.getState()
      const zoom = Math.max(getZoom(), LEAST_READABLE)
      leadInto(editor, trigger)
      editor.select([trigger])
      void setViewport(laneView(drawing.flow, catalogue, trigger, { width, height }, zoom))
    },
    [editor, canvas, setViewport, getZoom],
  )
  /** All of it where it stays readable, else its first lane. */
  const start = useCallback(() => {
    const { drawing, catalogue } = editor.store.getState()
    const { width, height } = canvas.getState()
    const folds = presentFolds(editor.store.getState())
    void setViewport(openingView(drawing.flow, catalogue, { width, height }, folds))
  }, [editor, canvas, setViewport])
  const left = useCallback((_event: unknown, seen: Viewport) => editor.set({ seen }), [editor])
  return { open, start, jump, left }
}
