import { guidOf } from '../storage/document-fields.ts'
import { createBlock, saveStaged, stageUpdate } from './block-staging.ts'
import { importBlueprint } from './blueprint-file.ts'
import { createBlueprint } from './blueprint-records.ts'
import type { Engine } from './engine.ts'
import type { Actor } from './records.ts'

/**
 * Makes a blueprint from a file and activates it. The blocks are made first and wired then, because the storage gives
 * the guids that wires name.
 */
export async function installBlueprint(engine: Engine, file: unknown, by: Actor): Promise<string> {
  const { records, catalogue, random, newGuid, deployments } = engine
  const imported = importBlueprint(file, newGuid)
  const { name, description } = imported
  const blueprint = guidOf(await createBlueprint(records, random, { name, description }, by))
  const guids = new Map<string, string>()
  for (const { guid, in_pins: _later, ...content } of imported.blocks) {
    const made = await createBlock(records, catalogue, { ...content, blueprint_guid: blueprint }, by)
    guids.set(guid, guidOf(made))
  }
  for (const block of imported.blocks) {
    const pins = block.in_pins.map((pin) => ({
      ...pin,
      ...(pin.from && {
        from: pin.from.map((end) => ({ ...end, block: guids.get(end.block) ?? end.block })),
      }),
    }))
    const guid = guids.get(block.guid) ?? block.guid
    if (pins.length > 0) await stageUpdate(records, catalogue, guid, { in_pins: pins }, by)
  }
  await saveStaged(records, blueprint, by)
  await deployments.activate(blueprint, by)
  return blueprint
}
