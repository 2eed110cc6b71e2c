/**
 * What a block does, as a short text: the same for two states of a block that give the same. A run keeps the marks of its
 * blocks, so that the studio can say which of them were changed since. Its name, titles and place do not count, nor do the
 * names that expressions have for other blocks.
 */
import type { BlockContent, SavedInPin } from '../../shared/blueprint.ts'
import type { JsonValue } from '../../shared/json.ts'
import { renameNames } from './rename-names.ts'

export function blockMark({ type, in_pins, custom_out_pins, fields }: BlockContent): string {
  const pins = in_pins.flatMap((pin) => (isEmpty(pin) ? [] : [[pin.id, held(pin)]]))
  const added = custom_out_pins.map((pin) => [pin.id, pin.type])
  return digest(JSON.stringify([type, pins.toSorted(byId), added, inOrder(fields)]))
}

type Held = (JsonValue | undefined)[]

function held(pin: SavedInPin): Held {
  const { from = [], value, expression } = pin
  if (expression !== undefined) return ['=', byGuid(pin)]
  return from.length > 0 ? ['from', ...from.map(({ block, pin }) => `${block} ${pin}`)] : [inOrder(value)]
}

function isEmpty({ from = [], value, expression }: SavedInPin): boolean {
  return from.length === 0 && value === undefined && expression === undefined
}

/** The text with guids in place of names. */
function byGuid({ expression = '', refs = {} }: SavedInPin): string {
  return renameNames(expression, (name) => (Object.hasOwn(refs, name) ? refs[name] : undefined))
}

function byId([a]: (string | Held)[], [b]: (string | Held)[]): number {
  return String(a) < String(b) ? -1 : 1
}

/** With the keys of objects in order. */
function inOrder(value: JsonValue | undefined): JsonValue | undefined {
  if (Array.isArray(value)) return value.map((one) => inOrder(one) ?? null)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).flatMap(([key, one]): [string, JsonValue][] => {
    const inner = inOrder(one)
    return inner === undefined ? [] : [[key, inner]]
  })
  return entries.toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([key, one]) => [key, one])
}

/** 64 bits of FNV-1a, in two halves that begin differently. No secret depends on it. */
function digest(text: string): string {
  let [one, other] = [0x811c9dc5, 0xcbf29ce4]
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    one = Math.imul(one ^ code, 0x01000193)
    other = Math.imul(other ^ (code + at), 0x01000193)
  }
  return (one >>> 0).toString(36) + (other >>> 0).toString(36)
}
