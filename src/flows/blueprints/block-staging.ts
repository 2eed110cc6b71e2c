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
import { namesOf } from '../../expressions/language/expression.ts'
import { parseExpression } from '../../expressions/language/parse-expression.ts'
import { type Actor, blockRecords, getRecord, MAX_BLOCKS, type RecordContext } from '../../records/records.ts'
import type { Block, BlockContent } from '../../shared/blueprint.ts'
import type { Pause } from '../../shared/cooperative.ts'
import { emptyContent } from '../../shared/empty-content.ts'
import { invalidField, QuoinError } from '../../shared/errors.ts'
import type { JsonObject } from '../../shared/json.ts'
import { lruCache } from '../../shared/lru-cache.ts'
import { setFields } from '../../shared/mutation.ts'
import { isReservedName, nameBase } from '../../shared/names/block-name.ts'
import type { Query } from '../../shared/query.ts'
import { documentOf, type Session } from '../../storage/database.ts'
import { guidOf, textIn } from '../../storage/document-fields.ts'
import { findAll } from '../../storage/find-documents.ts'
import { systemStorages } from '../../storage/system-storages.ts'
import { contentFields, drop, stamp, write } from './block-edits.ts'
import { type DerivedFields, derivedFields } from './derived-fields.ts'
import { settledNames } from './name-blocks.ts'
import { changeBlocks } from './record-step.ts'
import { namesOfRecords, referrer, renameReferences } from './rename-references.ts'
import { changeOf, namedRecords, stagedContent } from './staged-content.ts'

// The blocks of a blueprint that a change of one block has to know: those that it names, those from which wires come, and those
// that have its name. Found by indexes, so that a block costs the same in a blueprint of 20 blocks and of 10,000.

/** Names and guids. A block that has more reads all blocks. */
const MOST = 32

/** The last number that a base was given in a blueprint: where the next one is looked for first. */
const numbers = lruCache<string, number>(1_000)

/** Those that the block names, is wired to, or is named like; the block itself if it is stored. */
async function relatedBlocks(
  session: Session,
  blueprint: string,
  block: Block,
  pause: Pause,
): Promise<readonly JsonObject[]> {
  const names = new Set(block.name ? [block.name] : [])
  const guids = new Set(block.guid === '' ? [] : [block.guid])
  for (const { from = [], refs = {}, expression } of block.in_pins) {
    for (const end of from) guids.add(end.block)
    for (const guid of Object.values(refs)) guids.add(guid)
    if (expression === undefined) continue
    const parsed = parseExpression(expression).expression
    for (const { name } of parsed ? namesOf(parsed) : []) names.add(name)
  }
  if (names.size + guids.size > MOST) return blockRecords(session, blueprint, pause)
  const found = new Map<string, JsonObject>()
  for (const name of names)
    for (const record of await named(session, blueprint, name)) found.set(guidOf(record), record)
  for (const guid of guids) {
    const stored = found.has(guid) ? undefined : await session.get(systemStorages.blocks, guid)
    const record = stored && documentOf(stored)
    if (record?.blueprint_guid === blueprint) found.set(guid, record)
  }
  return [...found.values()]
}

/** A name for a block that was given none: the first that is free behind one that is not. undefined where none was found. */
async function freeName(
  session: Session,
  blueprint: string,
  block: Pick<Block, 'title' | 'type'>,
): Promise<string | undefined> {
  const base = nameBase(block)
  const nameOf = (n: number) => (n === 1 ? base : `${base}_${n}`)
  const isTaken = async (n: number) => {
    const name = nameOf(n)
    if (isReservedName(name)) return true
    return namedRecords(await named(session, blueprint, name)).some((one) => one.name === name)
  }
  const key = `${blueprint} ${base}`
  const guess = numbers.get(key) ?? 1
  let taken = (await isTaken(guess)) ? guess : 0
  let free = taken === 0 ? guess : guess + 1
  for (let step = 1; taken > 0 && (await isTaken(free)); step *= 2) {
    if (step > MAX_BLOCKS) return undefined
    taken = free
    free += step
  }
  // What is free, and what is taken before it: half of what is between them each time.
  while (free - taken > 1) {
    const middle = Math.floor((taken + free) / 2)
    if (await isTaken(middle)) taken = middle
    else free = middle
  }
  numbers.set(key, free)
  return nameOf(free)
}

/**
 * Those that have the name, saved or staged. One name each time: for a list of names the embedded engine reads all blocks of the
 * blueprint in their order.
 */
