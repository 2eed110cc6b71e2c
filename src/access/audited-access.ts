import type { AuditedStorages } from '../records/audit-log.ts'
import { documentOf } from '../storage/database.ts'
import { systemStorages } from '../storage/system-storages.ts'

/**
 * The records of this room whose changes are audited. Of sessions only those that a user ended by hand: user logs have
 * sign-ins and sign-outs.
 */
export const auditedAccess: AuditedStorages = {
  [systemStorages.users]: {
    category: 'users',
    secrets: {
      password_hash: 'password',
      totp_secret: 'second_factor',
      recovery_codes: 'recovery_codes',
    },
    counters: [
      ...['login_attempts', 'locked_until', 'last_activity', 'known_addresses'],
      ...[
        'totp_step',
        'totp_used',
        'factor_failures',
        'factor_locked_until',
        'factor_required_since',
        'passkeys',
      ],
    ],
    derived: ['username_key', 'email_key', 'invitation', 'confirmed_email'],
  },
  [systemStorages.apiKeys]: {
    category: 'api_keys',
    secrets: { key_hash: 'secret', previous_hash: 'previous_secret' },
  },
  [systemStorages.agentGrants]: {
    category: 'agent_grants',
    secrets: { code_hash: 'code', access_hash: 'access_token', refresh_hash: 'refresh_token' },
    counters: ['redeemed', 'last_used', 'access_expiry', 'expiry'],
    derived: ['name_hash', 'once_hash', 'challenge'],
  },
  [systemStorages.tokens]: {
    category: 'sessions',
    secrets: { token_hash: 'token' },
    when: ({ kind, before }) =>
      kind === 'deleted' && before !== undefined && 'ended_by' in documentOf(before),
  },
  [systemStorages.passkeys]: {
    category: 'passkeys',
    counters: ['counter', 'last_used', 'backed_up'],
    derived: ['credential_hash', 'credential_id', 'public_key'],
  },
  [systemStorages.signInProviders]: {
    category: 'signin_providers',
    derived: ['modified_by', 'created_by'],
  },
  [systemStorages.providerAccounts]: {
    category: 'provider_accounts',
    derived: ['key'],
    counters: ['last_used'],
  },
  [systemStorages.groups]: { category: 'authentication_groups', derived: ['name_key'] },
}
