/** Expressions with the names that blocks have now. What is stored counts by guid, so a new name is no change of these pins. */
import { parseExpression } from '../../../expressions/language/parse-expression.ts'
import { renameNames } from '../../../expressions/language/rename-names.ts'
import type { BlockContent, SavedInPin } from '../../../shared/blueprint.ts'
import type { Flow } from '../model/flow.ts'
import { namesInFlow, type Refs } from './block-refs.ts'
import { blockUses, isScopeName, parsedPin } from './parsed-pin.ts'

/** The same flow where every expression has the present names. */
export function withPresentNames(flow: Flow): Flow {
  const names = namesInFlow(flow)
  const changed = new Map<string, BlockContent>()
  for (const [guid, content] of flow) {
    const in_pins = content.in_pins.map((pin) => withNames(pin, names))
    if (in_pins.some((pin, at) => pin !== content.in_pins[at])) changed.set(guid, { ...content, in_pins })
  }
  if (changed.size === 0) return flow
  return new Map([...flow].map(([guid, content]) => [guid, changed.get(guid) ?? content]))
}

/**
 * The pin with other names for the blocks that its expression refers to. `names`: by guid; a guid without one keeps its name.
 * A text that is no expression yet stays: its names are found by `refs` once it is finished.
 */
export function withNames(pin: SavedInPin, names: ReadonlyMap<string, string>): SavedInPin {
  const { expression, refs } = pin
  if (expression === undefined || !refs) return pin
  const entries = Object.entries(refs)
  const renamed = new Map(
    entries.flatMap(([name, guid]): [string, string][] => {
      const now = names.get(guid)
      return now === undefined || now === name ? [] : [[name, now]]
    }),
  )
  if (renamed.size === 0 || !parsedPin(pin).expression) return pin
  const next: Refs = Object.fromEntries(entries.map(([name, guid]) => [renamed.get(name) ?? name, guid]))
  return { ...pin, expression: renamedText(expression, renamed), refs: next }
}

/** A new name that means something else where it stands, such as `item`, is written `blocks.item`. */
function renamedText(text: string, renamed: ReadonlyMap<string, string>): string {
  const plain = renameNames(text, (name, inBlocks) => {
    if (!inBlocks && isScopeName(name)) return undefined
    const now = renamed.get(name)
    return now !== undefined && !inBlocks && isScopeName(now) ? `blocks.${now}` : now
  })
  if (usesOf(plain) === usesOf(text)) return plain
  // A parameter of an arrow function has the name.
  return renameNames(text, (name, inBlocks) => {
    if (!inBlocks && isScopeName(name)) return undefined
    const now = renamed.get(name)
    return now === undefined || inBlocks ? now : `blocks.${now}`
  })
}

function usesOf(text: string): number {
  const { expression } = parseExpression(text)
  return expression ? blockUses(expression).length : 0
}
