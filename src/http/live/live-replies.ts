/** Replies of repeatable endpoints that are sent again when what they have read changes, each worked out once for all who follow it. */
import type { Reply } from '../../blocks/reply.ts'
import type { RunRequest } from '../../blocks/run-request.ts'
import type { CompiledFlow } from '../../flows/compile/frame.ts'
import type { Flows } from '../../flows/flows.ts'
import { addressKey } from '../../flows/run/read-set.ts'
import type { Runs } from '../../flows/run-pipeline.ts'
import type { Clock } from '../../shared/clock.ts'
import { QuoinError } from '../../shared/errors.ts'
import type { ReadVersions } from '../../storage/capabilities.ts'
import type { EndpointExchange } from '../endpoints/endpoint-exchange.ts'
import type { FoundEndpoint } from '../endpoints/endpoint-table.ts'
import { subjectText } from './stream-places.ts'
import { StreamedReply } from './streamed-reply.ts'
import type { ChangeFeed, LiveTools, Streams } from './streams.ts'

export interface LiveRepliesOptions {
  readonly environment: Pick<Flows['environment'], 'values' | 'references'>
  readonly runs: Pick<Runs, 'run'>
  readonly versions: ReadVersions | undefined
  readonly news: ChangeFeed
  readonly streams: Streams
  readonly sendReply: (exchange: EndpointExchange, reply: Reply) => void
  readonly clock: Clock
}

export interface LiveReplies {
  /** See `EventStreams`. */
  follow(exchange: EndpointExchange, found: FoundEndpoint, input: RunRequest): void
}

export function liveReplies(options: LiveRepliesOptions): LiveReplies {
  const { environment, news, streams } = options
  const watched = new Map<string, StreamedReply>()
  const numbers = new WeakMap<CompiledFlow, number>()
  let flows = 0
  const tools: LiveTools = {
    ...options,
    ...{ turns: streams.turns, mayStay: streams.mayStay, retry: streams.retry },
    around: () => [environment.values.env(), environment.references?.(), news.ruleVersion()],
  }
  streams.whenLooking((now) => {
    for (const reply of watched.values()) reply.look(now)
  })

  /** Each deploy gives a flow another number. */
  function numberOf(flow: CompiledFlow): number {
    const known = numbers.get(flow)
    if (known !== undefined) return known
    flows += 1
    numbers.set(flow, flows)
    return flows
  }

  return {
    follow(exchange, found, request) {
      const { endpoint, blueprint } = found
      const { flow } = endpoint
      const address = addressKey(request)
      if (address === undefined)
        throw new QuoinError('INVALID_QUERY', 'The parameters of path and query are too long to be followed.')
      const subject = flow.asUser ? subjectText(exchange.identity) : ''
      const key = `${numberOf(flow)} ${address} ${subject}`
      // Of the client that came first: for all with this key the flow reads the same.
      const start = { flow, blueprint, input: endpoint.start(request), request }
      const reply = watched.get(key) ?? new StreamedReply(tools, start)
      const open = streams.add(exchange, found, (left) => {
        reply.leave(left)
        if (reply.isEmpty && watched.get(key) === reply) watched.delete(key)
      })
      watched.set(key, reply)
      reply.join(open)
    },
  }
}
