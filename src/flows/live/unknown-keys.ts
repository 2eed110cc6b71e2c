import type { Block } from '../../shared/blueprint.ts'
import type { JsonValue } from '../../shared/json.ts'
import type { UniqueValues } from '../../storage/capabilities.ts'
import { isMeant } from '../../storage/unique/kept-key.ts'
import type { DeployNote } from '../compile/notes/deploy-note.ts'

/** Blocks that look for a document by fields that are not unique in their storage: every run of one would fail. */
export function unknownKeys(blocks: readonly Block[], keys: Pick<UniqueValues, 'of'>): readonly DeployNote[] {
  const byGuid = new Map(blocks.map((block) => [block.guid, block]))
  return blocks.flatMap((block): DeployNote[] => {
    if (block.type !== 'function_upsert_document') return []
    const storage = storageOf(block, byGuid)
    const by = namesIn(block.in_pins.find(({ id }) => id === 'by')?.value)
    if (storage === undefined || by.length === 0 || keys.of(storage).some((key) => isMeant(key, by)))
      return []
    const message = `${by.join(', ')}: no unique field of the storage ${storage} yet. Until it is, runs of this block fail.`
    return [{ block: block.guid, pin: 'by', message, level: 'warn' }]
  })
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
