/** Gives a token that is used its full lifetime again. */

import { setTimeout as wait } from 'node:timers/promises'
import { QuoinError } from '../shared/errors.ts'
import type { JsonObject } from '../shared/json.ts'
import type { Mutation } from '../shared/mutation.ts'
import { guidOf, updateHashOf } from '../storage/document-fields.ts'
import { ownStorages } from '../storage/own-storages.ts'
import { transact } from '../storage/transact.ts'
import type { AccessContext, TokenExtension } from './access-context.ts'

/** Far longer than a write takes. Who asks is known by then, and where writes hang, reads should not. */
const PATIENCE_MS = 1_000

/** False if the token is gone. */
export async function extendToken(
  context: AccessContext,
  token: JsonObject,
  userGuid: string,
  now: number,
): Promise<boolean> {
  const guid = guidOf(token)
  const extension =
    context.extensions.get(guid) ?? begin(context, guid, extend(context, token, userGuid, now))
  if (extension.isLate) return true
  return Promise.race([
    extension.done,
    wait(PATIENCE_MS, undefined, { ref: false }).then(() => late(extension)),
  ])
}

function begin({ extensions }: AccessContext, guid: string, done: Promise<boolean>): TokenExtension {
  const extension = { done, isLate: false }
  extensions.set(guid, extension)
  done.catch(() => undefined).finally(() => extensions.delete(guid))
  return extension
}

function late(extension: TokenExtension): true {
  extension.isLate = true
  return true
}

/**
 * Also notes that the user was here. The update hash keeps requests that come together from writing twice, and a token that
 * was signed out from coming back.
 */
async function extend(
  context: AccessContext,
  token: JsonObject,
  userGuid: string,
  now: number,
): Promise<boolean> {
  const expiry: Mutation = { op: 'set', field: 'expiry', value: now + context.settings.tokenSeconds }
  const seen: Mutation = { op: 'set', field: 'last_activity', value: now }
  const updateHash = updateHashOf(token)
  try {
    return await transact(context.database, async (session) => {
      // The user first, as everywhere: two transactions that take both never wait for each other crosswise.
      await session.update(ownStorages.users, userGuid, [seen])
      const extended = await session.update(ownStorages.tokens, guidOf(token), [expiry], { updateHash })
      if (extended.outcome !== 'written') await session.transaction.rollback()
      return extended.outcome !== 'not_found'
    })
  } catch (error) {
    // A full disk or a busy writer is no reason to turn away who can be told: reading still works.
    if (error instanceof QuoinError && (error.code === 'STORAGE_FULL' || error.code === 'UNAVAILABLE'))
      return true
    throw error
  }
}
