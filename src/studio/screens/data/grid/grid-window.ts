/** Which rows and columns of a grid are drawn: those that can be seen, and a few around them. */
import { type RefObject, useEffect, useState } from 'react'

export const ROW_HEIGHT = 36
/** Of the cells that a row begins with: its box and its link. */
export const ROW_HEAD = 74
const EXTRA = 6
const EXTRA_PIXELS = 300

export interface GridWindow {
  readonly fromRow: number
  /** Exclusive, as below. */
  readonly toRow: number
  readonly fromColumn: number
  readonly toColumn: number
}

export interface Seen {
  readonly top: number
  readonly left: number
  readonly height: number
  readonly width: number
}

export function windowOf(seen: Seen, rows: number, lefts: readonly number[]): GridWindow {
  const fromRow = Math.max(0, Math.floor(seen.top / ROW_HEIGHT) - EXTRA)
  const toRow = Math.min(rows, Math.ceil((seen.top + seen.height) / ROW_HEIGHT) + EXTRA)
  const [begin, end] = [seen.left - EXTRA_PIXELS, seen.left + seen.width + EXTRA_PIXELS]
  const first = lefts.findIndex((_, i) => (lefts[i + 1] ?? Number.POSITIVE_INFINITY) > begin)
  const behind = lefts.findIndex((left) => left > end)
  return {
    fromRow,
    toRow: Math.max(fromRow, toRow),
    fromColumn: Math.max(0, first),
    toColumn: behind < 0 ? lefts.length : behind,
  }
}

/** Where each column begins, and behind the last one where all end. */
export function columnLefts(widths: readonly number[]): readonly number[] {
  const lefts = [0]
  for (const width of widths) lefts.push((lefts.at(-1) ?? 0) + width)
  return lefts
}

export function useGridWindow(
  scroller: RefObject<HTMLElement | null>,
  rows: number,
  lefts: readonly number[],
): GridWindow {
  const [seen, setSeen] = useState<Seen>({ top: 0, left: 0, height: 800, width: 1600 })
  useEffect(() => {
    const element = scroller.current
    if (!element) return
    const look = () =>
      setSeen({
        top: element.scrollTop,
        left: element.scrollLeft,
        height: element.clientHeight,
        width: element.clientWidth,
      })
    look()
    const size = new ResizeObserver(look)
    size.observe(element)
    element.addEventListener('scroll', look, { passive: true })
    return () => {
      size.disconnect()
      element.removeEventListener('scroll', look)
    }
  }, [scroller])
  return windowOf(seen, rows, lefts.slice(0, -1))
}
