/**
 * Talks to sign-in providers: where to send a browser, and who came back. The library is loaded with the first sign-in. What a
 * provider says of itself is cached for an hour, its keys as long as they work: an unknown key is asked for at once.
 */
import type { ClientAuth, Configuration, CustomFetch, ServerMetadata } from 'openid-client'
import { QuoinError } from '../shared/errors.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../shared/json.ts'
import { numberIn } from '../storage/document-fields.ts'
import { CONFIRMED_SECONDS } from './change-self.ts'
import { type EndedSession, type ProviderUser, providerRefused } from './provider-accounts.ts'
import { isSafe, type SignInProvider } from './sign-in-providers.ts'

const HOUR = 3_600_000
/** Seconds that the clock of a provider may be ahead or behind. */
const CLOCK_SECONDS = 30
/** Seconds for one request to a provider. */
const TIMEOUT = 10
/** As long as an unused session here. */
const DAYS_14 = 14 * 86_400
const LOGOUT_EVENT = 'http://schemas.openid.net/event/backchannel-logout'

/** What makes one sign-in differ from every other: kept by the browser, and told to the provider. */
export interface SignInChecks {
  readonly state: string
  readonly nonce: string
  /** PKCE. */
  readonly verifier: string
}

export interface Redeemed {
  readonly user: ProviderUser
  /** As the provider has signed it: for its sign-out alone, never stored or logged. Empty where there is none. */
  readonly idToken: string
}

export interface ProviderClient {
  /**
   * Where a browser signs in. `again`: the provider is to ask, also a user who is signed in there. UNAVAILABLE where the provider does
   * not answer.
   */
  authorizationUrl(
    provider: SignInProvider,
    checks: SignInChecks & { readonly redirectUri: string; readonly again: boolean },
  ): Promise<URL>
  /** Who has signed in. `callback`: the address to which the browser was sent back. INVALID_CREDENTIALS, UNAVAILABLE. */
  redeem(provider: SignInProvider, callback: URL, checks: SignInChecks): Promise<Redeemed>
  /** Where a browser signs out; undefined where the provider has no such address. Without `idToken` the provider may ask the user. */
  signOutUrl(
    provider: SignInProvider,
    { back, idToken }: { readonly back: string; readonly idToken: string | undefined },
  ): Promise<URL | undefined>
  /** The session that a logout token of the provider ends. INVALID_CREDENTIALS for another token. */
  endedSession(provider: SignInProvider, token: string): Promise<EndedSession>
}

export interface ProviderClientOptions {
  /** Sends a request where the cluster may. */
  readonly fetch: CustomFetch
  /** The text of a secret that is sent there. Throws UNAVAILABLE. */
  readonly secret: (name: string, to: URL) => string
  readonly clock: () => number
}

type Library = typeof import('openid-client')
type Keys = ReturnType<Library['getJwksCache']>

/** Of one provider as it is stored. */
interface Known {
  readonly until: number
  readonly server: Promise<ServerMetadata>
  keys: Keys
  /** Of logout tokens, which any client may send. */
  logoutKeys?: ReturnType<typeof import('jose')['createRemoteJWKSet']>
}

interface Context extends ProviderClientOptions {
  readonly known: Map<string, { readonly provider: SignInProvider; readonly facts: Known }>
}

export function providerClient(options: ProviderClientOptions): ProviderClient {
  const context: Context = { ...options, known: new Map() }
  return {
    async authorizationUrl(provider, { state, nonce, verifier, redirectUri, again }) {
      const library = await import('openid-client')
      const { config } = await configured(context, library, provider)
      return library.buildAuthorizationUrl(config, {
        ...{ redirect_uri: redirectUri, scope: provider.scopes, state },
        ...{ code_challenge: await library.calculatePKCECodeChallenge(verifier) },
        ...{ code_challenge_method: 'S256' },
        ...(provider.kind === 'oidc' && { nonce }),
        ...askedOf(provider, again),
      })
    },
    async redeem(provider, callback, checks) {
      const library = await import('openid-client')
      const { config, facts } = await configured(context, library, provider)
      try {
        return provider.kind === 'github'
          ? { user: await gitHubUser(library, provider, config, callback, checks), idToken: '' }
          : await openIdUser(library, provider, config, callback, checks)
      } catch (error) {
        throw refusal(library, provider, error)
      } finally {
        facts.keys = library.getJwksCache(config) ?? facts.keys
      }
    },
    async signOutUrl(provider, { back, idToken }) {
      if (provider.kind !== 'oidc') return undefined
      const library = await import('openid-client')
      const { config } = await configured(context, library, provider)
      if (config.serverMetadata().end_session_endpoint === undefined) return undefined
      return library.buildEndSessionUrl(config, {
        ...(idToken !== undefined && { id_token_hint: idToken }),
        post_logout_redirect_uri: back,
      })
    },
    endedSession: (provider, token) => endedSession(context, provider, token),
  }
}

