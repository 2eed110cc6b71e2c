import { blockRecords, type RecordContext, savedBlocks } from '../../records/records.ts'
import { type Block, type BlockContent, blockContent } from '../../shared/blueprint.ts'
import { pauses } from '../../shared/cooperative.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../shared/json.ts'
import type { Named } from '../../shared/names/block-name.ts'
import { guidOf, textIn } from '../../storage/document-fields.ts'

export function changeOf(record: JsonObject): 'created' | 'updated' | 'removed' | undefined {
  const change = isJsonObject(record.unsaved) ? record.unsaved.change : undefined
  return change === 'created' || change === 'updated' || change === 'removed' ? change : undefined
}

/** The content as it would be if everything staged were saved. */
export function stagedContent(context: RecordContext, record: JsonObject): BlockContent {
  const staged = isChanged(record) ? record.unsaved : record
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

/** What the names of blocks are made from, as it would be if everything staged were saved. */
export function namedRecords(records: readonly JsonObject[]): Named[] {
  return records
    .filter((record) => changeOf(record) !== 'removed')
    .map((record) => {
      const { name, title, type } = isChanged(record) ? record.unsaved : record
      const named = { guid: guidOf(record), title: textIn(title), type: textIn(type) }
      return typeof name === 'string' ? { ...named, name } : named
    })
}

export function isChanged(record: JsonObject): record is JsonObject & { readonly unsaved: JsonObject } {
  return changeOf(record) === 'updated' && isJsonObject(record.unsaved)
}

/** The blocks as they are saved, or as they would be if everything staged were. */
export async function candidateBlocks(
  context: RecordContext,
  blueprint: string,
  state: 'saved' | 'staged',
): Promise<Block[]> {
  const session = context.database.session()
  if (state === 'saved') return savedBlocks(context, session, blueprint)
  const pause = pauses()
  const blocks: Block[] = []
  for (const record of await blockRecords(session, blueprint, pause)) {
    if (changeOf(record) !== 'removed')
      blocks.push({ guid: guidOf(record), ...stagedContent(context, record) })
    await pause()
  }
  return blocks
}
