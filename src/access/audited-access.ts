import type { AuditedStorages } from '../records/audit-log.ts'
import { ownStorages } from '../storage/own-storages.ts'

/** The records of this room whose changes are audited. Tokens are not: user logs tell of sign-ins. */
export const auditedAccess: AuditedStorages = {
  [ownStorages.users]: {
    category: 'users',
    secrets: { password_hash: 'password' },
    counters: ['login_attempts', 'locked_until', 'last_activity', 'known_addresses'],
    derived: ['username_key', 'email_key', 'invitation'],
  },
  [ownStorages.apiKeys]: {
    category: 'api_keys',
    secrets: { key_hash: 'secret', previous_hash: 'previous_secret' },
  },
  [ownStorages.groups]: { category: 'authentication_groups', derived: ['name_key'] },
}