/** With `max_age` a provider has to say when its user signed in there. Google and GitHub know no `login`, and let choose at least. */
function askedOf({ kind, issuer }: SignInProvider, again: boolean): Readonly<Record<string, string>> {
  if (kind === 'github' || issuer === 'https://accounts.google.com')
    return again ? { prompt: 'select_account' } : {}
  return again ? { prompt: 'login', max_age: String(CONFIRMED_SECONDS) } : { max_age: String(DAYS_14) }
}

/** A configuration of its own for each sign-in: keys that are a minute old are asked for again when one is missing. */
async function configured(
  context: Context,
  library: Library,
  provider: SignInProvider,
): Promise<{ readonly config: Configuration; readonly facts: Known }> {
  const before = context.known.get(provider.guid)
  const isKnown = before && before.provider === provider && before.facts.until > context.clock()
  const facts = isKnown ? before.facts : discovered(context, library, provider)
  if (!isKnown) context.known.set(provider.guid, { provider, facts })
  try {
    const server = await facts.server
    const config = new library.Configuration(
      server,
      provider.client_id,
      { [library.clockTolerance]: CLOCK_SECONDS },
      authentication(context, library, provider),
    )
    config[library.customFetch] = context.fetch
    config.timeout = TIMEOUT
    if (isPlain(provider)) library.allowInsecureRequests(config)
    library.enableNonRepudiationChecks(config)
    if (facts.keys) library.setJwksCache(config, { jwks: facts.keys.jwks, uat: minuteOld(facts.keys.uat) })
    return { config, facts }
  } catch (error) {
    if (context.known.get(provider.guid)?.facts === facts) context.known.delete(provider.guid)
    throw refusal(library, provider, error)
  }
}

/** By the clock of the library, which asks for keys again that are older than a minute where one is missing, or than five. */
function minuteOld(uat: number): number {
  return Math.min(uat, Math.floor(Date.now() / 1000) - 61)
}

function isPlain({ issuer }: SignInProvider): boolean {
  const url = new URL(issuer)
  return url.protocol === 'http:' && isSafe(url)
}

function discovered(context: Context, library: Library, provider: SignInProvider): Known {
  const server =
    provider.kind === 'github' ? Promise.resolve(gitHub(provider)) : discover(context, library, provider)
  // It is awaited by each sign-in; a failure that came before is no unhandled one.
  server.catch(() => undefined)
  return { until: context.clock() + HOUR, server, keys: undefined }
}

async function discover(
  context: Context,
  library: Library,
  provider: SignInProvider,
): Promise<ServerMetadata> {
  const found = await library.discovery(new URL(provider.issuer), provider.client_id, {}, library.None(), {
    [library.customFetch]: context.fetch,
    execute: isPlain(provider) ? [library.allowInsecureRequests] : [],
    timeout: TIMEOUT,
  })
  const { supportsPKCE, ...server } = found.serverMetadata()
  return server
}

/** The secret is opened when it is sent, so that a changed one counts at once. */
function authentication({ secret }: Context, library: Library, { secret: name }: SignInProvider): ClientAuth {
  if (name === '') return library.None()
  return (server, client, body, headers) => {
    const text = secret(name, new URL(server.token_endpoint ?? server.issuer))
    const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic']
    const send = methods.includes('client_secret_basic')
      ? library.ClientSecretBasic
      : library.ClientSecretPost
    return send(text)(server, client, body, headers)
  }
}

async function openIdUser(
  library: Library,
  provider: SignInProvider,
  config: Configuration,
  callback: URL,
  { state, nonce, verifier }: SignInChecks,
): Promise<Redeemed> {
  const tokens = await library.authorizationCodeGrant(config, callback, {
    ...{ expectedState: state, expectedNonce: nonce, pkceCodeVerifier: verifier, idTokenExpected: true },
  })
  const identity = claimsIn(tokens.claims())
  const subject = textOf(identity.sub)
  // The token of many providers has no address.
  const hasMore = identity.email === undefined && config.serverMetadata().userinfo_endpoint !== undefined
  const more = hasMore ? claimsIn(await library.fetchUserInfo(config, tokens.access_token, subject)) : {}
  const claims = { ...more, ...identity }
  const { email, email_verified: verified, xms_edov: verifiedDomain } = claims
  const isVerified =
    verified === true || verified === 'true' || verifiedDomain === true || verifiedDomain === 1
  const user = {
    ...{ provider, issuer: textOf(identity.iss), subject, claims, sid: textOf(claims.sid) },
    authenticated: numberIn(identity.auth_time),
    verifiedEmail: isVerified ? addressOf(email) : undefined,
  }
  return { user, idToken: tokens.id_token ?? '' }
}

// GitHub, and servers of its kind: OAuth 2 with addresses of their own.

