import type { Block } from '../../../shared/blueprint.ts'
import type { DeployNote } from './deploy-note.ts'

/** Lists of terms that come from elsewhere and may be empty, where the file does not say what that means. */
export function emptyListNotes(blocks: readonly Block[]): DeployNote[] {
  return blocks.flatMap(({ guid, type, in_pins: pins }) => {
    const isWired = pins.some(({ id, from }) => id === 'terms' && (from ?? []).length > 0)
    if (type !== 'query_bool_must' || !isWired || pins.some(({ id }) => id === 'ignore_empty')) return []
    const message =
      'An empty list of terms finds nothing; in former versions it gave no filter. Set ignore_empty to false to keep this, or to true for no filter.'
    return [{ block: guid, pin: 'ignore_empty', message, level: 'warn' as const }]
  })
}
