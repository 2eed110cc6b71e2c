/**
 * A real provider of OpenID Connect on this machine. Users sign in there without a password: as whom `account` says. `lie` changes
 * what an ID token claims before it is signed again, for providers that are wrong.
 */
import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { type Context, Provider } from 'oidc-provider'
import type { JsonObject } from '../src/shared/json.ts'
import { startLocalServer } from './local-server.ts'

export const clientId = 'quoin'
export const clientSecret = 'secret-of-the-client'

export interface OidcServer {
  readonly issuer: string
  readonly port: number
  /** By subject: what the provider says of its users. */
  readonly accounts: Map<string, JsonObject>
  /** The subject that signs in; undefined refuses. */
  account: string | undefined
  lie: ((claims: JsonObject) => JsonObject) | undefined
  /** Signs with other keys from now on. */
  changeKeys(): void
  /** A token as the provider signs them. */
  signed(claims: JsonObject, header?: JsonObject): string
  /** Requests that came, by path. */
  readonly asked: string[]
  close(): Promise<void>
}

const scopes = 'openid email profile groups'

interface Keys {
  readonly kid: string
  readonly key: KeyObject
}

export async function openOidcServer(site: string, name: string): Promise<OidcServer> {
  let answer: (request: IncomingMessage, response: ServerResponse) => void = (_request, response) =>
    response.end()
  const local = await startLocalServer((request, response) => answer(request, response))
  const issuer = local.url
  const accounts = new Map<string, JsonObject>()
  let keys = newKeys()
  let provider = newProvider(issuer, site, name, accounts, keys)
  const server: OidcServer = {
    ...{ issuer, port: local.port, accounts, account: undefined, lie: undefined, asked: [] },
    changeKeys() {
      keys = newKeys()
      provider = newProvider(issuer, site, name, accounts, keys)
    },
    signed: (claims, header = {}) => signed(keys, claims, header),
    close: local.close,
  }
  answer = (request, response) => {
    const path = request.url?.split('?')[0] ?? ''
    server.asked.push(path)
    if (path.startsWith('/interaction/')) {
      const login = server.account === undefined ? refusal : { login: { accountId: server.account } }
      void provider.interactionFinished(request, response, login)
      return
    }
    const { lie } = server
    if (path === '/token' && lie) changeReply(response, (body) => relied(keys, body, lie))
    provider.callback()(request, response)
  }
  return server
}

const refusal = { error: 'access_denied', error_description: 'No.' }

let made = 0
function newKeys(): Keys {
  return { kid: `key-${++made}`, key: generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey }
}

function newProvider(
  issuer: string,
  site: string,
  name: string,
  accounts: ReadonlyMap<string, JsonObject>,
  { kid, key }: Keys,
): Provider {
  const jwk = { ...key.export({ format: 'jwk' }), kid, use: 'sig', alg: 'RS256' }
  return new Provider(issuer, {
    jwks: { keys: [jwk] },
    clients: [
      {
        ...{ client_id: clientId, client_secret: clientSecret },
        redirect_uris: [name, 'leave'].map((one) => `${site}/_signin/${one}/callback`),
        post_logout_redirect_uris: [`${site}/login`],
      },
    ],
    pkce: { required: () => true },
    claims: {
      openid: ['sub'],
      email: ['email', 'email_verified'],
      profile: ['given_name'],
      groups: ['groups'],
    },
    scopes: scopes.split(' '),
    cookies: { keys: ['a key of cookies'] },
    features: { devInteractions: { enabled: false }, rpInitiatedLogout: { enabled: true, logoutSource } },
    interactions: { url: (_context: unknown, { uid }: { readonly uid: string }) => `/interaction/${uid}` },
    findAccount: (_context: unknown, sub: string) => ({
      accountId: sub,
      claims: () => ({ sub, ...accounts.get(sub) }),
    }),
    async loadExistingGrant({ oidc }: Context) {
      const { clientId: client } = oidc.client
      const grant = new oidc.provider.Grant({ accountId: oidc.session.accountId, clientId: client })
      grant.addOIDCScope(scopes)
      await grant.save()
      return grant
    },
  })
}

