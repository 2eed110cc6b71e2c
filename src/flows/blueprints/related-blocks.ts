/**
 * The blocks of a blueprint that a change of one block has to know: those that it names, those from which wires come, and those
 * that have its name. Found by indexes, so that a block costs the same in a blueprint of 20 blocks and of 10,000.
 */
import { namesOf } from '../../expressions/language/expression-names.ts'
import { parseExpression } from '../../expressions/language/parse-expression.ts'
import { blockRecords, MAX_BLOCKS } from '../../records/records.ts'
import type { Block } from '../../shared/blueprint.ts'
import { boundedMap } from '../../shared/bounded-map.ts'
import type { Pause } from '../../shared/in-turns.ts'
import type { JsonObject } from '../../shared/json.ts'
import { isReservedName, nameBase } from '../../shared/names/block-name.ts'
import type { Query } from '../../shared/query.ts'
import { documentOf, type Session } from '../../storage/database.ts'
import { guidOf } from '../../storage/document-fields.ts'
import { findAll } from '../../storage/find-documents.ts'
import { ownStorages } from '../../storage/own-storages.ts'
import { namedRecords } from './staged-content.ts'

/** Names and guids. A block that has more reads all blocks. */
const MOST = 32

/** The last number that a base was given in a blueprint: where the next one is looked for first. */
const numbers = boundedMap<string, number>(1_000)

/** Those that the block names, is wired to, or is named like; the block itself if it is stored. */
export async function relatedBlocks(
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
    const stored = found.has(guid) ? undefined : await session.get(ownStorages.blocks, guid)
    const record = stored && documentOf(stored)
    if (record?.blueprint_guid === blueprint) found.set(guid, record)
  }
  return [...found.values()]
}

/** A name for a block that was given none: the first that is free behind one that is not. undefined where none was found. */
export async function freeName(
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
  const saved = await findAll(session, ownStorages.blocks, having('name'), MAX_BLOCKS)
  return [...saved, ...(await findAll(session, ownStorages.blocks, having('unsaved.name'), MAX_BLOCKS))]
}
