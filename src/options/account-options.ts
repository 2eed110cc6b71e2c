import { list, number, type OptionGroup, type ReadGroup, type ReadOne, text } from './option-kinds.ts'

/** `off`, or the groups of users who sign up: none for `on`. */
function signUpGroups(given: string): 'off' | readonly string[] | undefined {
  if (given === 'off') return 'off'
  const groups = given === 'on' ? [] : list.read(given)
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
    read: (given: string) => signUpGroups(given),
  },
  lockoutAttempts: {
    variable: 'QUOIN_LOCKOUT_ATTEMPTS',
    fallback: '10',
    help: 'Failed sign-ins in a row from one network that lock a user for that network; ten times as many from unknown networks lock all of them.',
    changeable: true,
    ...number(1, 1000),
  },
  lockoutSeconds: {
    variable: 'QUOIN_LOCKOUT_SECONDS',
    fallback: '900',
    help: 'Seconds for which a user stays locked.',
    changeable: true,
    ...number(1, 31_536_000),
  },
} as const satisfies OptionGroup

export function readAccountOptions(read: ReadOne): ReadGroup<typeof accountOptions> {
  return {
    adminPassword: read(accountOptions.adminPassword),
    signUp: read(accountOptions.signUp),
    lockoutAttempts: read(accountOptions.lockoutAttempts),
    lockoutSeconds: read(accountOptions.lockoutSeconds),
  }
}
