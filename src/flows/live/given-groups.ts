/** Blocks that put users into authentication groups: they do for every caller what their deployer must be allowed to do. */
import type { BlockDefinition } from '../../blocks/block.ts'
import type { Block } from '../../shared/blueprint.ts'
import { QuoinError } from '../../shared/errors.ts'
import type { Session } from '../../storage/database.ts'
import { textIn, textsIn } from '../../storage/document-fields.ts'
import { findAll } from '../../storage/find-documents.ts'
import { ownStorages } from '../../storage/own-storages.ts'
import { refusedBlueprint } from '../compile/compile-blueprint.ts'

/** VALIDATION_FAILED for a group that does not exist, INSUFFICIENT_PERMISSIONS for a scope that the deployer lacks. */
export async function refuseLackedGroups(
  session: Session,
  blocks: readonly Block[],
  catalogue: ReadonlyMap<string, BlockDefinition>,
  lacks: (scope: string) => boolean,
): Promise<void> {
  for (const block of blocks) {
    const definition = catalogue.get(block.type)
    if (definition?.kind !== 'flow' || definition.givesGroups === undefined) continue
    const names = textsIn(block.fields[definition.givesGroups])
    if (names.length === 0) continue
    const query = { kind: 'terms', field: 'name', values: [...names] } as const
    const groups = await findAll(session, ownStorages.groups, query, names.length)
    const missing = names.find((name) => !groups.some((group) => textIn(group.name) === name))
    if (missing !== undefined) {
      const message = `There is no authentication group ${missing}.`
      const problem = { block: block.guid, pin: definition.givesGroups, message }
      throw refusedBlueprint('cannot run', [problem], blocks)
    }
    const scope = groups.flatMap((group) => textsIn(group.scopes)).find(lacks)
    if (scope !== undefined)
      throw new QuoinError(
        'INSUFFICIENT_PERMISSIONS',
        `The blueprint has the block ${JSON.stringify(block.title || definition.title)}, which gives users the scope ${scope}. Only a user who holds it may deploy the blueprint.`,
      )
  }
}
