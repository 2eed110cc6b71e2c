/**
 * The three states of a block's content.
 *
 * A block's record holds the saved content at its top level, and what is staged under `unsaved`: null, or
 * `{ change, by, at, … }` with the change `created` (the block exists only as staged; `is_created` is false), `updated`
 * (with the whole staged content) or `removed`.
 *
 *   create staged  →  created  ── save → saved (is_created, unsaved null)   ── discard → gone
 *   update         →  updated  ── save → content replaced, unsaved null     ── discard → unsaved null
 *   delete         →  removed  ── save → soft-deleted                       ── discard → unsaved null
 *
 * Updating what is `created` keeps it created; updating what is `removed` makes it `updated`; deleting what is only
 * staged discards it at once. What is deployed is a copy elsewhere and is not touched by any of this.
 */

import type { BlockDefinition } from '../../blocks/block.ts'
import {
  type Actor,
  blockRecords,
  getRecord,
  MAX_BLOCKS,
  notFound,
  type RecordContext,
  savedBlocks,
} from '../../records/records.ts'
import type { Block, BlockContent } from '../../shared/blueprint.ts'
import { emptyContent } from '../../shared/empty-content.ts'
import { invalidField, QuoinError } from '../../shared/errors.ts'
import type { JsonObject, JsonValue } from '../../shared/json.ts'
import { isJsonObject } from '../../shared/json.ts'
import { setFields } from '../../shared/mutation.ts'
import { documentOf, type Session } from '../../storage/database.ts'
import { guidOf, textIn } from '../../storage/document-fields.ts'
import { ownStorages } from '../../storage/own-storages.ts'
import { transact } from '../../storage/transact.ts'
import { buildGraph, type Graph } from '../compile/blueprint-graph.ts'
import { referrer } from './expression-references.ts'
import { namesOfRecords, renameReferences, withNewest } from './rename-references.ts'
import { settledNames } from './settled-names.ts'
import { changeOf, stagedContent } from './staged-content.ts'

type Catalogue = ReadonlyMap<string, BlockDefinition>

export interface NewBlock extends Partial<BlockContent> {
  readonly type: string
  readonly blueprint_guid: string
  /** Only stage it: no client's request runs it until it is saved and deployed. */
  readonly staged?: boolean
}

export async function createBlock(
  context: RecordContext,
  catalogue: Catalogue,
  input: NewBlock,
  by: Actor,
): Promise<JsonObject> {
  const { staged, blueprint_guid, ...given } = input
  return transact(
    context.database,
    async (session) => {
      const blueprint = await session.get(ownStorages.blueprints, blueprint_guid)
      if (!blueprint) {
        throw invalidField('blueprint_guid', `There is no blueprint with the guid ${blueprint_guid}.`)
      }
      const others = await blockRecords(session, blueprint_guid)
      if (others.length >= MAX_BLOCKS) {
        throw new QuoinError('CONFLICT', `A blueprint holds at most ${MAX_BLOCKS} blocks. Split it.`)
      }
      const content = named(context, '', { ...emptyContent, ...given }, others)
      const derived = checkContent(context, catalogue, '', content, others)
      const unsaved = staged ? { change: 'created', ...stamp(context, by) } : null
      const fields = {
        ...contentFields(content),
        ...derived,
        blueprint_guid,
        is_created: !staged,
        modified_by: { ...by },
        unsaved,
      }
      return documentOf(await session.create(ownStorages.blocks, setFields(fields)))
    },
    { user: by },
  )
}

export async function stageUpdate(
  context: RecordContext,
  catalogue: Catalogue,
  guid: string,
  changes: Partial<BlockContent>,
  by: Actor,
): Promise<JsonObject> {
  return transact(
    context.database,
    async (session) => {
      const record = await getRecord(session, ownStorages.blocks, guid, 'block')
      const others = await blockRecords(session, textIn(record.blueprint_guid))
      const content = named(context, guid, { ...stagedContent(context, record), ...changes }, others)
      const derived = checkContent(context, catalogue, guid, content, others)
      const fields = contentFields(content)
      const unsaved = { ...stamp(context, by) }
      const written = await write(
        session,
        guid,
        changeOf(record) === 'created'
          ? { ...fields, ...derived, unsaved: { change: 'created', ...unsaved }, modified_by: { ...by } }
          : { unsaved: { change: 'updated', ...unsaved, ...fields, ...derived } },
      )
      const names = namesOfRecords(others)
      const renamed = new Map([...names, [guid, content.name ?? '']])
      await renameReferences(context, session, textIn(record.blueprint_guid), names, renamed)
      return written
    },
    { user: by },
  )
}

export async function stageRemoval(context: RecordContext, guid: string, by: Actor): Promise<JsonObject> {
  return transact(
    context.database,
    async (session) => {
      const record = await getRecord(session, ownStorages.blocks, guid, 'block')
      if (changeOf(record) === 'created') return drop(session, guid)
      return write(session, guid, { unsaved: { change: 'removed', ...stamp(context, by) } })
    },
    { user: by },
  )
}

