import type { Actor } from '../../records/records.ts'
import type { FormerCaller, RunStart } from '../run/run-start.ts'

/**
 * As whom blocks with `as: user` act behind a wait: the user of the request that the run began with, holding what that request
 * held and the user holds still. So neither an API key with few scopes nor a user who has lost one gains by waiting.
 */
export async function formerCaller(
  { guid, username }: Actor,
  held: ReadonlySet<string>,
  findActive: (guid: string) => Promise<FormerCaller | undefined>,
): Promise<NonNullable<RunStart['caller']>> {
  const present = await findActive(guid)
  return () => {
    if (present) return { user: present.user, scopes: heldByBoth(held, present.scopes) }
    throw new Error(
      `The user ${username}, who began the run, is gone or not active: no block can act as this user any more.`,
    )
  }
}

function heldByBoth(former: ReadonlySet<string>, present: ReadonlySet<string>): ReadonlySet<string> {
  if (former.has('*')) return present
  return present.has('*') ? former : former.intersection(present)
}
