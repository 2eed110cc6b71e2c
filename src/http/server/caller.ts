import type { IncomingHttpHeaders } from 'node:http'
import type { Identity } from '../../access/identity.ts'

/** What the door looks at to tell who asks, and remembers. Fastify's requests are callers, and the exchanges of endpoints. */
export interface Caller {
  readonly method: string
  /** Path and query as they were sent. */
  readonly url: string
  readonly headers: IncomingHttpHeaders
  /** Parsed. */
  readonly query: unknown
  /** As the client named it, with the port. */
  readonly host: string
  readonly ip: string
  /** Set once it is known. */
  identity: Identity | undefined
  /** The token that was sent, once it was looked for. For signing out; never for a log or a flow. */
  accessToken: string | undefined
}
