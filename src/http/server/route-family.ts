import type { IncomingMessage, ServerResponse } from 'node:http'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyBaseLogger, FastifyInstance, RawServerDefault } from 'fastify'
import type { Identity } from '../../access/identity-cache.ts'
import type { JsonValue } from '../../shared/json.ts'
import type { MaybePromise } from '../../shared/maybe-promise.ts'
import type { ExchangeTools } from '../endpoints/endpoint-exchange.ts'
import type { Caller } from './permission.ts'

export type App = FastifyInstance<
  RawServerDefault,
  IncomingMessage,
  ServerResponse,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>

export interface SentAs {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly path: string
  readonly body?: JsonValue
  readonly ip: string
  readonly headers?: Readonly<Record<string, string>>
}

export interface SentReply {
  readonly status: number
  readonly body: JsonValue
}

/** The beginning of a reply. */
export interface ReplyStart {
  readonly status: number
  /** Content type, without parameters; empty without a body. */
  readonly type: string
  readonly bytes: Buffer
  readonly whole: boolean
}

/** What the server lends to routes whose door depends on more than `config.permission`. */
export interface RouteTools {
  /**
   * Who sent the request; undefined when it carries no token. Throws INVALID_ACCESS_TOKEN for a token that is unknown,
   * contradicted by another one, or in a cookie that another site may have sent. Takes the token out of
   * `request.query`, so that no flow sees it, and sets `request.identity`.
   */
  identify(request: Caller): MaybePromise<Identity | undefined>
  /**
   * Throws RATE_LIMITED when the address asks too often. `name` keeps the count of one trigger apart from the others';
   * `perSecond` undefined = the cluster's limit, 0 = none.
   */
  limitRate(request: Pick<Caller, 'ip'>, name: string, perSecond?: number): void
  /** Throws CONFIRMATION_REQUIRED for a session whose sign-in is too old. */
  requireConfirmed(identity: Identity): void
  /**
   * Sends a request to the management API as a caller that is known already, through the same checks. The path comes after `/api/v1`. It
   * carries a token of its own, which ends with the reply.
   */
  sendAs(identity: Identity, sent: SentAs): Promise<SentReply>
  /** The same for an endpoint, whose reply may be a file without an end: reads no more of it than so many bytes. */
  sendBounded(identity: Identity, sent: SentAs, mostBytes: number): Promise<ReplyStart>
  /** For the one who answers past the framework. */
  readonly exchange: ExchangeTools
  /**
   * Shows requests to `take` before the framework sees them; the framework gets those that it does not take. Not where
   * the framework has to look first: see `server.ts`.
   */
  readonly answerFirst: (take: (request: IncomingMessage, response: ServerResponse) => boolean) => void
}

/** Registers the routes of one resource. Each family is a plugin of its own: what it adds to `app` stays inside. */
export type RouteFamily = (app: App, tools: RouteTools) => void | Promise<void>

declare module 'fastify' {
  interface FastifyRequest {
    /** Set before the body is read, on every route that is neither `public` nor `by-trigger`. */
    identity: Identity | undefined
    /** The token that was sent, once it was looked for. For signing out; never for a log or a flow. */
    accessToken: string | undefined
  }
}
