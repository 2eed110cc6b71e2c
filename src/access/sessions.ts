/**
 * Sessions: where a user is signed in. A session is an access token; ending one deletes the token, which is then refused on
 * every node. Users end their own, administrators those of users whom they may change (`permitted-change.ts`). The token is
 * marked before it is deleted, so that the audit log has what was ended by a user and not what expired.
 */
import { deleteGrantOf } from '../identity/agent-grants.ts'
import { deleteChallenges } from '../identity/challenge.ts'
import { QuoinError } from '../shared/errors.ts'
import type { JsonObject } from '../shared/json.ts'
import { setFields } from '../shared/mutation.ts'
import type { Session } from '../storage/database.ts'
import { documentOf } from '../storage/database.ts'
import { guidOf, numberIn, textIn } from '../storage/document-fields.ts'
import { systemStorages } from '../storage/system-storages.ts'
import { type AccessContext, unixSeconds } from './access-context.ts'
import type { Identity } from './identity-cache.ts'
import { tokensOf } from './tokens.ts'
import { changeUser } from './users.ts'

export interface Sessions {
  /** The one used last first. `current`: guid of the caller's token. NOT_FOUND for an unknown user. */
  list(userGuid: string, current: string | undefined): Promise<readonly JsonObject[]>
  /** NOT_FOUND, INSUFFICIENT_PERMISSIONS (a scope of the user not held, or by an API key). */
  end(userGuid: string, guid: string, by: Identity): Promise<void>
  /** Ends all, except one where it is given. Gives how many. As `end`. */
  endAll(userGuid: string, by: Identity, except?: string): Promise<number>
  /** Ends what the user has allowed an agent. As `end`. */
  endAgent(userGuid: string, guid: string, by: Identity): Promise<void>
}

/** `during`: keeps the room open while the work is under way. */
export function sessions(
  context: AccessContext,
  during: <T>(work: () => Promise<T>) => Promise<T>,
): Sessions {
  return {
    list: (userGuid, current) => during(() => list(context, userGuid, current)),
    end: (userGuid, guid, by) =>
      during(async () => {
        const requested = ({ guid: found }: { guid: string }) => found === guid
        if ((await end(context, userGuid, by, requested)) === 0)
          throw new QuoinError('NOT_FOUND', `This user has no session ${guid}.`)
      }),
    endAgent: (userGuid, guid, by) =>
      during(async () => {
        await changeUser(context, userGuid, by, async (session, user) => {
          await deleteGrantOf(session, userGuid, guid)
          return user.document
        })
      }),
    endAll: (userGuid, by, except) =>
      during(() =>
        end(
          context,
          userGuid,
          by,
          ({ guid }) => guid !== except,
          (session) => deleteChallenges(session, 'user_guid', userGuid, () => true),
        ),
      ),
  }
}

async function list(
  context: AccessContext,
  userGuid: string,
  current: string | undefined,
): Promise<readonly JsonObject[]> {
  const session = context.database.session()
  if (!(await session.get(systemStorages.users, userGuid)))
    throw new QuoinError('NOT_FOUND', `There is no user ${userGuid}.`)
  const now = unixSeconds(context.clock)
  const { tokenSeconds } = context.settings
  return (await tokensOf(session, userGuid))
    .filter(({ expiry }) => numberIn(expiry) > now)
    .map((token) => ({
      _meta: token._meta ?? null,
      created: numberIn(token.created),
      // Use extends the token, which is written at most once an hour.
      last_used: Math.max(numberIn(token.created), numberIn(token.expiry) - tokenSeconds),
      expiry: numberIn(token.expiry),
      ip: textIn(token.ip),
      agent: textIn(token.agent),
      current: guidOf(token) === current,
    }))
}

async function end(
  context: AccessContext,
  userGuid: string,
  by: Identity,
  requested: (token: { readonly guid: string }) => boolean,
  also: (session: Session) => Promise<void> = async () => {},
): Promise<number> {
  let ended = 0
  await changeUser(context, userGuid, by, async (session, user) => {
    const tokens = await tokensOf(session, userGuid)
    // In order of their expiry, as all deletions of tokens.
    for (const token of tokens.toReversed()) {
      if (!requested({ guid: guidOf(token) })) continue
      ended += await endOne(session, guidOf(token), by)
    }
    await also(session)
    return user.document
  })
  return ended
}

/** Those of before the first factor of a user: a thief of the password may have one. In a transaction that has written the user. */
export async function endSessions(
  session: Session,
  user: Pick<Identity, 'guid' | 'username'>,
  except?: string,
): Promise<void> {
  for (const token of (await tokensOf(session, user.guid)).toReversed())
    if (guidOf(token) !== except) await endOne(session, guidOf(token), user)
}

/** 0 if it ended by itself meanwhile. */
async function endOne(
  session: Session,
  guid: string,
  { username }: Pick<Identity, 'username'>,
): Promise<number> {
  const marked = await session.update(systemStorages.tokens, guid, setFields({ ended_by: username }))
  if (marked.outcome !== 'written') return 0
  const deleted = await session.delete(systemStorages.tokens, guidOf(documentOf(marked.document)))
  return deleted.outcome === 'written' ? 1 : 0
}
