/**
 * The pages at which passwords are typed. Quoin has them; a blueprint may have its own in their place, if a user deploys
 * it who holds `blueprints_account_pages`.
 */
export const accountPaths = {
  signIn: 'login',
  signOut: 'logout',
  password: 'password',
  /** Asks for a link to a new password. */
  forgot: 'password/forgot',
  /** Where such a link leads, and those of invitations and of users who sign up. */
  choose: 'password/set',
  signUp: 'login/new',
  /** The second step of a sign-in. */
  code: 'login/code',
  /** The second factor of the signed-in user. */
  factor: 'password/app',
  /** The passkeys of the signed-in user. */
  passkeys: 'password/passkeys',
} as const

/** The name of the page template that these pages have, and all others that come with Quoin. Who writes it needs the same scope. */
export const ACCOUNT_TEMPLATE = 'sign-in'

/** Where a browser begins to sign in with a provider, and below it where the provider sends it back. */
export const PROVIDER_PATH = '_signin'

/** Begins the fragment with which a sign-in on a page leads into the studio; a code follows. */
export const HANDOVER = 'session='

export type AccountPath = (typeof accountPaths)[keyof typeof accountPaths]

/** For texts that name all of them. */
export const accountPathsListed = Object.values(accountPaths).join(', ')

const all: ReadonlySet<string> = new Set(Object.values(accountPaths))

export function isAccountPath(uri: string): uri is AccountPath {
  return all.has(uri)
}

/** In any case of letters: a page at `/Login` looks like the one where passwords are typed. */
export function looksLikeAccountPath(uri: string): boolean {
  return all.has(uri.toLowerCase())
}
