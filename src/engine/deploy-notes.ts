import type { Problem } from '../shared/errors.ts'
import type { CompiledEndpoint } from './frame.ts'

/** What is said of blocks that can run; keeps nothing from being deployed. */
export type DeployNote = Problem & { readonly level: 'warn' | 'info' }

/** Public endpoints that ask for caching although their replies may be for one caller alone. */
export function cachingNotes(endpoints: readonly CompiledEndpoint[]): DeployNote[] {
  return endpoints.flatMap(({ block, listening, scopes, callerBlind }) => {
    const isPublic = scopes.length === 0 || scopes.includes('*public')
    if (listening.cacheSeconds === 0 || !isPublic || callerBlind) return []
    const message = `cache_seconds of GET ${listening.uri}: the reply may depend on the caller, so shared caches are told not to keep it (private). Take out what looks at the user, the headers or a custom function, or set cache_seconds to 0.`
    return [{ block, pin: 'cache_seconds', message, level: 'warn' as const }]
  })
}
