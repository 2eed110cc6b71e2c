import type { CompiledEndpoint } from '../frame.ts'
import type { DeployNote } from './deploy-note.ts'

/** Public endpoints that ask for caching although their replies may be for one caller alone. */
export function cachingNotes(endpoints: readonly CompiledEndpoint[]): DeployNote[] {
  return endpoints.flatMap(({ block, listening, scopes, callerBlind }) => {
    const isPublic = scopes.length === 0 || scopes.includes('*public')
    if (listening.cacheSeconds === 0 || !isPublic || callerBlind) return []
    const message = `cache_seconds of GET ${listening.uri}: the reply may depend on the caller, so shared caches must not store it (private). Remove blocks that read the user or the headers and custom functions, or set cache_seconds to 0.`
    return [{ block, pin: 'cache_seconds', message, level: 'warn' as const }]
  })
}
