import { invalidField } from '../shared/errors.ts'
import type { Random } from '../shared/guid.ts'
import { matchAll } from '../shared/query.ts'
import { guidOf } from '../storage/document-fields.ts'
import { findOne } from '../storage/find-documents.ts'
import { systemStorages } from '../storage/system-storages.ts'
import { transact } from '../storage/transact.ts'
import { type AccessContext, takeTurn } from './access-context.ts'
import { checkPassword } from './user-input.ts'
import { insertUser } from './users.ts'

const USERNAME = 'admin'
/** 32 characters, so that each is as likely as another; without i, l, o and 0, which are misread. */
const ALPHABET = 'abcdefghjkmnpqrstuvwxyz123456789'

export interface FirstAdministrator {
  readonly guid: string
  readonly username: string
  /** Only when it was made up here. */
  readonly password: string | undefined
}

/**
 * Makes `admin`, who holds `*`, if there is no user at all: with the password given, or a random one (100 bits), which is
 * then in the reply and nowhere else. Undefined if there are users. Nodes that start together make one. It is in the group `owner` if that
 * requires a second factor.
 */
export async function ensureAdministrator(
  context: AccessContext,
  password: string | undefined,
): Promise<FirstAdministrator | undefined> {
  if ((await context.database.session().count(systemStorages.users, matchAll)) > 0) return undefined
  // Only now: a cluster that has users does not look at it, and starts whatever it is.
  if (password !== undefined) await checkFirstPassword(password)
  const made = password === undefined ? randomPassword(context.random) : undefined
  const passwordHash = await context.passwords.hash(password ?? made ?? '')
  return transact(context.database, async (session) => {
    await takeTurn(session, context.turnGuid)
    if ((await session.count(systemStorages.users, matchAll)) > 0) return undefined
    const owner = await findOne(session, systemStorages.groups, 'name_key', 'owner')
    const groups = typeof owner?.second_factor_days === 'number' ? [guidOf(owner)] : []
    const user = await insertUser(session, { username: USERNAME, custom_scopes: ['*'], groups }, passwordHash)
    return { guid: guidOf(user), username: USERNAME, password: made }
  })
}

/** Files that are copied say CHANGE where a password is to be written. */
async function checkFirstPassword(password: string): Promise<void> {
  if (/^change/i.test(password))
    throw invalidField(
      'password',
      `password begins with ${password.slice(0, 6)}: it is the one of an example file.`,
    )
  await checkPassword(password, USERNAME)
}

/** Four groups of five, such as `k7m2p-…`: easy to copy by eye. */
function randomPassword(random: Random): string {
  const bytes = new Uint8Array(20)
  random(bytes)
  const letters = Array.from(bytes, (byte) => ALPHABET[byte % ALPHABET.length] ?? '')
  return [0, 5, 10, 15].map((start) => letters.slice(start, start + 5).join('')).join('-')
}
