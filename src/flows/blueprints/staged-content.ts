import type { RecordContext } from '../../records/records.ts'
import { type BlockContent, blockContent } from '../../shared/blueprint.ts'
import type { JsonObject, JsonValue } from '../../shared/json.ts'
import { isJsonObject } from '../../shared/json.ts'

export function changeOf(record: JsonObject): 'created' | 'updated' | 'removed' | undefined {
  const change = isJsonObject(record.unsaved) ? record.unsaved.change : undefined
  return change === 'created' || change === 'updated' || change === 'removed' ? change : undefined
}

/** The content as it would be if everything staged were saved. */
export function stagedContent(context: RecordContext, record: JsonObject): BlockContent {
  const staged = changeOf(record) === 'updated' && isJsonObject(record.unsaved) ? record.unsaved : record
  const { change: _change, by: _by, at: _at, ...content } = staged
  return context.readContent(pick(content))
}

function pick(record: JsonObject): JsonObject {
  return Object.fromEntries(Object.keys(blockContent).flatMap((name) => entryOf(name, record[name])))
}

/** What is missing is read as null, which fails, but for the name that blocks of former versions do not have. */
function entryOf(name: string, value: JsonValue | undefined): [string, JsonValue][] {
  return name === 'name' && value === undefined ? [] : [[name, value ?? null]]
}
