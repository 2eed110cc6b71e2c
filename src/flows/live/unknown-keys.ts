import type { Block } from '../../shared/blueprint.ts'
import type { JsonValue } from '../../shared/json.ts'
import { isMeant } from '../../storage/unique/kept-key.ts'
import type { UniqueKey } from '../../storage/unique/unique-key.ts'
import type { DeployNote } from '../compile/notes/deploy-note.ts'

const findByKey: ReadonlySet<string> = new Set(['function_upsert_document', 'store_rows'])

/**
 * Blocks that look for a document by fields that are not unique in their storage: every run of one would fail. `keysOf`: those in
 * force, and those that fields name, which the storage gets when it is made.
 */
export async function unknownKeys(
  blocks: readonly Block[],
  keysOf: (storage: string) => Promise<readonly UniqueKey[]>,
): Promise<readonly DeployNote[]> {
  const byGuid = new Map(blocks.map((block) => [block.guid, block]))
  const notes: DeployNote[] = []
  for (const block of blocks) {
    if (!findByKey.has(block.type)) continue
    const storage = storageOf(block, byGuid)
    const by = namesIn(block.in_pins.find(({ id }) => id === 'by')?.value)
    if (storage === undefined || by.length === 0) continue
    if ((await keysOf(storage)).some((key) => isMeant(key, by))) continue
    const message = `${by.join(', ')}: no unique field of the storage ${storage} yet. Until it is, runs of this block fail.`
    notes.push({ block: block.guid, pin: 'by', message, level: 'warn' })
  }
  return notes
}

/** As far as it is known before a run. */
function storageOf(block: Block, blocks: ReadonlyMap<string, Block>): string | undefined {
  const pin = block.in_pins.find(({ id }) => id === 'storage')
  const wired = blocks.get(pin?.from?.[0]?.block ?? '')
  const name = wired?.type === 'storage' ? wired.fields.storage : pin?.value
  return typeof name === 'string' ? name : undefined
}

function namesIn(value: JsonValue | undefined): readonly string[] {
  const names = Array.isArray(value) ? value : [value]
  return names.filter((name) => typeof name === 'string')
}
