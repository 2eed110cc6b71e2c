/**
 * Several changes of a blueprint's blocks at once, as an editor makes them: one gesture, such as pasting a group or
 * undoing a deletion, is one transaction. Each edit names the state that it was made against, so no edit overwrites a
 * change that its builder has not seen: if one edit no longer fits, none is made. Everything is only staged, as in
 * `block-staging.ts`.
 *
 * Staged content that equals the saved content is no longer staged: undoing a change leaves nothing behind.
 */

import { isDeepStrictEqual } from 'node:util'
import type { BlockDefinition } from '../../blocks/block.ts'
import { type Actor, blockRecords, getRecord, MAX_BLOCKS, type RecordContext } from '../../records/records.ts'
import type { BlockEdit } from '../../shared/api/blueprints/blueprint-actions.ts'
import type { Block } from '../../shared/blueprint.ts'
import { invalidField, QuoinError } from '../../shared/errors.ts'
import { isGuid } from '../../shared/guid.ts'
import type { JsonObject } from '../../shared/json.ts'
import { isJsonObject } from '../../shared/json.ts'
import { setFields } from '../../shared/mutation.ts'
import { documentOf, type Session } from '../../storage/database.ts'
import { guidOf, textIn } from '../../storage/document-fields.ts'
import { ownStorages } from '../../storage/own-storages.ts'
import { transact } from '../../storage/transact.ts'
import { buildGraph, type Graph } from '../compile/blueprint-graph.ts'
import { contentFields, derivedOf, drop, stamp, write } from './block-staging.ts'
import { referrer } from './expression-references.ts'
import { namesOfRecords, renameReferences, withNewest } from './rename-references.ts'
import { settledNames } from './settled-names.ts'
import { changeOf, stagedContent } from './staged-content.ts'

/**
 * Stages all edits or none, and gives the blocks as they are then; what is gone is not among them. CONFLICT when one is
 * not what its edit says, INVALID_BODY when a wire or value can never be.
 */
export async function stageEdits(
  context: RecordContext,
  catalogue: ReadonlyMap<string, BlockDefinition>,
  blueprint: string,
  edits: readonly BlockEdit[],
  by: Actor,
): Promise<JsonObject[]> {
  const guids = new Set(edits.map(({ guid }) => guid))
  if (guids.size < edits.length) throw invalidField('edits', 'A block is edited twice: list each block once.')
  return transact(
    context.database,
    async (session) => {
      await getRecord(session, ownStorages.blueprints, blueprint, 'blueprint')
      const records = new Map((await blockRecords(session, blueprint)).map((one) => [guidOf(one), one]))
      for (const edit of edits) checkFresh(edit, records.get(edit.guid))
      if (records.size + edits.length > MAX_BLOCKS)
        throw new QuoinError('CONFLICT', `A blueprint holds at most ${MAX_BLOCKS} blocks. Split it.`)
      const blocks = blocksAfter(context, records, edits)
      const graph = buildGraph([...blocks.values()], catalogue)
      const touched: JsonObject[] = []
      for (const { guid } of edits) {
        const record = records.get(guid)
        const edit = { guid, content: blocks.get(guid) ?? null }
        const after = record
          ? await change(context, session, record, edit, graph, by)
          : await create(context, session, blueprint, edit, graph, by)
        if (after) touched.push(after)
      }
      const before = namesOfRecords([...records.values()])
      const after = new Map([...blocks].map(([guid, { name = '' }]) => [guid, name]))
      return withNewest(touched, await renameReferences(context, session, blueprint, before, after))
    },
    { user: by },
  )
}

function checkFresh({ guid, update_hash: hash, content }: BlockEdit, record: JsonObject | undefined): void {
  const meta = record && isJsonObject(record._meta) ? record._meta : {}
  if (record && hash === meta.update_hash) return
  if (!record && hash === null && content !== null && isGuid(guid)) return
  if (!record && hash === null && content !== null)
    throw invalidField('edits.guid', `A new block needs a UUIDv7 as its guid, which ${guid} is not.`)
  const what = record ? 'was changed' : 'no longer exists'
  throw new QuoinError('CONFLICT', `The block ${guid} ${what}. Read the blocks again. Nothing was staged.`)
}

type Change = Pick<BlockEdit, 'guid' | 'content'>

/** All blocks as they are with the edits, each with a name. */
function blocksAfter(
  context: RecordContext,
  records: ReadonlyMap<string, JsonObject>,
  edits: readonly BlockEdit[],
): ReadonlyMap<string, Block> {
  const blocks = new Map<string, Block>()
  for (const [guid, record] of records)
    if (changeOf(record) !== 'removed') blocks.set(guid, { guid, ...stagedContent(context, record) })
  for (const { guid, content } of edits) {
    // An editor that does not say the name keeps it.
    const name = content?.name ?? blocks.get(guid)?.name
    if (content) blocks.set(guid, { guid, ...content, ...(name !== undefined && { name }) })
    else blocks.delete(guid)
  }
  const names = settledNames([...blocks.values()])
  const refer = referrer(names, names)
  const edited = new Set(edits.map(({ guid }) => guid))
  for (const [guid, block] of blocks) {
    const name = names.get(guid)
    const in_pins = edited.has(guid) ? block.in_pins.map(refer) : block.in_pins
    blocks.set(guid, { ...block, in_pins, ...(name !== undefined && { name }) })
  }
  return blocks
}

async function change(
  context: RecordContext,
  session: Session,
  record: JsonObject,
  { guid, content }: Change,
  graph: Graph,
  by: Actor,
): Promise<JsonObject | undefined> {
  const created = changeOf(record) === 'created'
  if (!content) {
    if (!created) return write(session, guid, { unsaved: { change: 'removed', ...stamp(context, by) } })
    await drop(session, guid)
    return undefined
  }
  const fields = { ...contentFields(content), ...derivedOf(graph, guid) }
  if (created) {
    const unsaved = { change: 'created', ...stamp(context, by) }
    return write(session, guid, { ...fields, unsaved, modified_by: { ...by } })
  }
  const saved = contentFields(context.readContent(record))
  if (isDeepStrictEqual(plain(saved), plain(contentFields(content))))
    return write(session, guid, { unsaved: null })
  return write(session, guid, { unsaved: { change: 'updated', ...stamp(context, by), ...fields } })
}

async function create(
  context: RecordContext,
  session: Session,
  blueprint: string,
  { guid, content }: Change,
  graph: Graph,
  by: Actor,
): Promise<JsonObject | undefined> {
  if (!content) return undefined
  const fields = {
    ...contentFields(content),
    ...derivedOf(graph, guid),
    blueprint_guid: blueprint,
    is_created: false,
    modified_by: { ...by },
    unsaved: { change: 'created', ...stamp(context, by) },
  }
  // Its removal may have been saved meanwhile: then it comes back under its guid, as staged.
  const gone = await session.get(ownStorages.blocks, guid, { removed: true })
  if (!gone) return documentOf(await session.create(ownStorages.blocks, setFields(fields), { guid }))
  if (textIn(documentOf(gone).blueprint_guid) !== blueprint)
    throw new QuoinError('CONFLICT', `The guid ${guid} belongs to a block of another blueprint.`)
  await session.setRemoved(ownStorages.blocks, guid, false)
  return write(session, guid, fields)
}

/** As it comes back from the storage. */
function plain(fields: object): unknown {
  return JSON.parse(JSON.stringify(fields))
}
