import type { Block } from '../../shared/blueprint.ts'
import type { Problem } from '../../shared/errors.ts'
import type { CompiledEndpoint } from './frame.ts'

/** What is said of blocks that can run; keeps nothing from being deployed. */
export type DeployNote = Problem & { readonly level: 'warn' | 'info' }

/** Public endpoints that ask for caching although their replies may be for one caller alone. */
export function cachingNotes(endpoints: readonly CompiledEndpoint[]): DeployNote[] {
  return endpoints.flatMap(({ block, listening, scopes, callerBlind }) => {
    const isPublic = scopes.length === 0 || scopes.includes('*public')
    if (listening.cacheSeconds === 0 || !isPublic || callerBlind) return []
    const message = `cache_seconds of GET ${listening.uri}: the reply may depend on the caller, so shared caches must not store it (private). Remove blocks that read the user or the headers and custom functions, or set cache_seconds to 0.`
    return [{ block, pin: 'cache_seconds', message, level: 'warn' as const }]
  })
}

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
