import type { Identity } from '../../access/identity.ts'
import type { CompiledEndpoint } from '../../flows/compile/frame.ts'

/** A request that has been answered, for metrics and logs. */
export interface FinishedRequest {
  /** Finds it in the log. */
  readonly id: string
  readonly method: string
  /** Path and query as they were sent. */
  readonly url: string
  /** The custom endpoint that it reached, else the route's template; undefined if nothing answers there. */
  readonly endpoint: CompiledEndpoint | undefined
  readonly route: string | undefined
  readonly status: number
  readonly milliseconds: number
  readonly ip: string
  readonly agent: string | undefined
  readonly identity: Identity | undefined
  /** The studio says of its own requests that they are; a request that a user tries out in it is none of them. */
  readonly fromStudio: boolean
}

export type RequestListener = (finished: FinishedRequest) => void
