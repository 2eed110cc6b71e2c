import type { OnMove, Viewport } from '@xyflow/react'
import { type RefObject, useMemo, useRef } from 'react'

/** So many pixels of the screen are a movement; a hand that shakes while it clicks makes fewer. */
const LEAST = 4

/**
 * Marks the canvas while it moves: `data-moving` from the press on, so that it is a layer of its own, and `data-carried` once
 * it has moved. Then nothing in it is under the pointer: to find what is would take 2.4 ms for each event with 500 blocks.
 */
export function useMotion(canvas: RefObject<HTMLElement | null>, left: OnMove) {
  const from = useRef<Viewport>(undefined)
  const began = useRef(0)
  return useMemo(() => {
    const onMoveStart: OnMove = (event, seen) => {
      from.current = seen
      began.current = event?.timeStamp ?? 0
      canvas.current?.setAttribute('data-moving', '')
    }
    const onMove: OnMove = (event, { x, y }) => {
      const start = from.current
      // Not for the wheel: a click may follow at once.
      if (!start || !event?.type.endsWith('move') || Math.hypot(x - start.x, y - start.y) < LEAST) return
      from.current = undefined
      canvas.current?.setAttribute('data-carried', '')
    }
    const onMoveEnd: OnMove = (event, seen) => {
      // The end of a click is told by a timer, on a busy machine after the next press, whose movement goes on.
      if (event && event.timeStamp < began.current) return
      from.current = undefined
      canvas.current?.removeAttribute('data-moving')
      canvas.current?.removeAttribute('data-carried')
      left(event, seen)
    }
    return { onMoveStart, onMove, onMoveEnd }
  }, [canvas, left])
}
