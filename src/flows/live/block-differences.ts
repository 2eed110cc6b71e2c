/** What a deploy would change: blocks as they are saved against blocks as they are deployed. */
import { isDeepStrictEqual } from 'node:util'
import type { Block } from '../../shared/blueprint.ts'
import { isJsonObject, type JsonObject } from '../../shared/json.ts'

export interface Difference {
  readonly guid: string
  readonly type: string
  readonly change: 'created' | 'updated' | 'removed'
  readonly before: Block | null
  readonly after: Block | null
}

/** As it comes back from the storage, so that what is equal there is equal here. */
export function plain(blocks: readonly Block[]): JsonObject[] {
  const parsed: unknown = JSON.parse(JSON.stringify(blocks))
  return Array.isArray(parsed) ? parsed.filter(isJsonObject) : []
}

export function differences(deployed: readonly Block[], saved: readonly Block[]): Difference[] {
  const before = new Map(deployed.map((block) => [block.guid, block]))
  const after = new Map(saved.map((block) => [block.guid, block]))
  const found: Difference[] = []
  for (const [guid, block] of after) {
    const old = before.get(guid)
    if (!old) found.push({ guid, type: block.type, change: 'created', before: null, after: block })
    else if (!isDeepStrictEqual(plain([old]), plain([block]))) {
      found.push({ guid, type: block.type, change: 'updated', before: old, after: block })
    }
  }
  for (const [guid, block] of before) {
    if (!after.has(guid))
      found.push({ guid, type: block.type, change: 'removed', before: block, after: null })
  }
  return found
}
