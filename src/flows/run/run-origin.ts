/** On whose behalf a run writes, and how that goes along with the jobs that it causes. */
import { isJsonObject, type JsonObject, type JsonValue } from '../../shared/json.ts'
import type { Origin } from '../../storage/database.ts'

export type Cause = Pick<Origin, 'user' | 'depth' | 'hops' | 'afterFailure'>

/** The cause that the run was started with; without one the user of its request. */
export function runOrigin(run: string, user: JsonObject | undefined, cause: Cause = {}): Origin {
  const by = cause.user ?? (user && userOf(user._meta, user))
  const { depth = 0, hops, afterFailure } = cause
  return {
    ...{ run, depth },
    ...(hops && { hops }),
    ...(afterFailure && { afterFailure }),
    ...(by && { user: by }),
  }
}

/** The cause of a job, for its payload. `run`: the one that stored it, so that taking it back finds the job. */
export function originPayload({ user, depth = 0, hops, afterFailure, run }: Origin): JsonObject {
  return {
    depth,
    ...(run !== undefined && { run }),
    ...(hops && { hops }),
    ...(afterFailure && { after_failure: true }),
    ...(user && { user: { guid: user.guid, username: user.username } }),
  }
}

/** What {@link originPayload} wrote. */
export function originIn({ user, depth, hops, after_failure }: JsonObject): Cause {
  const by = isJsonObject(user) ? userOf(user, user) : undefined
  return {
    depth: typeof depth === 'number' ? depth : 0,
    ...(typeof hops === 'number' && { hops }),
    ...(after_failure === true && { afterFailure: true }),
    ...(by && { user: by }),
  }
}

function userOf(identified: JsonValue | undefined, { username }: JsonObject): Origin['user'] {
  const guid = isJsonObject(identified) ? identified.guid : undefined
  return typeof guid === 'string' && typeof username === 'string' ? { guid, username } : undefined
}
