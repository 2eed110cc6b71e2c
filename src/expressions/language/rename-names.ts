import type { BlockContent, SavedInPin } from '../../shared/blueprint.ts'
import type { JsonValue } from '../../shared/json.ts'
import { type Argument, type Entry, type NameRead, partsOf, type Spread } from './expression.ts'
import { parseExpression } from './parse-expression.ts'

/**
 * The text with other names for what it reads; every other character stays. `renamed` gives the new name, or undefined for
 * a name that stays. A text that is no expression comes back as it is.
 */
export function renameNames(
  text: string,
  renamed: (name: string, inBlocks: boolean) => string | undefined,
): string {
  const { expression } = parseExpression(text)
  if (!expression) return text
  const changes: { readonly at: NameRead['at']; readonly text: string }[] = []
  const visit = (part: Argument | Entry | Spread) => {
    if (part.kind === 'name') {
      const name = renamed(part.name, part.inBlocks)
      if (name !== undefined) changes.push({ at: part.at, text: name })
    } else if (part.kind === 'entry' && part.shorthand && part.value.kind === 'name') {
      const name = renamed(part.value.name, false)
      if (name !== undefined) changes.push({ at: part.value.at, text: `${part.key}: ${name}` })
    } else for (const one of partsOf(part)) visit(one)
  }
  visit(expression.root)
  let result = text
  for (const change of changes.toSorted((a, b) => b.at.start - a.at.start))
    result = result.slice(0, change.at.start) + change.text + result.slice(change.at.end)
  return result
}

/**
 * What a block does, as a short text: the same for two states of a block that give the same. A run keeps the marks of its
 * blocks, so that the studio can say which of them were changed since. Its name, titles and place do not count, nor do the
 * names that expressions have for other blocks.
 */
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
