/** Former deployments of a blueprint. Each that changed anything is kept, numbered from 1, with a copy of its blocks. */

import { getRecord, type RecordContext } from '../../records/records.ts'
import type { Block } from '../../shared/blueprint.ts'
import { QuoinError } from '../../shared/errors.ts'
import { pauses } from '../../shared/in-turns.ts'
import type { JsonObject } from '../../shared/json.ts'
import { isJsonObject } from '../../shared/json.ts'
import { objectsIn, textIn } from '../../storage/document-fields.ts'
import { findInTurns } from '../../storage/find-documents.ts'
import { ownStorages } from '../../storage/own-storages.ts'

export interface Version {
  readonly number: number
  /** Unix seconds. */
  readonly deployed: number
  readonly by: { readonly guid: string; readonly username: string }
  readonly blocks: readonly Block[]
}

/** One version with its blocks; NOT_FOUND if there is none of that number. */
export async function getVersion(context: RecordContext, guid: string, number: number): Promise<Version> {
  const session = context.database.session()
  await getRecord(session, ownStorages.blueprints, guid, 'blueprint')
  const query = {
    kind: 'and',
    queries: [
      { kind: 'term', field: 'blueprint_guid', value: guid },
      { kind: 'term', field: 'number', value: number },
    ],
  } as const
  const pause = pauses()
  const [record] = await findInTurns(session, ownStorages.deployments, { query, limit: 1, sort: [] }, pause)
  if (!record) throw new QuoinError('NOT_FOUND', `The blueprint has no version ${number}.`)
  const blocks: Block[] = []
  for (const block of objectsIn(record.blocks)) {
    blocks.push({ guid: textIn(block.guid), ...context.readContent(block) })
    await pause()
  }
  return { ...stampOf(record), blocks }
}

export function stampOf(record: JsonObject): Omit<Version, 'blocks'> {
  const meta = isJsonObject(record._meta) ? record._meta : {}
  const by = isJsonObject(record.by) ? record.by : {}
  return {
    number: Number(record.number),
    deployed: Number(meta.created),
    by: { guid: textIn(by.guid), username: textIn(by.username) },
  }
}
