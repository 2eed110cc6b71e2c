import type { ChannelReply } from '../../blocks/reply.ts'
import type { RunRequest } from '../../blocks/run-request.ts'
import type { EndpointExchange } from './endpoint-exchange.ts'
import type { FoundEndpoint } from './endpoint-table.ts'

/** Where replies are sent as events. */
export interface EventStreams {
  /**
   * Sends the reply of a repeatable flow, and again whenever it changes. Throws what a request with bad parameters gets, and
   * RATE_LIMITED or UNAVAILABLE when there are too many streams.
   */
  follow(exchange: EndpointExchange, found: FoundEndpoint, input: RunRequest): void
  /** Throws what {@link subscribe} would reply, while the run that asks for it can still be undone. */
  checkSubscriber(exchange: EndpointExchange): void
  /** Sends what is published to a channel. Never throws: what is wrong is the reply. */
  subscribe(exchange: EndpointExchange, found: FoundEndpoint, reply: ChannelReply): void
  /** Ends all streams, and begins none. */
  close(): void
}
