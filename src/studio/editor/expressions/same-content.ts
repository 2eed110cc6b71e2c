import { renameNames } from '../../../expressions/language/rename-names.ts'
import type { BlockContent, SavedInPin } from '../../../shared/blueprint.ts'
import { sameJson } from '../../../shared/json.ts'

/**
 * Whether two contents of a block mean the same. The server gives a name to a block that has none, and expressions are printed
 * with the names that blocks have now: neither is a change.
 */
export function sameContent(a: BlockContent | null, b: BlockContent | null): boolean {
  if (!a || !b || sameJson(a, b)) return sameJson(a, b)
  const sameName = a.name === undefined || b.name === undefined || a.name === b.name
  return (
    sameName &&
    sameJson({ ...a, name: '', in_pins: [] }, { ...b, name: '', in_pins: [] }) &&
    a.in_pins.length === b.in_pins.length &&
    a.in_pins.every((pin, at) => samePin(pin, b.in_pins[at]))
  )
}

export function samePin(a: SavedInPin | undefined, b: SavedInPin | undefined): boolean {
  if (!a || !b || a.expression === undefined || b.expression === undefined) return sameJson(a, b)
  const held = ({ id, from, value }: SavedInPin) => ({ id, from, value })
  return sameJson(held(a), held(b)) && byGuid(a) === byGuid(b)
}

/** The text with guids in place of names: no expression, but the same text for the same meaning. */
function byGuid({ expression = '', refs = {} }: SavedInPin): string {
  return renameNames(expression, (name) => (Object.hasOwn(refs, name) ? refs[name] : undefined))
}
