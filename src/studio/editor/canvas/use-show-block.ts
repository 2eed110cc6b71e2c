import { useReactFlow, useStore, useStoreApi } from '@xyflow/react'
import { useCallback, useEffect, useRef } from 'react'
import { moving } from '../../theme/motion.ts'
import { leadInto } from '../folds/fold-commands.ts'
import { sizeOf } from '../model/places/node-geometry.ts'
import { useShownRun } from '../runs/run-queries.ts'
import { useEditor, useEditorState } from '../state/editor-context.ts'

/** Brings a block into sight that was added, or chosen elsewhere: in the outline, from a problem, by a link. */
export function useShowSelected(): void {
  const show = useShowBlock(LEAST_TITLE)
  const focus = useEditorState((state) => state.focus)
  const { store } = useEditor()
  useEffect(() => {
    if (focus.count === 0) return
    const [guid = ''] = store.getState().selection
    show(guid)
  }, [focus, store, show])
  // The panel of what is selected makes the canvas of a phone lower, after the block was brought into sight.
  const height = useStore((canvas) => (canvas.width > WITHOUT_MAP ? 0 : canvas.height))
  const before = useRef(height)
  useEffect(() => {
    const isLower = height < before.current
    before.current = height
    const [guid, ...others] = store.getState().selection
    if (isLower && guid !== undefined && others.length === 0) show(guid)
  }, [height, store, show])
}

/** Brings what ran into sight when a run is shown, and the block of the step that is looked at or stands still. */
export function useShowRun(): void {
  const show = useShowBlock(LEAST_ZOOM)
  const { getNodes, getNodesBounds, setViewport } = useReactFlow()
  const canvas = useStoreApi()
  const { run, at, view } = useShownRun()
  const before = useRef('')
  const guid = run?.guid ?? ''
  const last = run?.status === 'paused' ? run.steps.at(-1) : undefined
  const block = (at === undefined ? last : run?.steps[at])?.block
  useEffect(() => {
    if (before.current === guid || !view || !run) return
    before.current = guid
    const ran = getNodes().filter(({ id, data }) => {
      const box = typeof data.ran === 'number' ? data.ran : 0
      return (view.blocks.get(id)?.order ?? box) > 0
    })
    if (ran.length === 0) return
    const { width, height, transform } = canvas.getState()
    const [x, y, zoom] = transform
    const box = getNodesBounds(ran)
    const left = box.x * zoom + x
    const top = box.y * zoom + y
    const isInSight =
      left >= 0 && top >= ROOM && left + box.width * zoom <= width && top + box.height * zoom <= height
    if (isInSight && zoom >= LEAST_ZOOM) return
    const fitting = Math.min((width - 2 * MARGIN) / box.width, (height - ROOM - MARGIN) / box.height)
    const near = Math.max(LEAST_ZOOM, Math.min(1, fitting))
    // What does not fit is seen from its beginning; of a run that failed, where it did.
    const failed = ran.find(({ id }) => id === run.error?.block)
    const seen = fitting < LEAST_ZOOM && failed ? getNodesBounds([failed]) : box
    const middle = seen.y + seen.height / 2
    const place = {
      x:
        fitting >= LEAST_ZOOM || failed
          ? width / 2 - (seen.x + seen.width / 2) * near
          : MARGIN - box.x * near,
      y: (height + ROOM) / 2 - middle * near,
      zoom: near,
    }
    void setViewport(place, { duration: moving(200) })
  }, [guid, view, run, canvas, getNodes, getNodesBounds, setViewport])
  useEffect(() => {
    if (block !== undefined) show(block)
  }, [block, show])
}

/** Titles can be read down to this, and values down to the next. */
const LEAST_TITLE = 0.35
const LEAST_ZOOM = 0.6
const STEP_ZOOM = 0.8
/** Of the bar above, in pixels. */
const ROOM = 60

/** Moves the canvas just so far that the block is in sight, and nearer if it is farther away than `least` allows. */
function useShowBlock(least = 0): (guid: string) => void {
  const { setViewport, getViewport, setCenter } = useReactFlow()
  const canvas = useStoreApi()
  const editor = useEditor()
  return useCallback(
    (guid) => {
      leadInto(editor, guid)
      const { drawing, catalogue } = editor.store.getState()
      const content = drawing.flow.get(guid)
      if (!content) return
      const { width, height } = canvas.getState()
      const { x, y, zoom } = getViewport()
      const size = sizeOf(drawing.flow, catalogue, guid)
      if (zoom < least) {
        const middle = { x: content.position.x + size.width / 2, y: content.position.y + size.height / 2 }
        void setCenter(middle.x, middle.y, { zoom: STEP_ZOOM, duration: moving(150) })
        return
      }
      const left = content.position.x * zoom + x
      const top = content.position.y * zoom + y
      const dx = shift(left, left + size.width * zoom, width)
      const dy = shift(top, top + size.height * zoom, height - (width > WITHOUT_MAP ? MAP : BUTTONS))
      if (dx !== 0 || dy !== 0) void setViewport({ x: x + dx, y: y + dy, zoom }, { duration: moving(150) })
    },
    [editor, canvas, least, setCenter, setViewport, getViewport],
  )
}

const MARGIN = 40
/** Of the small map below, in pixels. */
const MAP = 80
/** Of the buttons below where there is no map, beyond the margin. */
const BUTTONS = 15
/** Narrower canvases have none. */
const WITHOUT_MAP = 600

/** How far to go so that what reaches from one place to another is within the room; 0 where it is. */
function shift(from: number, to: number, room: number): number {
  if (from < MARGIN) return MARGIN - from
  return to > room - MARGIN ? Math.max(room - MARGIN - to, MARGIN - from) : 0
}
