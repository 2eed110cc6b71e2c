import type { BlockContent } from '../blueprint.ts'
import { SECRET_NAME, SECRET_PIN } from '../names/stored-names.ts'

type Pinned = readonly Pick<BlockContent, 'in_pins'>[]

const isName = new RegExp(SECRET_NAME)
/** Pins of this id that carry a request are wired and hold no text. */
const CONNECTION_PIN = /^connection$/

/** The names of secrets that blocks use, sorted. Without the catalogue: ids of pins tell which ones hold secrets. */
export function secretNamesOf(blocks: Pinned): readonly string[] {
  return namesIn(blocks, SECRET_PIN)
}

/** The names of HTTP connections that blocks use, sorted. */
export function connectionNamesOf(blocks: Pinned): readonly string[] {
  return namesIn(blocks, CONNECTION_PIN)
}

function namesIn(blocks: Pinned, called: RegExp): readonly string[] {
  const names = new Set<string>()
  for (const { in_pins: pins } of blocks)
    for (const { id, value } of pins)
      if (called.test(id) && typeof value === 'string' && isName.test(value)) names.add(value)
  return [...names].sort()
}
