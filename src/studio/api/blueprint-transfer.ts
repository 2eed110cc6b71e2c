import type { Block as SavedBlock } from '../../shared/blueprint.ts'
import type { BlueprintFile } from '../../shared/blueprint-file.ts'
import { blueprintOfFile, exportBlueprint } from '../../shared/blueprint-file.ts'
import { blocksOf, forgetBlueprints } from './blueprints.ts'
import type { Block, Blueprint } from './records.ts'
import { call } from './request.ts'

/** So many blocks are made at once. */
const AT_ONCE = 6

/**
 * Makes a blueprint from a file: its blocks first, since the server gives the guids that wires name, then the wires, then
 * all is saved at once. Gives its guid. If anything fails, what was made is removed again.
 */
export async function importBlueprintFile(
  file: BlueprintFile,
  onProgress: (share: number) => void = () => {},
): Promise<string> {
  const { name, description, blocks } = blueprintOfFile(file, () => crypto.randomUUID())
  const made = await call<Blueprint>('POST', '/blueprints', { body: { name, description } })
  const blueprint = made._meta.guid
  try {
    const steps = blocks.length * 2 + 1
    let done = 0
    const step = () => onProgress(++done / steps)
    const guids = new Map<string, string>()
    await each(blocks, async ({ guid, in_pins: _later, ...content }) => {
      const block = await call<Block>('POST', '/blueprintactions', {
        body: { ...content, blueprint_guid: blueprint },
      })
      guids.set(guid, block._meta.guid)
      step()
    })
    await each(blocks, async (block) => {
      if (block.in_pins.length > 0)
        await call('PUT', `/blueprintactions/${guids.get(block.guid)}`, {
          body: { in_pins: rewired(block, guids) },
        })
      step()
    })
    await call('POST', `/blueprintactions/unsaved/${blueprint}`)
    step()
  } catch (error) {
    await call('DELETE', `/blueprints/${blueprint}`).catch(() => undefined)
    throw error
  } finally {
    await forgetBlueprints()
  }
  return blueprint
}

function rewired(block: SavedBlock, guids: ReadonlyMap<string, string>) {
  return block.in_pins.map((pin) => ({
    ...pin,
    ...(pin.from && { from: pin.from.map((end) => ({ ...end, block: guids.get(end.block) ?? end.block })) }),
  }))
}

/** The saved blocks of a blueprint as a file: what is only staged is left out. */
export async function exportBlueprintFile({ _meta, name, description }: Blueprint): Promise<BlueprintFile> {
  const blocks = (await blocksOf(_meta.guid)).filter(({ is_created }) => is_created)
  // Records hold the same content; the API's types only say so less exactly.
  const saved = blocks.map((block) => ({ ...block, guid: block._meta.guid }) as unknown as SavedBlock)
  return exportBlueprint({ name, description, blocks: saved.toSorted((a, b) => (a.guid < b.guid ? -1 : 1)) })
}

async function each<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const waiting = [...items]
  const worker = async () => {
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) await work(item)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
}
