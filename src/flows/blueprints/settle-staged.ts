/** Saves or forgets what is staged, as `block-staging.ts` has it: of one block, or of all blocks of a blueprint. */
import { type Actor, blockRecords, notFound, type RecordContext } from '../../records/records.ts'
import { isJsonObject, type JsonObject } from '../../shared/json.ts'
import { documentOf, type Session } from '../../storage/database.ts'
import { guidOf, textIn } from '../../storage/document-fields.ts'
import { systemStorages } from '../../storage/system-storages.ts'
import { drop, write } from './block-edits.ts'
import { changeBlocks } from './record-step.ts'
import { namesOfRecords, renameReferences, withNewest } from './rename-references.ts'
import { changeOf } from './staged-content.ts'

/** In one transaction. Gives the blocks it touched. */
export async function saveStaged(context: RecordContext, guid: string, by: Actor): Promise<JsonObject[]> {
  return settleStaged(context, guid, by, async (session, record) => {
    const block = guidOf(record)
    switch (changeOf(record)) {
      case 'created':
        return write(session, block, { is_created: true, unsaved: null, modified_by: { ...by } })
      case 'updated': {
        const staged = isJsonObject(record.unsaved) ? record.unsaved : {}
        const { change: _change, by: _by, at: _at, ...content } = staged
        return write(session, block, { ...content, unsaved: null, modified_by: { ...by } })
      }
      default: {
        const removed = await session.setRemoved(systemStorages.blocks, block, true)
        if (removed.outcome !== 'written') throw notFound(block, 'block')
        return documentOf(removed.document)
      }
    }
  })
}

/** In one transaction. Gives the blocks it touched. */
export async function discardStaged(context: RecordContext, guid: string, by?: Actor): Promise<JsonObject[]> {
  return settleStaged(context, guid, by, (session, record) => {
    if (changeOf(record) === 'created') return drop(session, guidOf(record))
    return write(session, guidOf(record), { unsaved: null })
  })
}

async function settleStaged(
  context: RecordContext,
  guid: string,
  by: Actor | undefined,
  settle: (session: Session, record: JsonObject) => Promise<JsonObject>,
): Promise<JsonObject[]> {
  const found = await context.database.session().get(systemStorages.blocks, guid)
  const blueprint = found ? textIn(documentOf(found).blueprint_guid) : guid
  return changeBlocks(context, blueprint, by, async (session, pause) => {
    const block = found && (await session.get(systemStorages.blocks, guid))
    if (!block && (found || !(await session.get(systemStorages.blueprints, guid))))
      throw notFound(guid, 'block or blueprint')
    const records = block ? [documentOf(block)] : await blockRecords(session, guid, pause)
    const touched: JsonObject[] = []
    for (const record of records) {
      if (!changeOf(record)) continue
      touched.push(await settle(session, record))
      await pause()
    }
    const names = namesOfRecords(records)
    const after = new Map([...names, ...namesOfRecords(touched)])
    const renamed = await renameReferences(context, session, { blueprint, before: names, after }, pause)
    return withNewest(touched, renamed)
  })
}
