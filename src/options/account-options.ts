import { readSecretKey } from '../records/secrets/signing-secret.ts'
import { list, number, type OptionGroup, type ReadGroup, type ReadOne, text } from './option-kinds.ts'

/** `off`, or the groups of users who sign up: none for `on`. */
function signUpGroups(input: string): 'off' | readonly string[] | undefined {
  if (input === 'off') return 'off'
  const groups = input === 'on' ? [] : list.read(input)
  return groups.length <= 20 ? groups : undefined
}

/** Accounts of users, and how often a sign-in may fail. */
export const accountOptions = {
  adminPassword: {
    variable: 'QUOIN_ADMIN_PASSWORD',
    fallback: '',
    help: 'Password of the first administrator, at least 10 characters, not a common one. Empty: a random one, printed once.',
    secret: true,
    ...text,
  },
  signUp: {
    variable: 'QUOIN_SIGN_UP',
    fallback: 'off',
    help: 'Who may create an account at /login/new: off; on; or names of authentication groups that each new user joins.',
    accepts: 'off, on, or names of groups separated by commas',
    read: (input: string) => signUpGroups(input),
  },
  proofAbove: {
    variable: 'QUOIN_PROOF_ABOVE',
    fallback: '30',
    help: 'Sign-ups and requests for a new password that a node takes in ten minutes before browsers have to prove some work for each (docs/access.md). 0: always.',
    changeable: true,
    ofSpace: true,
    ...number(0, 1_000_000),
  },
  lockoutAttempts: {
    variable: 'QUOIN_LOCKOUT_ATTEMPTS',
    fallback: '10',
    help: 'Failed sign-ins in a row from one network that lock a user for that network; ten times as many from unknown networks lock all of them.',
    changeable: true,
    ofSpace: true,
    ...number(1, 1000),
  },
  lockoutSeconds: {
    variable: 'QUOIN_LOCKOUT_SECONDS',
    fallback: '900',
    help: 'Seconds for which a user stays locked.',
    changeable: true,
    ofSpace: true,
    ...number(1, 31_536_000),
  },
  signInProviders: {
    variable: 'QUOIN_SIGNIN_PROVIDERS',
    fallback: '',
    help: 'Providers that users sign in with, set here and not in the studio: the path of a JSON file, or its text (docs/identity.md). Read at the start, the same for all nodes. Secrets are named there, never written. Empty: none.',
    accepts: 'empty, the path of a file, or JSON',
    read: (input: string) => input,
  },
  confirmSeconds: {
    variable: 'QUOIN_CONFIRM_SECONDS',
    fallback: '',
    // Not changeable: an open session must not switch off what guards it.
    help: 'Seconds after a sign-in for which its session may change users, keys, secrets, groups, settings and the like; then the password or a passkey is asked for again. 0: never asked. Empty: 300 in production, and 43200 (12 hours) in development.',
    accepts: 'empty, or a whole number from 0 to 86400',
    read: (text: string) => (text === '' ? 'unset' : number(0, 86_400).read(text)),
  },
} as const satisfies OptionGroup

export function readAccountOptions(read: ReadOne): ReadGroup<typeof accountOptions> {
  return {
    adminPassword: read(accountOptions.adminPassword),
    signUp: read(accountOptions.signUp),
    proofAbove: read(accountOptions.proofAbove),
    lockoutAttempts: read(accountOptions.lockoutAttempts),
    lockoutSeconds: read(accountOptions.lockoutSeconds),
    signInProviders: read(accountOptions.signInProviders),
    confirmSeconds: read(accountOptions.confirmSeconds),
  }
}

/** Keys of secrets. */
export const secretOptions = {
  secretsKey: {
    variable: 'QUOIN_SECRETS_KEY',
    fallback: '',
    help: 'Key that encrypts secrets, the same on all nodes. Make one with: openssl rand -base64 32. Empty: on the embedded database the file secrets.key in QUOIN_DATA, which the first start makes; on PostgreSQL no secrets.',
    accepts: 'empty, or 32 bytes as base64 or hexadecimal digits',
    secret: true,
    read: (input: string) => (input === '' || readSecretKey(input) ? input : undefined),
  },
  secretsOldKeys: {
    variable: 'QUOIN_SECRETS_OLD_KEYS',
    fallback: '',
    help: 'Further keys that only decrypt secrets, separated by commas, until quoin secret rotate has run.',
    accepts: 'a list of keys as for QUOIN_SECRETS_KEY, separated by commas',
    secret: true,
    read: (input: string) => {
      const keys = list.read(input)
      return keys.every((key) => readSecretKey(key)) ? keys : undefined
    },
  },
} as const satisfies OptionGroup

export function readSecretOptions(read: ReadOne): ReadGroup<typeof secretOptions> {
  return {
    secretsKey: read(secretOptions.secretsKey),
    secretsOldKeys: read(secretOptions.secretsOldKeys),
  }
}
