import { QuoinError } from '../../shared/errors.ts'
import type { Identity } from '../identity.ts'

/**
 * INSUFFICIENT_PERMISSIONS for an API key: a key that leaks must not become a second key, a new password or more scopes,
 * which would outlive it.
 */
export function requirePerson(by: Identity): void {
  if (by.key === undefined) return
  throw new QuoinError(
    'INSUFFICIENT_PERMISSIONS',
    'API keys cannot create or change users, groups, API keys or sessions. Sign in and use an access token.',
  )
}
