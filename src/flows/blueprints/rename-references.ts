import { isDeepStrictEqual } from 'node:util'
import { blockRecords, type RecordContext } from '../../records/records.ts'
import type { SavedInPin } from '../../shared/blueprint.ts'
import type { Pause } from '../../shared/in-turns.ts'
import type { JsonObject, JsonValue } from '../../shared/json.ts'
import { setFields } from '../../shared/mutation.ts'
import { documentOf, type Session } from '../../storage/database.ts'
import { guidOf, textIn } from '../../storage/document-fields.ts'
import { ownStorages } from '../../storage/own-storages.ts'
import { type Names, referrer } from './expression-references.ts'
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
    const written = await session.update(ownStorages.blocks, guidOf(record), setFields(fields))
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
