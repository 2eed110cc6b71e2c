/**
 * Tokens as `_tokens` keeps them: `{ user_guid, token_hash, ip, agent, created, expiry, provider, provider_sid }`, times in Unix seconds. Use extends
 * `expiry`, so among tokens of one user the one that expires first is the one used longest ago.
 */

import { deleteGrantsOf } from '../identity/agent-grants.ts'
import { logText } from '../records/batched-log.ts'
import type { Random } from '../shared/guid.ts'
import type { JsonObject } from '../shared/json.ts'
import { setFields } from '../shared/mutation.ts'
import { search } from '../shared/query.ts'
import type { Session } from '../storage/database.ts'
import { guidOf, textIn } from '../storage/document-fields.ts'
import { documentsOf, findAll } from '../storage/find-documents.ts'
import { systemStorages } from '../storage/system-storages.ts'
import { accessTokenHash, newAccessToken } from './identify.ts'

/** Places where a user is signed in at once. A program that signs in for each request would else fill the storage. */
const MOST_TOKENS = 100
const LONGEST_AGENT = 512

/** The sign-in provider that a session comes from, by its guid, and the session there. */
export interface SessionOrigin {
  readonly provider: string
  readonly sid: string
}

export function originIn({ provider, provider_sid: sid }: JsonObject): SessionOrigin | undefined {
  return textIn(provider) === '' ? undefined : { provider: textIn(provider), sid: textIn(sid) }
}

/** Stores a new token and gives its text, which is nowhere else. */
export async function createToken(
  session: Session,
  random: Random,
  token: {
    readonly userGuid: string
    readonly ip: string
    readonly agent: string
    readonly created: number
    readonly expiry: number
    readonly from?: SessionOrigin | undefined
    /** Unix seconds, of the session that this one is made from; else it was confirmed when it was created. */
    readonly confirmed?: number | undefined
  },
): Promise<string> {
  const text = newAccessToken(random)
  await session.create(systemStorages.tokens, [
    { op: 'set', field: 'user_guid', value: token.userGuid },
    { op: 'set', field: 'token_hash', value: accessTokenHash(text) ?? null },
    { op: 'set', field: 'ip', value: token.ip },
    { op: 'set', field: 'agent', value: logText(token.agent, LONGEST_AGENT) },
    { op: 'set', field: 'created', value: token.created },
    { op: 'set', field: 'expiry', value: token.expiry },
    ...(token.from ? setFields({ provider: token.from.provider, provider_sid: token.from.sid }) : []),
    ...(token.confirmed === undefined ? [] : setFields({ confirmed: token.confirmed })),
  ])
  return text
}

/**
 * Makes room for one more token of a user: those used longest ago go. Write the user first: no other sign-in can then add
 * one unseen. In order of their expiry, as all deletions of tokens, so that none deadlock.
 */
export async function deleteOldestTokens(session: Session, userGuid: string): Promise<void> {
  const query = { kind: 'term', field: 'user_guid', value: userGuid } as const
  const newestFirst = [{ field: 'expiry', order: 'desc', missing: 'last' }] as const
  // From before there was a limit there may be many: each sign-in takes up to a thousand of them.
  const requested = search({ query, sort: newestFirst, offset: MOST_TOKENS - 1, limit: 1_000 })
  const tooMany = documentsOf(await session.find(systemStorages.tokens, requested))
  for (const token of tooMany.toReversed()) await session.delete(systemStorages.tokens, guidOf(token))
}

/** The tokens of a user, the one used last first. */
export function tokensOf(session: Session, userGuid: string): Promise<JsonObject[]> {
  const query = { kind: 'term', field: 'user_guid', value: userGuid } as const
  const newestFirst = { field: 'expiry', order: 'desc', missing: 'last' } as const
  return findAll(session, systemStorages.tokens, query, MOST_TOKENS, [newestFirst])
}

/** Deletes all tokens of a user, and what the user has allowed agents. Write the user first: no sign-in can then add one unseen. */
export async function deleteTokensOf(session: Session, userGuid: string): Promise<void> {
  const page = 500
  for (;;) {
    const tokens = await findAll(
      session,
      systemStorages.tokens,
      { kind: 'term', field: 'user_guid', value: userGuid },
      page,
      [{ field: 'expiry', order: 'asc', missing: 'first' }],
    )
    for (const token of tokens) await session.delete(systemStorages.tokens, guidOf(token))
    if (tokens.length < page) return deleteGrantsOf(session, userGuid)
  }
}
