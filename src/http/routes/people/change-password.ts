import type { Access } from '../../../access/access.ts'
import type { Identity } from '../../../access/identity-cache.ts'
import { requirePerson } from '../../../access/keys/allowed-endpoints.ts'
import { invalidField, QuoinError } from '../../../shared/errors.ts'
import type { JsonObject } from '../../../shared/json.ts'

/**
 * A person at an unlocked screen must not take over the account, so the current password is asked for. Wrong ones count
 * towards the lock like those of sign-ins.
 */
export async function changeKnowingPassword(
  access: Access,
  caller: Identity,
  changes: JsonObject,
  currentPassword: string | undefined,
  ip: string,
): Promise<JsonObject> {
  requirePerson(caller)
  if (currentPassword === undefined)
    throw invalidField('current_password', 'current_password is required to change your own password.')
  try {
    await access.checkPassword({ username: caller.username, password: currentPassword, ip })
  } catch (error) {
    // The caller is known and signed in: a 401 would send them to sign in again.
    if (error instanceof QuoinError && error.code === 'INVALID_CREDENTIALS')
      throw invalidField('current_password', 'current_password is wrong.')
    throw error
  }
  return access.updateUser(caller.guid, changes, caller, { currentPassword: true })
}