async function named(session: Session, blueprint: string, name: string): Promise<readonly JsonObject[]> {
  const having = (field: string): Query => ({
    kind: 'and',
    queries: [
      { kind: 'term', field: 'blueprint_guid', value: blueprint },
      { kind: 'term', field, value: name },
    ],
  })
  const saved = await findAll(session, systemStorages.blocks, having('name'), MAX_BLOCKS)
  return [...saved, ...(await findAll(session, systemStorages.blocks, having('unsaved.name'), MAX_BLOCKS))]
}

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
  const { staged, blueprint_guid, ...inputs } = input
  return changeBlocks(context, blueprint_guid, by, async (session, pause) => {
    const blueprint = await session.get(systemStorages.blueprints, blueprint_guid)
    if (!blueprint) {
      throw invalidField('blueprint_guid', `There is no blueprint with the guid ${blueprint_guid}.`)
    }
    const ofBlueprint = { kind: 'term', field: 'blueprint_guid', value: blueprint_guid } as const
    if ((await session.count(systemStorages.blocks, ofBlueprint)) >= MAX_BLOCKS) {
      throw new QuoinError('CONFLICT', `A blueprint holds at most ${MAX_BLOCKS} blocks. Split it.`)
    }
    const block = { guid: '', ...emptyContent, ...inputs }
    const { content, derived } = await settled(context, catalogue, session, blueprint_guid, block, pause)
    const unsaved = staged ? { change: 'created', ...stamp(context, by) } : null
    const fields = {
      ...contentFields(content),
      ...derived,
      blueprint_guid,
      is_created: !staged,
      modified_by: { ...by },
      unsaved,
    }
    return documentOf(await session.create(systemStorages.blocks, setFields(fields)))
  })
}

export async function stageUpdate(
  context: RecordContext,
  catalogue: Catalogue,
  guid: string,
  changes: Partial<BlockContent>,
  by: Actor,
): Promise<JsonObject> {
  return changeBlock(context, guid, by, async (session, record, pause) => {
    const blueprint = textIn(record.blueprint_guid)
    const block = { guid, ...stagedContent(context, record), ...changes }
    const { content, derived } = await settled(context, catalogue, session, blueprint, block, pause)
    const fields = contentFields(content)
    const unsaved = { ...stamp(context, by) }
    const written = await write(
      session,
      guid,
      changeOf(record) === 'created'
        ? { ...fields, ...derived, unsaved: { change: 'created', ...unsaved }, modified_by: { ...by } }
        : { unsaved: { change: 'updated', ...unsaved, ...fields, ...derived } },
    )
    const [before] = namesOfRecords([record]).values()
    if (before === undefined || before === content.name) return written
    const others = namesOfRecords(await blockRecords(session, blueprint, pause))
    const names = {
      before: new Map([...others, [guid, before]]),
      after: new Map([...others, [guid, content.name ?? '']]),
    }
    await renameReferences(context, session, { blueprint, ...names }, pause)
    return written
  })
}

export async function stageRemoval(context: RecordContext, guid: string, by: Actor): Promise<JsonObject> {
  return changeBlock(context, guid, by, async (session, record) => {
    if (changeOf(record) === 'created') return drop(session, guid)
    return write(session, guid, { unsaved: { change: 'removed', ...stamp(context, by) } })
  })
}

/** The block is read before its blueprint is held, to know which one that is, and once more then. */
async function changeBlock(
  context: RecordContext,
  guid: string,
  by: Actor,
  work: (session: Session, record: JsonObject, pause: Pause) => Promise<JsonObject>,
): Promise<JsonObject> {
  const block = await getRecord(context.database.session(), systemStorages.blocks, guid, 'block')
  return changeBlocks(context, textIn(block.blueprint_guid), by, async (session, pause) =>
    work(session, await getRecord(session, systemStorages.blocks, guid, 'block'), pause),
  )
}

/** The block with its name, the one that it has or a new one, what its expressions refer to, and what the server adds. */
async function settled(
  context: RecordContext,
  catalogue: Catalogue,
  session: Session,
  blueprint: string,
  inputs: Block,
  pause: Pause,
): Promise<{ readonly content: Block; readonly derived: DerivedFields }> {
  const { guid } = inputs
  const made = inputs.name ? undefined : await freeName(session, blueprint, inputs)
  const block = made === undefined ? inputs : { ...inputs, name: made }
  const related = block.name ? await relatedBlocks(session, blueprint, block, pause) : []
  const isTaken = namedRecords(related).some((one) => one.guid !== guid && one.name === block.name)
  // All of them to propose a name that none has.
  const records = block.name && !isTaken ? related : await blockRecords(session, blueprint, pause)
  const others = records.filter((record) => guidOf(record) !== guid)
  const names = settledNames([...namedRecords(others), block])
  const name = names.get(guid)
  const in_pins = block.in_pins.map(referrer(names, names))
  const content = { ...block, in_pins, ...(name !== undefined && { name }) }
  const byGuid = new Map(records.map((record) => [guidOf(record), record]))
  const derived = await derivedFields(context, catalogue, new Map([[guid, content]]), byGuid, pause)
  return { content, derived: derived(guid) }
}