/** Saves what is staged: of one block, or of all blocks of a blueprint, in one transaction. Gives the blocks it touched. */
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
        const removed = await session.setRemoved(ownStorages.blocks, block, true)
        if (removed.outcome !== 'written') throw notFound(block, 'block')
        return documentOf(removed.document)
      }
    }
  })
}

/** Forgets what is staged, of one block or of a whole blueprint. Gives the blocks it touched. */
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
  return transact(
    context.database,
    async (session) => {
      const block = await session.get(ownStorages.blocks, guid)
      if (!block && !(await session.get(ownStorages.blueprints, guid)))
        throw notFound(guid, 'block or blueprint')
      const records = block ? [documentOf(block)] : await blockRecords(session, guid)
      const touched: JsonObject[] = []
      for (const record of records) if (changeOf(record)) touched.push(await settle(session, record))
      const blueprint = block ? textIn(documentOf(block).blueprint_guid) : guid
      const names = namesOfRecords(records)
      const after = new Map([...names, ...namesOfRecords(touched)])
      return withNewest(touched, await renameReferences(context, session, blueprint, names, after))
    },
    by ? { user: by } : {},
  )
}

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

/** A refused drawing: an unknown type, a pin that the block does not have, a wire or value that cannot be. */
const refusedWhenSaved = new Set(['type', 'pin', 'wire', 'value'])

/**
 * Refuses what can never work and works out what the server adds (`out_pins`, `storages`). What is only unfinished, such
 * as a missing wire, is fine until the blueprint is activated: blocks are created one by one.
 */
function checkContent(
  context: RecordContext,
  catalogue: Catalogue,
  guid: string,
  content: BlockContent,
  others: readonly JsonObject[],
): { out_pins: JsonObject[]; storages: string[] } {
  return derivedOf(buildGraph([...besides(context, guid, others), { guid, ...content }], catalogue), guid)
}

/** The other blocks as they would be if everything staged were saved. */
function besides(context: RecordContext, guid: string, records: readonly JsonObject[]): Block[] {
  return records
    .filter((record) => guidOf(record) !== guid && changeOf(record) !== 'removed')
    .map((record) => ({ guid: guidOf(record), ...stagedContent(context, record) }))
}

/** The content with its name, the one that it has or a new one, and with what its expressions refer to. */
function named(
  context: RecordContext,
  guid: string,
  content: BlockContent,
  others: readonly JsonObject[],
): BlockContent {
  const names = settledNames([...besides(context, guid, others), { guid, ...content }])
  const name = names.get(guid)
  const in_pins = content.in_pins.map(referrer(names, names))
  return { ...content, in_pins, ...(name !== undefined && { name }) }
}

/** What the server adds to one block of the graph. INVALID_BODY for what can never work. */
export function derivedOf(graph: Graph, guid: string): { out_pins: JsonObject[]; storages: string[] } {
  const problem = graph.problems.find((one) => one.block === guid && refusedWhenSaved.has(one.rule))
  if (problem)
    throw invalidField(problem.rule === 'type' ? 'type' : `in_pins.${problem.pin ?? ''}`, problem.message)
  const node = graph.nodes.find((one) => one.block.guid === guid)
  const set = Object.entries(node?.definition.settings ?? {})
    .filter(([, setting]) => setting.kind === 'storage')
    .map(([name]) => node?.settings[name])
  const held = [...(node?.in ?? [])]
    .filter(([, pin]) => pin.type === 'storage')
    .map(([id]) => node?.literals.get(id))
  return {
    out_pins: [...(node?.out ?? [])].map(([id, pin]) => ({ id, type: pin.type })),
    storages: [...set, ...held].filter((name) => typeof name === 'string'),
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
  const written = await session.update(ownStorages.blocks, guid, setFields(fields))
  if (written.outcome !== 'written') throw notFound(guid, 'block')
  return documentOf(written.document)
}

export async function drop(session: Session, guid: string): Promise<JsonObject> {
  const deleted = await session.delete(ownStorages.blocks, guid)
  if (deleted.outcome !== 'written') throw notFound(guid, 'block')
  return documentOf(deleted.document)
}

/** The blocks as they are saved, or as they would be if everything staged were. */
export async function candidateBlocks(
  context: RecordContext,
  blueprint: string,
  state: 'saved' | 'staged',
): Promise<Block[]> {
  const session = context.database.session()
  if (state === 'saved') return savedBlocks(context, session, blueprint)
  const records = await blockRecords(session, blueprint)
  return records
    .filter((record) => changeOf(record) !== 'removed')
    .map((record) => ({ guid: guidOf(record), ...stagedContent(context, record) }))
}