function gitHub({ issuer }: SignInProvider): ServerMetadata {
  const base = issuer.replace(/\/$/, '')
  return {
    issuer: base,
    authorization_endpoint: `${base}/login/oauth/authorize`,
    token_endpoint: `${base}/login/oauth/access_token`,
    token_endpoint_auth_methods_supported: ['client_secret_post'],
  }
}

function gitHubApi({ issuer }: SignInProvider, path: string): URL {
  const base = issuer.replace(/\/$/, '')
  return new URL(base === 'https://github.com' ? `https://api.github.com${path}` : `${base}/api/v3${path}`)
}

async function gitHubUser(
  library: Library,
  provider: SignInProvider,
  config: Configuration,
  callback: URL,
  { state, verifier }: SignInChecks,
): Promise<ProviderUser> {
  const checks = { expectedState: state, pkceCodeVerifier: verifier }
  const { access_token } = await library.authorizationCodeGrant(config, callback, checks)
  const read = async (path: string): Promise<JsonValue> => {
    const headers = new Headers({ accept: 'application/vnd.github+json', 'user-agent': 'Quoin' })
    const url = gitHubApi(provider, path)
    const reply = await library.fetchProtectedResource(config, access_token, url, 'GET', undefined, headers)
    if (!reply.ok) throw providerRefused('failed', `${provider.title} replied with status ${reply.status}.`)
    return reply.json()
  }
  const claims = claimsIn(await read('/user'))
  if (typeof claims.id !== 'number') throw providerRefused('failed', `${provider.title} names no user.`)
  const emails = await read('/user/emails')
  const primary = Array.isArray(emails)
    ? emails.filter(isJsonObject).find(({ primary: is, verified }) => is === true && verified === true)
    : undefined
  return {
    ...{ provider, issuer: gitHub(provider).issuer, subject: String(claims.id), claims, sid: '' },
    authenticated: 0,
    verifiedEmail: addressOf(primary?.email),
  }
}

async function endedSession(
  context: Context,
  provider: SignInProvider,
  token: string,
): Promise<EndedSession> {
  const library = await import('openid-client')
  const { config, facts } = await configured(context, library, provider)
  const { issuer, jwks_uri: keys } = config.serverMetadata()
  if (provider.kind !== 'oidc' || keys === undefined)
    throw providerRefused('failed', `${provider.title} has no back-channel logout.`)
  const jose = await import('jose')
  const fetched: (url: string, init: Parameters<CustomFetch>[1]) => Promise<Response> = context.fetch
  facts.logoutKeys ??= jose.createRemoteJWKSet(new URL(keys), {
    timeoutDuration: TIMEOUT * 1000,
    [jose.customFetch]: (url, { headers, method, signal }) =>
      fetched(url, { headers: Object.fromEntries(headers), method, signal, body: null, redirect: 'manual' }),
  })
  try {
    const { payload } = await jose.jwtVerify(token, facts.logoutKeys, {
      ...{ issuer, audience: provider.client_id, clockTolerance: CLOCK_SECONDS, maxTokenAge: '5 minutes' },
      requiredClaims: ['iat', 'jti', 'events'],
      currentDate: new Date(context.clock()),
    })
    const { events, sub, sid, nonce, iat = 0 } = claimsIn(payload)
    const isLogout = isJsonObject(events) && isJsonObject(events[LOGOUT_EVENT]) && nonce === undefined
    const [subject, session] = [textOf(sub), textOf(sid)]
    if (!isLogout || (subject === '' && session === '')) throw new TypeError('no logout token')
    return { issuer, subject, sid: session, issuedAt: Number(iat) }
  } catch (error) {
    throw providerRefused('failed', 'This is no logout token of the provider for this client.', error)
  }
}

/** What the user hears; the log has the cause. */
function refusal(library: Library, { title }: SignInProvider, error: unknown): QuoinError {
  const known = error instanceof Error && error.cause instanceof QuoinError ? error.cause : error
  if (known instanceof QuoinError) return known
  if (error instanceof library.AuthorizationResponseError) {
    const isDenied = error.error === 'access_denied'
    return providerRefused(
      isDenied ? 'denied' : 'failed',
      `${title} refused the sign-in: ${error.error}.`,
      error,
    )
  }
  // Errors of the library and of replies that make no sense: the sign-in is over. Others: the provider cannot be reached.
  if (error instanceof library.ClientError || error instanceof library.ResponseBodyError)
    return providerRefused('failed', `The reply of ${title} cannot be used.`, error)
  return new QuoinError('UNAVAILABLE', `${title} cannot be reached.`, { cause: error, retryAfter: 5 })
}

/** As JSON: what a provider says is not known to be any. */
function claimsIn(value: unknown): JsonObject {
  const json: JsonValue = JSON.parse(JSON.stringify(value ?? null))
  return isJsonObject(json) ? json : {}
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : ''
}

function addressOf(value: JsonValue | undefined): string | undefined {
  return typeof value === 'string' && value.length <= 254 && /^[^\s@]+@[^\s@]+$/.test(value)
    ? value
    : undefined
}
