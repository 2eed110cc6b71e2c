/** What the canvas shows beside the drawing, as this browser keeps it. */
import { isJsonObject, type JsonValue } from '../../../shared/json.ts'
import { place } from '../../api/saved-places.ts'

export interface CanvasShows {
  /** Values of the last run of each block. */
  readonly values: boolean
  /** Times of blocks in sampled runs. */
  readonly times: boolean
}

const KEY = 'quoin.canvas-shows'

export function savedShows(): CanvasShows {
  try {
    const saved: JsonValue = JSON.parse(place('localStorage')?.getItem(KEY) ?? '{}')
    const { values, times } = isJsonObject(saved) ? saved : {}
    return { values: values !== false, times: times === true }
  } catch {
    return { values: true, times: false }
  }
}

export function keepShows(shows: CanvasShows): void {
  try {
    place('localStorage')?.setItem(KEY, JSON.stringify(shows))
  } catch {
    // A browser that keeps nothing shows it until it is closed.
  }
}
