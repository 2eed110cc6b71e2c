import type { Actor } from '../../records/records.ts'
import { guidOf } from '../../storage/document-fields.ts'
import type { Flows } from '../flows.ts'
import { stageEdits } from './block-edits.ts'
import { importBlueprint } from './blueprint-file.ts'
import { createBlueprint } from './blueprint-records.ts'
import { saveStaged } from './settle-staged.ts'

/**
 * Makes a blueprint from a file and activates it. All of its blocks are one transaction. For files that come with
 * the program or that its owner installs: they may have the pages for signing in.
 */
export async function installBlueprint(flows: Flows, file: unknown, by: Actor): Promise<string> {
  const { records, catalogue, random, newGuid, deployments } = flows
  const { blocks, ...described } = importBlueprint(file, newGuid)
  const blueprint = guidOf(await createBlueprint(records, random, described, by))
  const edits = blocks.map(({ guid, ...content }) => ({ guid, update_hash: null, content }))
  await stageEdits(records, catalogue, blueprint, edits, by)
  await saveStaged(records, blueprint, by)
  await deployments.activate(blueprint, { ...by, mayTakeAccountPages: true, lacks: () => false })
  return blueprint
}
