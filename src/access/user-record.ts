/** A user as `_users` keeps it, and what of it may leave this room. */

import type { JsonObject } from '../shared/json.ts'
import { guidOf, numberIn, textIn, textsIn } from '../storage/document-fields.ts'
import type { Grants } from './scopes.ts'

export interface UserRecord extends Grants {
  readonly guid: string
  readonly username: string
  /** Undefined for what was removed, and for an invited user who has set none yet. */
  readonly passwordHash: string | undefined
  readonly isActive: boolean
  /** It has no password and signs in by no way: programs use its API keys. */
  readonly isService: boolean
  /** From which the user signed in: see `known-addresses.ts`. */
  readonly knownAddresses: readonly string[]
  readonly document: JsonObject
}

/** The fields that leave this room, beside `_meta`. Whatever else a record holds stays here. */
const publicFields = [
  'username',
  'email',
  'firstname',
  'lastname',
  'timezone',
  'language',
  'settings',
  'custom_scopes',
  'groups',
  'is_active',
  'login_attempts',
  'locked_until',
  'last_activity',
] as const

export function userRecord(document: JsonObject): UserRecord {
  return {
    guid: guidOf(document),
    username: textIn(document.username),
    passwordHash: textIn(document.password_hash) || undefined,
    isActive: document.is_active === true,
    isService: document.is_service === true,
    knownAddresses: textsIn(document.known_addresses),
    customScopes: textsIn(document.custom_scopes),
    groups: textsIn(document.groups),
    document,
  }
}

/** The record without secrets: what a client, a block or a log may see. */
export function publicUser(document: JsonObject): JsonObject {
  return {
    _meta: document._meta ?? null,
    ...Object.fromEntries(publicFields.map((field) => [field, document[field] ?? null])),
    ...(document.is_service === true && { is_service: true }),
    ...(numberIn(document.invited_until) > 0 && { invited_until: numberIn(document.invited_until) }),
  }
}