/** As providers do it: they ask, unless the client has named the user who is signed in. */
function logoutSource(context: Context & { body: string }, form: string): void {
  const { entities, session } = context.oidc
  const yes = (element: string) => `<${element} form="op.logoutForm" name="logout" value="yes">`
  const isNamed = entities.IdTokenHint?.payload.sub === session.accountId
  context.body = isNamed
    ? `${form}${yes('input type="hidden"')}<script>document.forms[0].submit()</script>`
    : `${form}${yes('button')}Yes, sign me out</button>`
}

function changeReply(response: ServerResponse, change: (body: string) => string): void {
  const end = response.end.bind(response)
  Object.assign(response, {
    end(body: unknown) {
      const changed = change(String(body))
      response.setHeader('content-length', Buffer.byteLength(changed))
      return end(changed)
    },
  })
}

function relied(keys: Keys, body: string, lie: (claims: JsonObject) => JsonObject): string {
  const reply = JSON.parse(body)
  if (typeof reply.id_token !== 'string') return body
  const claims = JSON.parse(Buffer.from(reply.id_token.split('.')[1], 'base64url').toString())
  return JSON.stringify({ ...reply, id_token: signed(keys, lie(claims), {}) })
}

function signed({ kid, key }: Keys, claims: JsonObject, header: JsonObject): string {
  const encode = (part: JsonObject) => Buffer.from(JSON.stringify(part)).toString('base64url')
  const text = `${encode({ alg: 'RS256', kid, ...header })}.${encode(claims)}`
  return `${text}.${sign('sha256', Buffer.from(text), key).toString('base64url')}`
}

/** A browser of several sites: one jar of cookies for each, and redirects one at a time. */
export function openBrowser(agent = 'a browser') {
  const jars = new Map<string, Map<string, string>>()
  const jarOf = (url: URL) => {
    const jar = jars.get(url.host) ?? new Map<string, string>()
    jars.set(url.host, jar)
    return jar
  }
  const ask = async (address: string | URL, init: RequestInit = {}) => {
    const url = new URL(address)
    const jar = jarOf(url)
    const cookie = [...jar].map(([key, value]) => `${key}=${value}`).join('; ')
    const headers = { 'user-agent': agent, ...(cookie && { cookie }), ...init.headers }
    const reply = await fetch(url, { ...init, headers, redirect: 'manual' })
    for (const line of reply.headers.getSetCookie()) {
      const [pair = ''] = line.split(';')
      const at = pair.indexOf('=')
      if (at === pair.length - 1 || /max-age=0(?:;|$)/i.test(line)) jar.delete(pair.slice(0, at))
      else jar.set(pair.slice(0, at), pair.slice(at + 1))
    }
    const refresh = /^0; url=(.+)/.exec(reply.headers.get('refresh') ?? '')?.[1]
    const location = reply.headers.get('location') ?? refresh
    return {
      status: reply.status,
      cookies: reply.headers.getSetCookie(),
      text: await reply.text(),
      to: location ? new URL(location, url) : undefined,
    }
  }
  return {
    ask,
    cookie: (host: string, name: string) => jars.get(host)?.get(name),
    keep: (host: string, name: string, value: string) => void jars.get(host)?.set(name, value),
    forget: (host: string, name: string) => void jars.get(host)?.delete(name),
    /** Follows redirects until a page, or until one that `stop` names. Gives where it ended. */
    async visit(address: string, stop: (url: URL) => boolean = () => false) {
      let url = new URL(address)
      for (let steps = 0; steps < 20; steps++) {
        if (stop(url)) return { url, status: 0, text: '' }
        const reply = await ask(url)
        if (!reply.to) return { url, status: reply.status, text: reply.text }
        url = reply.to
      }
      throw new Error(`${address} redirects without end.`)
    },
  }
}
