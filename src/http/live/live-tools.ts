import type { Reply } from '../../blocks/reply.ts'
import type { Runs } from '../../flows/run-pipeline.ts'
import type { Clock } from '../../shared/clock.ts'
import type { MaybePromise } from '../../shared/maybe-promise.ts'
import type { ReadVersions } from '../../storage/capabilities.ts'
import type { EndpointExchange } from '../endpoints/endpoint-exchange.ts'
import type { ChangeFeed, OpenStream } from './streams.ts'
import type { Turns } from './turns.ts'

/** What followed replies of a node share. */
export interface LiveTools {
  readonly runs: Pick<Runs, 'run'>
  readonly news: Pick<ChangeFeed, 'version'>
  readonly versions: ReadVersions | undefined
  readonly turns: Turns
  readonly clock: Clock
  /** What every run reads beside storages, compared item by item. */
  around(): readonly unknown[]
  /** Whether the caller of a stream may still have what is sent. Ends the stream when not. */
  mayStay(open: OpenStream): MaybePromise<boolean>
  /** Milliseconds until a client connects again: not the same for all, which would come at once. */
  retry(): number
  /** Sends a reply that is no stream. */
  sendReply(exchange: EndpointExchange, reply: Reply): void
}
