import { type Actor, blockRecords, getRecord, notFound, type RecordContext } from '../../records/records.ts'
import { QuoinError } from '../../shared/errors.ts'
import type { Random } from '../../shared/guid.ts'
import type { JsonObject } from '../../shared/json.ts'
import { setFields } from '../../shared/mutation.ts'
import { documentOf } from '../../storage/database.ts'
import { guidOf, objectsIn, textIn } from '../../storage/document-fields.ts'
import { findOne } from '../../storage/find-documents.ts'
import { systemStorages } from '../../storage/system-storages.ts'
import { transact } from '../../storage/transact.ts'
import { changeBlocks } from './record-step.ts'

/** What a client may say about a blueprint. */
export interface BlueprintInput {
  readonly name: string
  readonly description?: string
  readonly category?: string
  readonly tags?: readonly string[]
  /** Remarks and groups on the canvas. They mean nothing to what runs. */
  readonly notes?: readonly JsonObject[]
}

export async function createBlueprint(
  context: RecordContext,
  random: Random,
  input: BlueprintInput,
  by: Actor,
): Promise<JsonObject> {
  const fields = {
    name: input.name,
    description: input.description ?? '',
    category: input.category ?? '',
    tags: input.tags ?? [],
    notes: input.notes ?? [],
    short_id: shortId(random),
    active: false,
    version: 0,
    deployment_guid: null,
    created_by: { ...by },
    modified_by: { ...by },
  }
  return transact(
    context.database,
    async (session) => documentOf(await session.create(systemStorages.blueprints, setFields(fields))),
    { user: by },
  )
}

/**
 * One that was removed is there again with the blocks that were deployed last, so that runs that wait in it go on. undefined where there is
 * none that was removed.
 */
export async function restoreBlueprint(
  context: RecordContext,
  guid: string,
  { name, description = '', category = '', tags = [], notes = [] }: BlueprintInput,
  by: Actor,
): Promise<{ readonly record: JsonObject; readonly blockRecords: readonly JsonObject[] } | undefined> {
  const removed = await context.database.session().get(systemStorages.blueprints, guid, { removed: true })
  if (!removed) return undefined
  return changeBlocks(context, guid, by, async (session, pause) => {
    const restored = await session.setRemoved(systemStorages.blueprints, guid, false)
    if (restored.outcome !== 'written') return undefined
    const { deployment_guid: last } = documentOf(restored.document)
    const deployment = await session.get(systemStorages.deployments, textIn(last))
    for (const block of objectsIn(deployment && documentOf(deployment).blocks)) {
      await session.setRemoved(systemStorages.blocks, textIn(block.guid), false)
      await pause()
    }
    const fields = { name, description, category, tags: [...tags], notes: [...notes], modified_by: { ...by } }
    const written = await session.update(systemStorages.blueprints, guid, setFields(fields))
    if (written.outcome !== 'written') throw notFound(guid, 'blueprint')
    return { record: documentOf(written.document), blockRecords: await blockRecords(session, guid, pause) }
  })
}

/** A name for logs and addresses that people read: 12 letters and digits. */
function shortId(random: Random): string {
  const alphabet = 'ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789'
  const bytes = new Uint8Array(12)
  random(bytes)
  return Array.from(bytes, (byte) => alphabet[byte % alphabet.length]).join('')
}

/** @param id guid or `short_id` */
export async function getBlueprint(context: RecordContext, id: string): Promise<JsonObject> {
  const session = context.database.session()
  if (!/^[A-Za-z0-9]{12}$/.test(id)) return getRecord(session, systemStorages.blueprints, id, 'blueprint')
  const found = await findOne(session, systemStorages.blueprints, 'short_id', id)
  if (!found) throw notFound(id, 'blueprint')
  return found
}

export async function updateBlueprint(
  context: RecordContext,
  guid: string,
  changes: Partial<BlueprintInput> & { readonly update_hash?: string },
  by: Actor,
): Promise<JsonObject> {
  const { name, description, category, tags, notes, update_hash: updateHash } = changes
  const mutations = setFields({ name, description, category, tags, notes, modified_by: { ...by } })
  return transact(
    context.database,
    async (session) => {
      const only = updateHash === undefined ? {} : { updateHash }
      const written = await session.update(systemStorages.blueprints, guid, mutations, only)
      if (written.outcome === 'not_found') throw notFound(guid, 'blueprint')
      if (written.outcome === 'conflict')
        throw new QuoinError(
          'CONFLICT',
          'The blueprint was changed since you read it. Read it again and use its _meta.update_hash.',
        )
      return documentOf(written.document)
    },
    { user: by },
  )
}

/** Soft delete of a blueprint and its blocks, in one transaction. An active one is refused: clients rely on it. */
export async function removeBlueprint(context: RecordContext, guid: string, by?: Actor): Promise<JsonObject> {
  return changeBlocks(context, guid, by, async (session, pause) => {
    const record = await getRecord(session, systemStorages.blueprints, guid, 'blueprint')
    if (record.active === true) {
      throw new QuoinError('CONFLICT', 'The blueprint is active. Set it inactive first, then delete it.')
    }
    for (const block of await blockRecords(session, guid, pause)) {
      await session.setRemoved(systemStorages.blocks, guidOf(block), true)
      await pause()
    }
    const removed = await session.setRemoved(systemStorages.blueprints, guid, true)
    if (removed.outcome !== 'written') throw notFound(guid, 'blueprint')
    return documentOf(removed.document)
  })
}
