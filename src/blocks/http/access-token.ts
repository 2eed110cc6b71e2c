/**
 * Access tokens of connections by OAuth 2 client credentials. Each process keeps one for each connection in memory, until
 * 30 s before it expires. One request at a time fetches it, whatever number of runs wait.
 */
import type { Agent } from 'undici'
import { QuoinError } from '../../shared/errors.ts'
import { isJsonObject } from '../../shared/json.ts'
import type { SignIn } from '../http-connection.ts'
import { recordedReply } from './read-answer.ts'
import { outgoingUrl, type SendLimits, sendRequest } from './send-request.ts'

type ClientCredentials = Extract<SignIn, { kind: 'oauth2' }>

interface CachedToken {
  /** It was fetched with: a secret that is changed needs a new one. */
  readonly secret: string
  readonly fetched: Promise<{ readonly token: string; readonly until: number }>
}

const EARLY_MS = 30_000
/** Where the server does not say how long a token is valid. */
const UNSAID_SECONDS = 300
const LIMITS = { timeout: 10, maxSize: 65_536, isFixed: true } as const
const TOKEN = /^[\x21-\x7e]{1,16000}$/

const tokens = new WeakMap<object, CachedToken>()

/** `to`: what the token is for. It stands for the secret, which must be allowed there too. Throws UNAVAILABLE when the server of tokens gives none. */
export async function accessToken(
  signIn: ClientCredentials,
  to: URL,
  connection: object,
  agent: Agent,
  { signal, now }: { readonly signal: AbortSignal; readonly now: () => number },
): Promise<string> {
  signIn.secret.revealTo(to)
  const secret = signIn.secret.revealTo(outgoingUrl(signIn.tokenUrl))
  for (;;) {
    const known = tokens.get(connection)
    const current = known?.secret === secret ? known : fetching(signIn, secret, connection, agent, now)
    // The fetch is of all who wait: it goes on when this run ends.
    const { token, until } = await orAborted(current.fetched, signal)
    if (now() < until || current !== known) return token
    if (tokens.get(connection) === current) tokens.delete(connection)
  }
}

export async function forgetToken(connection: object, token: string): Promise<void> {
  const cached = tokens.get(connection)
  const known = await cached?.fetched.catch(() => undefined)
  if (known?.token === token && tokens.get(connection) === cached) tokens.delete(connection)
}

function fetching(
  signIn: ClientCredentials,
  secret: string,
  connection: object,
  agent: Agent,
  now: () => number,
): CachedToken {
  const cached: CachedToken = { secret, fetched: fetchToken(signIn, secret, agent, now) }
  tokens.set(connection, cached)
  cached.fetched.catch(() => {
    if (tokens.get(connection) === cached) tokens.delete(connection)
  })
  return cached
}

async function fetchToken(
  { tokenUrl, clientId, scope }: ClientCredentials,
  secret: string,
  agent: Agent,
  now: () => number,
): Promise<{ readonly token: string; readonly until: number }> {
  const limits: SendLimits = { ...LIMITS, signal: new AbortController().signal }
  const form = new URLSearchParams({ grant_type: 'client_credentials' })
  if (scope !== '') form.set('scope', scope)
  // RFC 6749, 2.3.1: both are encoded as in a form first.
  const pair = `${encodeURIComponent(clientId)}:${encodeURIComponent(secret)}`
  const answer = await sendRequest(
    {
      url: outgoingUrl(tokenUrl),
      method: 'POST',
      headers: {
        ...{ accept: 'application/json', 'user-agent': 'quoin', 'accept-encoding': 'identity' },
        'content-type': 'application/x-www-form-urlencoded',
        authorization: `Basic ${Buffer.from(pair).toString('base64')}`,
      },
      body: form.toString(),
      // What it sends may go nowhere else.
      follow: false,
    },
    agent,
    limits,
  )
  const reply = parsed(answer.bytes)
  const { access_token: token, expires_in: seconds } = isJsonObject(reply) ? reply : {}
  if (answer.code !== 200 || typeof token !== 'string' || !TOKEN.test(token))
    throw new QuoinError(
      'UNAVAILABLE',
      `the server of access tokens replied with status ${answer.code} and no token`,
      // A reply that is no error may hold a token under any name.
      { gave: answer.code < 400 ? { code: answer.code } : recordedReply(answer) },
    )
  const valid = typeof seconds === 'number' && seconds > 0 ? seconds : UNSAID_SECONDS
  return { token, until: now() + Math.min(valid, 86_400) * 1000 - EARLY_MS }
}

function parsed(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes).toString('utf8'))
  } catch {
    return undefined
  }
}

async function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted()
  let stop: (() => void) | undefined
  const aborted = new Promise<never>((_resolve, reject) => {
    stop = () => reject(signal.reason)
    signal.addEventListener('abort', stop, { once: true })
  })
  try {
    return await Promise.race([work, aborted])
  } finally {
    if (stop) signal.removeEventListener('abort', stop)
  }
}
