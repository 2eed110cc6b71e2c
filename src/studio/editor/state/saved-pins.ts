/** Pinned replies as the browser keeps them: block → run, for each blueprint. */
import { place } from '../../api/saved-places.ts'

export type PinnedReplies = ReadonlyMap<string, string>

/** The server takes no more. */
export const MOST_PINS = 50

const keyOf = (blueprint: string) => `quoin.pinned-replies.${blueprint}`

export function savedPins(blueprint: string): PinnedReplies {
  try {
    const saved: unknown = JSON.parse(place('localStorage')?.getItem(keyOf(blueprint)) ?? '[]')
    return new Map(Array.isArray(saved) ? saved.filter(isPair).slice(0, MOST_PINS) : [])
  } catch {
    return new Map()
  }
}

export function keepPins(blueprint: string, pins: PinnedReplies): void {
  try {
    if (pins.size === 0) place('localStorage')?.removeItem(keyOf(blueprint))
    else place('localStorage')?.setItem(keyOf(blueprint), JSON.stringify([...pins]))
  } catch {
    // A full place: the pins hold until the page is closed.
  }
}

function isPair(one: unknown): one is [string, string] {
  return Array.isArray(one) && one.length === 2 && one.every((text) => typeof text === 'string')
}
