import { isDeepStrictEqual } from 'node:util'
import { namesOf } from '../../expressions/language/expression.ts'
import { parseExpression } from '../../expressions/language/parse-expression.ts'
import { renameNames } from '../../expressions/language/rename-names.ts'
import { blockRecords, type RecordContext } from '../../records/records.ts'
import type { SavedInPin } from '../../shared/blueprint.ts'
import type { Pause } from '../../shared/cooperative.ts'
import type { JsonObject, JsonValue } from '../../shared/json.ts'
import { setFields } from '../../shared/mutation.ts'
import { isReservedName } from '../../shared/names/block-name.ts'
import { documentOf, type Session } from '../../storage/database.ts'
import { guidOf, textIn } from '../../storage/document-fields.ts'
import { systemStorages } from '../../storage/system-storages.ts'
import { changeOf, isChanged, stagedContent } from './staged-content.ts'

/** The names that blocks have, counting what is staged. */
export function namesOfRecords(records: readonly JsonObject[]): Names {
  return new Map(
    records
      .filter((record) => changeOf(record) !== 'removed')
      .map((record) => [guidOf(record), textIn((isChanged(record) ? record.unsaved : record).name)]),
  )
}

/**
 * Writes the names of `after` into the expressions of a blueprint's blocks, saved and staged, where a block had another one
 * in `before`. It is notation and no change of the block: nothing is staged by it. Gives the blocks it touched.
 */
export async function renameReferences(
  context: RecordContext,
  session: Session,
  { blueprint, before, after }: { readonly blueprint: string; readonly before: Names; readonly after: Names },
  pause: Pause,
): Promise<JsonObject[]> {
  if ([...after].every(([guid, name]) => (before.get(guid) ?? name) === name)) return []
  const refer = referrer(before, after)
  const touched: JsonObject[] = []
  for (const record of await blockRecords(session, blueprint, pause)) {
    await pause()
    const saved = rewritten(context.readContent(record).in_pins, refer)
    const staged = isChanged(record) ? rewritten(stagedContent(context, record).in_pins, refer) : undefined
    if (!saved && !staged) continue
    const fields = { ...(saved && { in_pins: saved }), ...(staged && { 'unsaved.in_pins': staged }) }
    const written = await session.update(systemStorages.blocks, guidOf(record), setFields(fields))
    if (written.outcome === 'written') touched.push(documentOf(written.document))
  }
  return touched
}

/** Undefined when nothing changes. */
function rewritten(
  pins: readonly SavedInPin[],
  refer: (pin: SavedInPin) => SavedInPin,
): JsonValue[] | undefined {
  const now = pins.map(refer)
  return isDeepStrictEqual(now, pins) ? undefined : JSON.parse(JSON.stringify(now))
}

/** What a change touched, each block as it is after its references were renamed. */
export function withNewest(touched: readonly JsonObject[], renamed: readonly JsonObject[]): JsonObject[] {
  return [...new Map([...touched, ...renamed].map((record) => [guidOf(record), record])).values()]
}

// Which blocks an expression names. The text has the names that blocks have now; the guids beside it say which blocks they
// are, so that renaming, saving or discarding one block never makes another one mean something else.

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
    const input = pin.refs && Object.hasOwn(pin.refs, name) ? pin.refs[name] : undefined
    const guid = input !== undefined && after.has(input) ? input : guids.get(name)
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
