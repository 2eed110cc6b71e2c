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
import {
  type Actor,
  blockRecords,
  getRecord,
  MAX_BLOCKS,
  notFound,
  type RecordContext,
} from '../../records/records.ts'
import type { BlockEdit } from '../../shared/api/blueprints/blueprint-actions.ts'
import type { Block, BlockContent, SavedInPin } from '../../shared/blueprint.ts'
import type { Pause } from '../../shared/cooperative.ts'
import { invalidField, QuoinError } from '../../shared/errors.ts'
import { isGuid } from '../../shared/guid.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../shared/json.ts'
import { setFields } from '../../shared/mutation.ts'
import { documentOf, type Session } from '../../storage/database.ts'
import { guidOf, textIn } from '../../storage/document-fields.ts'
import { systemStorages } from '../../storage/system-storages.ts'
import { type DerivedFields, derivedFields } from './derived-fields.ts'
import { settledNames } from './name-blocks.ts'
import { changeBlocks } from './record-step.ts'
import { type Names, namesOfRecords, referrer, renameReferences, withNewest } from './rename-references.ts'
import { changeOf, namedRecords } from './staged-content.ts'

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
  return changeBlocks(context, blueprint, by, async (session, pause) => {
    await getRecord(session, systemStorages.blueprints, blueprint, 'blueprint')
    const read = await blockRecords(session, blueprint, pause)
    const records = new Map(read.map((one) => [guidOf(one), one]))
    for (const edit of edits) checkFresh(edit, records.get(edit.guid))
    const added = edits.filter(({ guid, content }) => content && !records.has(guid)).length
    if (added > 0 && records.size + added > MAX_BLOCKS)
      throw new QuoinError('CONFLICT', `A blueprint holds at most ${MAX_BLOCKS} blocks. Split it.`)
    const after = namesAfter(read, edits)
    const blocks = await editedBlocks(edits, after, pause)
    const gone = new Set(edits.filter(({ content }) => content === null).map(({ guid }) => guid))
    const remaining = new Map([...records].filter(([guid]) => !gone.has(guid)))
    const derived = await derivedFields(context, catalogue, blocks, remaining, pause)
    const touched: JsonObject[] = []
    for (const { guid } of edits) {
      const record = records.get(guid)
      const block = blocks.get(guid)
      const edit = block && { content: block, derived: derived(guid) }
      const written = record
        ? await change(context, session, record, edit, by)
        : await create(context, session, { blueprint, guid }, edit, by)
      if (written) touched.push(written)
      await pause()
    }
    const before = namesOfRecords(read)
    const renamed = await renameReferences(context, session, { blueprint, before, after }, pause)
    return withNewest(touched, renamed)
  })
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

/** The names of all blocks as they are with the edits, by their guids. */
function namesAfter(records: readonly JsonObject[], edits: readonly BlockEdit[]): Names {
  const named = new Map(namedRecords(records).map((one) => [one.guid, one]))
  for (const { guid, content } of edits) {
    // An editor that does not say the name keeps it.
    if (content) named.set(guid, { ...content, guid, name: content.name ?? named.get(guid)?.name })
    else named.delete(guid)
  }
  return settledNames([...named.values()])
}

/** What the edits make of their blocks, each with its name and with what its expressions refer to. */
async function editedBlocks(
  edits: readonly BlockEdit[],
  names: Names,
  pause: Pause,
): Promise<ReadonlyMap<string, Block>> {
  const blocks = new Map<string, Block>()
  const refer = referrer(names, names)
  for (const { guid, content } of edits) {
    const name = names.get(guid)
    const pins: SavedInPin[] = []
    for (const pin of content?.in_pins ?? []) {
      pins.push(refer(pin))
      // An expression of 10,000 characters takes 2 ms, and a block has up to 500.
      await pause()
    }
    if (content) blocks.set(guid, { guid, ...content, in_pins: pins, ...(name !== undefined && { name }) })
  }
  return blocks
}

/** undefined: the block is removed. */
type Edited = { readonly content: Block; readonly derived: DerivedFields } | undefined

async function change(
  context: RecordContext,
  session: Session,
  record: JsonObject,
  edited: Edited,
  by: Actor,
): Promise<JsonObject | undefined> {
  const guid = guidOf(record)
  const created = changeOf(record) === 'created'
  if (!edited) {
    if (!created) return write(session, guid, { unsaved: { change: 'removed', ...stamp(context, by) } })
    await drop(session, guid)
    return undefined
  }
  const content = contentFields(edited.content)
  const fields = { ...content, ...edited.derived }
  if (created) {
    const unsaved = { change: 'created', ...stamp(context, by) }
    return write(session, guid, { ...fields, unsaved, modified_by: { ...by } })
  }
  const saved = contentFields(context.readContent(record))
  if (isDeepStrictEqual(plain(saved), plain(content))) return write(session, guid, { unsaved: null })
  return write(session, guid, { unsaved: { change: 'updated', ...stamp(context, by), ...fields } })
}

async function create(
  context: RecordContext,
  session: Session,
  { blueprint, guid }: { readonly blueprint: string; readonly guid: string },
  edited: Edited,
  by: Actor,
): Promise<JsonObject | undefined> {
  if (!edited) return undefined
  const fields = {
    ...contentFields(edited.content),
    ...edited.derived,
    blueprint_guid: blueprint,
    is_created: false,
    modified_by: { ...by },
    unsaved: { change: 'created', ...stamp(context, by) },
  }
  // Its removal may have been saved meanwhile: then it comes back under its guid, as staged.
  const gone = await session.get(systemStorages.blocks, guid, { removed: true })
  if (!gone) return documentOf(await session.create(systemStorages.blocks, setFields(fields), { guid }))
  if (textIn(documentOf(gone).blueprint_guid) !== blueprint)
    throw new QuoinError('CONFLICT', `The guid ${guid} belongs to a block of another blueprint.`)
  await session.setRemoved(systemStorages.blocks, guid, false)
  return write(session, guid, fields)
}

/** As it comes back from the storage. */
function plain(fields: object): unknown {
  return JSON.parse(JSON.stringify(fields))
}

/** What a block's record has for its content, and single writes of it. */
export function contentFields(content: BlockContent): Record<string, JsonValue> {
  const { type, name, title, description, position, in_pins, custom_out_pins, fields, scopes } = content
  return {
    type,
    ...(name !== undefined && { name }),
    title,
    description,
    position,
    in_pins: in_pins.map(pinField),
    custom_out_pins,
    fields,
    scopes,
  }
}

function pinField(pin: BlockContent['in_pins'][number]): JsonObject {
  return {
    id: pin.id,
    ...(pin.from === undefined ? {} : { from: pin.from }),
    ...(pin.value === undefined ? {} : { value: pin.value }),
    ...(pin.expression === undefined ? {} : { expression: pin.expression }),
    ...(pin.refs === undefined ? {} : { refs: pin.refs }),
  }
}

export function stamp(context: RecordContext, by: Actor): JsonObject {
  return { by: { ...by }, at: Math.floor(context.clock() / 1000) }
}

export async function write(
  session: Session,
  guid: string,
  fields: Record<string, JsonValue>,
): Promise<JsonObject> {
  const written = await session.update(systemStorages.blocks, guid, setFields(fields))
  if (written.outcome !== 'written') throw notFound(guid, 'block')
  return documentOf(written.document)
}

export async function drop(session: Session, guid: string): Promise<JsonObject> {
  const deleted = await session.delete(systemStorages.blocks, guid)
  if (deleted.outcome !== 'written') throw notFound(guid, 'block')
  return documentOf(deleted.document)
}
