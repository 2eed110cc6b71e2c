import type { BlockDefinition } from '../../../blocks/block.ts'
import { unknownSettings } from '../../../blocks/pins/read-settings.ts'
import type { Block } from '../../../shared/blueprint.ts'
import type { Steps } from '../../../shared/in-turns.ts'
import { bounded, type DeployNote } from './deploy-note.ts'

/**
 * Settings that a block does not have. Such a setting does nothing, so what its builder meant by it does not happen: it is refused as an
 * unknown pin is, except in what was deployed before it was refused.
 */
export function* unknownSettingNotes(
  blocks: readonly Block[],
  catalogue: ReadonlyMap<string, BlockDefinition>,
): Steps<readonly DeployNote[]> {
  const notes: DeployNote[] = []
  for (const { guid, type, fields } of blocks) {
    const definition = catalogue.get(type)
    const unknown = definition ? unknownSettings(definition, fields) : []
    for (const { setting, message } of unknown)
      notes.push({ block: guid, pin: setting, message, level: 'warn', refused: 'unless deployed before' })
    yield
  }
  return bounded(notes, 'settings that a block does not have')
}
