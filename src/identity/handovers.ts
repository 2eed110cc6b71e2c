/**
 * A session that is handed over: from pages to the studio of the same browser, which gets the session of the cookie; and from pages to a
 * program of the user (`quoin login`), which gets a session of its own. The code works for five minutes, once, together with
 * what only the receiver has: the cookie, or the verifier whose hash the program showed before (as PKCE, RFC 7636). It works while the
 * session that it was made from lasts: a code that outlived a sign-out would undo it.
 */
import { hash } from 'node:crypto'
import { type AccessContext, type Sender, unixSeconds } from '../access/access-context.ts'
import { identify } from '../access/identify.ts'
import type { Identity } from '../access/identity-cache.ts'
import { requirePerson } from '../access/keys/allowed-endpoints.ts'
import { type SignedIn, startSession } from '../access/sign-in.ts'
import { originIn } from '../access/tokens.ts'
import { userRecord } from '../access/user-record.ts'
import { QuoinError } from '../shared/errors.ts'
import { setFields } from '../shared/mutation.ts'
import { documentOf } from '../storage/database.ts'
import { numberIn } from '../storage/document-fields.ts'
import { systemStorages } from '../storage/system-storages.ts'
import { transactAgain } from '../storage/transact.ts'
import { createChallenge, findChallenge, passwordMark, useChallenge } from './challenge.ts'

export interface Handovers {
  /** A code for the studio, of the session of this token. */
  toStudio(token: string): Promise<string>
  /** A code for a program. `verifierHash`: SHA-256 of its verifier, in base64url. */
  toProgram(by: Identity, verifierHash: string): Promise<string>
  /** Whether the code is of this session. INVALID_CREDENTIALS otherwise, and when it was used. */
  useInStudio(code: string, by: Identity | undefined): Promise<void>
  /** INVALID_CREDENTIALS for a code or verifier that is wrong or was used. */
  signInProgram(code: string, verifier: string, sender: Sender): Promise<SignedIn>
}

/** `during`: keeps the room open while the work is under way. */
export function handovers(
  context: AccessContext,
  during: <T>(work: () => Promise<T>) => Promise<T>,
): Handovers {
  return {
    toStudio: (token) =>
      during(async () => {
        const by = await identify(context, token)
        if (!by) throw unusable()
        return codeFor(context, by, 'studio', by.tokenGuid)
      }),
    toProgram: (by, verifierHash) => during(() => codeFor(context, by, 'program', verifierHash)),
    useInStudio: (code, by) =>
      during(async () => {
        const now = unixSeconds(context.clock)
        await transactAgain(context.database, async (session) => {
          const requested = { kinds: ['studio'], boundTo: by?.tokenGuid ?? '', now } as const
          const found = await findChallenge(session, code, requested)
          if (!by || found?.userGuid !== by.guid || !(await useChallenge(session, found))) throw unusable()
        })
      }),
    signInProgram: (code, verifier, sender) => during(() => signInProgram(context, code, verifier, sender)),
  }
}

async function codeFor(
  context: AccessContext,
  by: Identity,
  kind: 'studio' | 'program',
  boundTo: string,
): Promise<string> {
  requirePerson(by)
  const now = unixSeconds(context.clock)
  const { challenge } = await transactAgain(context.database, async (session) => {
    const written = await session.update(systemStorages.users, by.guid, setFields({ last_activity: now }))
    if (written.outcome !== 'written') throw unusable()
    const token = await session.get(systemStorages.tokens, by.tokenGuid)
    if (token === undefined) throw unusable()
    const record = documentOf(token)
    // The new session is as old as this one: a sign-in of days ago is no confirmation.
    const as = { from: originIn(record), confirmed: numberIn(record.confirmed) || numberIn(record.created) }
    const password = passwordMark(documentOf(written.document))
    const handed = { kind, userGuid: by.guid, tokenGuid: by.tokenGuid, boundTo } as const
    const about = { ...handed, password, secret: '', ...as }
    return createChallenge(session, context.random, about, now)
  })
  return challenge
}

function signInProgram(
  context: AccessContext,
  code: string,
  verifier: string,
  sender: Sender,
): Promise<SignedIn> {
  const now = unixSeconds(context.clock)
  const boundTo = hash('sha256', verifier, 'base64url')
  return transactAgain(context.database, async (session) => {
    const found = await findChallenge(session, code, { kinds: ['program'], boundTo, now })
    if (!found) throw unusable()
    const written = await session.update(
      systemStorages.users,
      found.userGuid,
      setFields({ last_activity: now }),
    )
    const user = written.outcome === 'written' ? userRecord(documentOf(written.document)) : undefined
    if (!user?.isActive || passwordMark(user.document) !== found.password) throw unusable()
    const from = await session.get(systemStorages.tokens, found.tokenGuid ?? '')
    if (from === undefined || numberIn(documentOf(from).expiry) <= now) throw unusable()
    if (!(await useChallenge(session, found))) throw unusable()
    return startSession(context, session, user, sender, now, found)
  })
}

function unusable(): QuoinError {
  return new QuoinError('INVALID_CREDENTIALS', 'This sign-in has expired or was used. Sign in again.')
}
