import { Compile } from 'typebox/compile'
import { type Block, BlockContent, blockContent } from '../shared/blueprint.ts'
import type { Clock } from '../shared/clock.ts'
import { type Pause, pauses } from '../shared/cooperative.ts'
import { QuoinError } from '../shared/errors.ts'
import type { JsonObject } from '../shared/json.ts'
import type { Query } from '../shared/query.ts'
import { documentOf, type Session } from '../storage/database.ts'
import { guidOf } from '../storage/document-fields.ts'
import { findCooperatively } from '../storage/find-documents.ts'
import { systemStorages } from '../storage/system-storages.ts'
import type { ValidatedDatabase } from '../storage/validated.ts'

/** Who does it, as it is noted in records. */
export interface Actor {
  readonly guid: string
  readonly username: string
}

/** The user of changes that no user asked for, as the logs show it. */
export const SYSTEM: Actor = { guid: '', username: 'system' }

/** What the parts of the blueprint service share. */
export interface RecordContext {
  readonly database: ValidatedDatabase
  readonly clock: Clock
  /** Gives a stored block's content; compiled once. */
  readonly readContent: (record: JsonObject) => BlockContent
}

export async function openRecords(database: ValidatedDatabase, clock: Clock): Promise<RecordContext> {
  const { blueprints, blocks, deployments, storages } = systemStorages
  await database.ensure(blueprints, {
    indexes: [{ fields: ['active'] }, { fields: ['short_id'] }],
    text: true,
  })
  // By type: which blocks are used most, and which call a function. By name: what expressions of a block refer to.
  await database.ensure(blocks, {
    indexes: [
      { fields: ['blueprint_guid', '_meta.created'] },
      { fields: ['type'] },
      { fields: ['blueprint_guid', 'name'] },
      { fields: ['blueprint_guid', 'unsaved.name'] },
    ],
    text: true,
  })
  await database.ensure(deployments, { indexes: [{ fields: ['blueprint_guid', 'number'], unique: true }] })
  await database.ensure(storages, { indexes: [{ fields: ['name'], unique: true }], text: true })
  await database.ensure(systemStorages.views, { indexes: [{ fields: ['storage', 'created_by.guid'] }] })
  const content = Compile(BlockContent)
  // Parse keeps what the schema does not name, and the rest of a record (`_meta`, `unsaved`) is not content: with it, a
  // deployment would differ from the saved blocks after every staging.
  const names = Object.keys(blockContent)
  const readContent: RecordContext['readContent'] = (record) =>
    content.Parse(Object.fromEntries(names.flatMap((name) => (name in record ? [[name, record[name]]] : []))))
  return { database, clock, readContent }
}

/** More blocks than a person can read; the bound limits what one request loads. */
export const MAX_BLOCKS = 10_000

/** The present records that match, the oldest first. */
export function findRecords(
  session: Session,
  storage: string,
  query: Query,
  pause?: Pause,
): Promise<JsonObject[]> {
  const oldestFirst = [{ field: '_meta.cms', order: 'asc', missing: 'last' } as const]
  return findCooperatively(session, storage, { query, limit: MAX_BLOCKS, sort: oldestFirst }, pause)
}

/** The record, or NOT_FOUND with a message that names its kind. */
export async function getRecord(
  session: Session,
  storage: string,
  guid: string,
  noun: string,
): Promise<JsonObject> {
  const stored = await session.get(storage, guid)
  if (!stored) throw notFound(guid, noun)
  return documentOf(stored)
}

export function notFound(guid: string, noun: string): QuoinError {
  return new QuoinError('NOT_FOUND', `There is no ${noun} with the guid ${guid}.`)
}

/** The saved blocks of a blueprint, in the order in which they were made. Blocks that are only staged are not among them. */
export async function savedBlocks(
  context: RecordContext,
  session: Session,
  blueprint: string,
): Promise<Block[]> {
  const pause = pauses()
  const blocks: Block[] = []
  for (const record of await blockRecords(session, blueprint, pause)) {
    if (record.is_created === true) blocks.push({ guid: guidOf(record), ...context.readContent(record) })
    await pause()
  }
  return blocks
}

export function blockRecords(session: Session, blueprint: string, pause?: Pause): Promise<JsonObject[]> {
  const query = { kind: 'term', field: 'blueprint_guid', value: blueprint } as const
  return findRecords(session, systemStorages.blocks, query, pause)
}
