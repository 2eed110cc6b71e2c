/**
 * Which blocks an expression names. The text has the names that blocks have now; the guids beside it say which blocks they
 * are, so that renaming, saving or discarding one block never makes another one mean something else.
 */
import { namesOf } from '../../expressions/language/expression-names.ts'
import { parseExpression } from '../../expressions/language/parse-expression.ts'
import { renameNames } from '../../expressions/language/rename-names.ts'
import type { SavedInPin } from '../../shared/blueprint.ts'
import { isReservedName } from '../../shared/names/block-name.ts'

/** Name of each block by its guid. */
export type Names = ReadonlyMap<string, string>

/** Makes the references of one pin after another. `before`: the names when the texts were written. */
export function referrer(before: Names, after: Names): (pin: SavedInPin) => SavedInPin {
  let guids: ReadonlyMap<string, string> | undefined
  return (pin) => {
    if (pin.expression === undefined) return pin
    guids ??= new Map([...before].map(([guid, name]) => [name, guid]))
    return referring(pin, pin.expression, guids, after)
  }
}

/**
 * The pin with its references: those that were given stay, the others are found by `guids`, by the names when the text was
 * written; the text gets the names of `after`. The same pin when nothing changes, or when its text is no expression.
 */
function referring(
  pin: SavedInPin,
  text: string,
  guids: ReadonlyMap<string, string>,
  after: Names,
): SavedInPin {
  const { expression } = parseExpression(text)
  if (!expression) return pin
  const refs: Record<string, string> = {}
  const renamed = new Map<string, string>()
  for (const { name, inBlocks } of namesOf(expression)) {
    if (!inBlocks && isReservedName(name)) continue
    const given = pin.refs && Object.hasOwn(pin.refs, name) ? pin.refs[name] : undefined
    const guid = given !== undefined && after.has(given) ? given : guids.get(name)
    if (guid === undefined) continue
    const now = after.get(guid) ?? name
    refs[now] = guid
    if (now !== name) renamed.set(name, now)
  }
  const rewritten =
    renamed.size === 0 ? text : renameNames(text, (name, inBlocks) => nameIn(name, inBlocks, renamed))
  const { refs: _before, ...rest } = pin
  return { ...rest, expression: rewritten, ...(Object.keys(refs).length > 0 && { refs }) }
}

function nameIn(name: string, inBlocks: boolean, renamed: ReadonlyMap<string, string>): string | undefined {
  if (!inBlocks && isReservedName(name)) return undefined
  const now = renamed.get(name)
  return now !== undefined && !inBlocks && isReservedName(now) ? `blocks.${now}` : now
}
