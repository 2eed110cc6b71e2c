import type { AuditedStorages } from '../records/audit-log.ts'
import { GROUPS } from './groups.ts'
import { USERS } from './user-record.ts'

/** The records of this room whose changes are audited. Tokens are not: user logs tell of sign-ins. */
export const auditedAccess: AuditedStorages = {
  [USERS]: {
    category: 'users',
    secrets: { password_hash: 'password' },
    counters: ['login_attempts', 'locked_until', 'last_activity', 'known_addresses'],
    derived: ['username_key', 'email_key'],
  },
  [GROUPS]: { category: 'authentication_groups', derived: ['name_key'] },
}
