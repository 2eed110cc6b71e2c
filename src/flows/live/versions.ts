/** Former deployments of a blueprint. Each that changed anything is kept, numbered from 1, with a copy of its blocks. */

import { getRecord, type RecordContext } from '../../records/records.ts'
import type { Block } from '../../shared/blueprint.ts'
import { QuoinError } from '../../shared/errors.ts'
import type { JsonObject } from '../../shared/json.ts'
import { isJsonObject } from '../../shared/json.ts'
import { objectsIn, textIn } from '../../storage/document-fields.ts'
import { documentsOf } from '../../storage/find-documents.ts'
import { ownStorages } from '../../storage/own-storages.ts'

export interface Version {
  readonly number: number
  /** Unix seconds. */
  readonly deployed: number
  readonly by: { readonly guid: string; readonly username: string }
  readonly blocks: readonly Block[]
}

export interface VersionSummary extends Omit<Version, 'blocks'> {
  readonly blocks: number
  /** Whether it is the deployed one. */
  readonly live: boolean
}

/** The newest so many, the newest first. */
const LISTED = 100

export async function listVersions(context: RecordContext, guid: string): Promise<VersionSummary[]> {
  const session = context.database.session()
  const blueprint = await getRecord(session, ownStorages.blueprints, guid, 'blueprint')
  const found = await session.find(ownStorages.deployments, {
    query: { kind: 'term', field: 'blueprint_guid', value: guid },
    sort: [{ field: 'number', order: 'desc', missing: 'last' }],
    limit: LISTED,
    offset: 0,
    includeRemoved: false,
  })
  return documentsOf(found).map((record) => ({
    ...stampOf(record),
    blocks: objectsIn(record.blocks ?? []).length,
    live: record.number === blueprint.version,
  }))
}

/** One version with its blocks; NOT_FOUND if there is none of that number. */
export async function getVersion(context: RecordContext, guid: string, number: number): Promise<Version> {
  const session = context.database.session()
  await getRecord(session, ownStorages.blueprints, guid, 'blueprint')
  const found = await session.find(ownStorages.deployments, {
    query: {
      kind: 'and',
      queries: [
        { kind: 'term', field: 'blueprint_guid', value: guid },
        { kind: 'term', field: 'number', value: number },
      ],
    },
    sort: [],
    limit: 1,
    offset: 0,
    includeRemoved: false,
  })
  const [record] = documentsOf(found)
  if (!record) throw new QuoinError('NOT_FOUND', `The blueprint has no version ${number}.`)
  const blocks = objectsIn(record.blocks ?? []).map((block) => ({
    guid: textIn(block.guid),
    ...context.readContent(block),
  }))
  return { ...stampOf(record), blocks }
}

function stampOf(record: JsonObject): Omit<Version, 'blocks'> {
  const meta = isJsonObject(record._meta) ? record._meta : {}
  const by = isJsonObject(record.by) ? record.by : {}
  return {
    number: Number(record.number),
    deployed: Number(meta.created),
    by: { guid: textIn(by.guid), username: textIn(by.username) },
  }
}
