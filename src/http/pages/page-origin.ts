/**
 * Who may send a form. Three things have to agree:
 *
 * - Where it comes from: a browser says so (`Sec-Fetch-Site`, `Origin`), and it must be one of our pages.
 * - A token in the form that belongs to the visitor's session: the access token of the signed-in user, else a random
 *   name in a cookie. A page of another site can know neither.
 * - Both cookies are `SameSite=Lax`, which keeps them from being sent with a form of another site at all.
 */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Identity } from '../../access/identity-cache.ts'
import type { SigningSecret } from '../../records/secrets/signing-secret.ts'
import { cookieOf, isSameOrigin, setCookie } from '../server/origin.ts'

const VISITOR = 'quoin_visitor'
const VISITOR_NAME = /^[A-Za-z0-9_-]{10,64}$/

export interface FormTokens {
  /** For hidden inputs of this visitor's forms. Sets the visitor's cookie, if that is what the token belongs to. */
  issue(request: FastifyRequest, reply: FastifyReply): string
  verify(request: FastifyRequest, token: string | undefined): boolean
}

/** Whether the browser says that the form comes from another site. */
export function isFromElsewhere(request: FastifyRequest): boolean {
  const { headers } = request
  if (headers['sec-fetch-site'] === undefined && headers.origin === undefined) return false
  return !isSameOrigin(request)
}

/** Whether the browser says that it comes from here. */
export function isFromHere(request: FastifyRequest): boolean {
  return isSameOrigin(request)
}

export function formTokens(secret: SigningSecret, newName: () => string): FormTokens {
  const sessionOf = (identity: Identity) => `token ${identity.tokenGuid}`
  return {
    issue(request, reply) {
      if (request.identity) return secret.sign('form', sessionOf(request.identity))
      let visitor = cookieOf(request, VISITOR)
      if (visitor === undefined || !VISITOR_NAME.test(visitor)) {
        visitor = newName()
        setCookie(request, reply, VISITOR, visitor)
      }
      return secret.sign('form', `visitor ${visitor}`)
    },
    verify(request, token) {
      if (token === undefined) return false
      if (request.identity) return secret.verify('form', sessionOf(request.identity), token)
      const visitor = cookieOf(request, VISITOR)
      return visitor !== undefined && secret.verify('form', `visitor ${visitor}`, token)
    },
  }
}

/**
 * The address of a page while it is made: its path, its query without what is about one request only, and addresses of
 * the same page with some parameters changed.
 */
export interface PageAddress {
  readonly path: string
  readonly query: URLSearchParams
  /** Path and query. */
  readonly href: string
  get(name: string): string | undefined
  getAll(name: string): readonly string[]
  /** The same page with these parameters; undefined takes one away. */
  with(changes: Readonly<Record<string, string | readonly string[] | undefined>>): string
}

/** Parameters that are about one request, or do not belong into a link. */
const PASSING = ['access_token', '_events', '_export', '_kept']

/** `url`: path and query as they were sent. */
export function pageAddress(url: string): PageAddress {
  const at = url.indexOf('?')
  const path = at < 0 ? url : url.slice(0, at)
  const query = new URLSearchParams(at < 0 ? '' : url.slice(at + 1))
  for (const name of PASSING) query.delete(name)
  return {
    path,
    query,
    href: hrefOf(path, query),
    get: (name) => query.get(name) ?? undefined,
    getAll: (name) => query.getAll(name),
    with(changes) {
      const changed = new URLSearchParams(query)
      for (const [name, value] of Object.entries(changes)) {
        changed.delete(name)
        for (const one of value === undefined ? [] : [value].flat()) changed.append(name, one)
      }
      return hrefOf(path, changed)
    },
  }
}

function hrefOf(path: string, query: URLSearchParams): string {
  const text = query.toString()
  return text === '' ? path : `${path}?${text}`
}
