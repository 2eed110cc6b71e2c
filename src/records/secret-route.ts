/**
 * Records that send a secret somewhere: connections, alerts. The text goes where the record says, so a user who names a secret
 * in one, or changes what says where it goes, needs the scope of secrets too.
 */
import { isDeepStrictEqual } from 'node:util'
import { QuoinError } from '../shared/errors.ts'
import type { JsonValue } from '../shared/json.ts'
import type { ManagementScope } from '../shared/management-scopes.ts'

/** Whether the caller is without a scope. */
export type Lacks = (scope: ManagementScope) => boolean

/** `before` and `after`: all of a record that decides where the secret goes. Throws INSUFFICIENT_PERMISSIONS. */
export function checkSecretRoute(
  before: { readonly secret: string; readonly to: JsonValue } | undefined,
  after: { readonly secret: string; readonly to: JsonValue },
  lacks: Lacks,
): void {
  if ((before?.secret ?? '') === '' && after.secret === '') return
  if (isDeepStrictEqual(before, after) || !lacks('secrets_update')) return
  throw new QuoinError(
    'INSUFFICIENT_PERMISSIONS',
    `The scope secrets_update is missing: it is needed to name a secret (${after.secret || before?.secret}), and to change the server that gets it.`,
  )
}
