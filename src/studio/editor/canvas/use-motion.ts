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
  return useMemo(() => {
    const onMoveStart: OnMove = (_event, seen) => {
      from.current = seen
      canvas.current?.setAttribute('data-moving', '')
    }
    const onMove: OnMove = (event, { x, y }) => {
      const began = from.current
      // Not for the wheel: a click may follow at once.
      if (!began || !event?.type.endsWith('move') || Math.hypot(x - began.x, y - began.y) < LEAST) return
      from.current = undefined
      canvas.current?.setAttribute('data-carried', '')
    }
    const onMoveEnd: OnMove = (event, seen) => {
      from.current = undefined
      canvas.current?.removeAttribute('data-moving')
      canvas.current?.removeAttribute('data-carried')
      left(event, seen)
    }
    return { onMoveStart, onMove, onMoveEnd }
  }, [canvas, left])
}
