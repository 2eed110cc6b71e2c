/** What a deploy would change: blocks as they are saved against blocks as they are deployed. */
import { isDeepStrictEqual } from 'node:util'
import type { Block } from '../../shared/blueprint.ts'
import type { Pause } from '../../shared/cooperative.ts'
import { isJsonObject, type JsonObject } from '../../shared/json.ts'

export interface Difference {
  readonly guid: string
  readonly type: string
  readonly change: 'created' | 'updated' | 'removed'
  readonly before: Block | null
  readonly after: Block | null
}

/** As blocks come back from the storage, so that what is equal there is equal here. 10,000 take 90 ms. */
export async function plain(blocks: readonly Block[], pause: Pause): Promise<JsonObject[]> {
  const all: JsonObject[] = []
  for (const block of blocks) {
    all.push(plainBlock(block))
    await pause()
  }
  return all
}

/** Whether these are the same blocks in the same order. */
export async function areSame(
  some: readonly Block[],
  others: readonly Block[],
  pause: Pause,
): Promise<boolean> {
  if (some.length !== others.length) return false
  for (const [at, block] of some.entries()) {
    const other = others[at]
    if (!other || !isSame(block, other)) return false
    await pause()
  }
  return true
}

export async function differences(
  deployed: readonly Block[],
  saved: readonly Block[],
  pause: Pause,
): Promise<Difference[]> {
  const before = new Map(deployed.map((block) => [block.guid, block]))
  const after = new Map(saved.map((block) => [block.guid, block]))
  const found: Difference[] = []
  for (const [guid, block] of after) {
    const old = before.get(guid)
    if (!old) found.push({ guid, type: block.type, change: 'created', before: null, after: block })
    else if (!isSame(old, block))
      found.push({ guid, type: block.type, change: 'updated', before: old, after: block })
    await pause()
  }
  for (const [guid, block] of before) {
    if (!after.has(guid))
      found.push({ guid, type: block.type, change: 'removed', before: block, after: null })
  }
  return found
}

function isSame(one: Block, other: Block): boolean {
  if (one === other) return true
  // Their keys have the same order nearly always.
  if (JSON.stringify(one) === JSON.stringify(other)) return true
  return isDeepStrictEqual(plainBlock(one), plainBlock(other))
}

function plainBlock(block: Block): JsonObject {
  const parsed: unknown = JSON.parse(JSON.stringify(block))
  if (!isJsonObject(parsed)) throw new TypeError('A block is an object.')
  return parsed
}
