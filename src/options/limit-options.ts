import { number, type OptionGroup, type ReadGroup, type ReadOne } from './option-kinds.ts'

/** How much requests, streams and runs may take. */
export const limitOptions = {
  bodyLimit: {
    variable: 'QUOIN_BODY_LIMIT',
    fallback: '1048576',
    help: 'Maximum bytes of a JSON or form body. One of more than 1 MiB is parsed in turns, but what a flow makes of it holds the process: leave it low where anonymous clients may send bodies. Larger data is sent as files or imported.',
    changeable: true,
    ...number(1024, 16_777_216),
  },
  rateLimit: {
    variable: 'QUOIN_RATE_LIMIT',
    fallback: '100',
    help: 'Requests a second from one address to public routes and endpoints; 0 = no limit.',
    changeable: true,
    ...number(0, 1_000_000),
  },
  connections: {
    variable: 'QUOIN_CONNECTIONS',
    fallback: '256',
    help: 'Simultaneous connections from one address; further ones are closed. This machine and QUOIN_TRUST_PROXY are not counted; 0 = no limit.',
    changeable: true,
    ...number(0, 1_000_000),
  },
  streams: {
    variable: 'QUOIN_STREAMS',
    fallback: '2000',
    help: 'Event streams of endpoints that may be open on a node; further ones get 503; 0 = no limit.',
    changeable: true,
    ...number(0, 1_000_000),
  },
  streamsPerAddress: {
    variable: 'QUOIN_STREAMS_PER_ADDRESS',
    fallback: '50',
    help: 'Event streams that one address may have open on a node; further ones get 429; 0 = no limit.',
    changeable: true,
    ...number(0, 1_000_000),
  },
  streamsPerUser: {
    variable: 'QUOIN_STREAMS_PER_USER',
    fallback: '20',
    help: 'Event streams that one user may have open on a node; further ones get 429; 0 = no limit.',
    changeable: true,
    ...number(0, 1_000_000),
  },
  replyMemory: {
    variable: 'QUOIN_REPLY_MEMORY',
    fallback: '128',
    help: 'MiB of replies that may wait for clients to read them, on each node; beyond that 503; 0 = no limit.',
    changeable: true,
    ...number(0, 1_048_576),
  },
  runDeadline: {
    variable: 'QUOIN_RUN_DEADLINE',
    fallback: '30000',
    help: 'Milliseconds after which a run is stopped.',
    changeable: true,
    ...number(10, 3_600_000),
  },
  runBudget: {
    variable: 'QUOIN_RUN_BUDGET',
    fallback: '1000000',
    help: 'Blocks that one run may execute.',
    changeable: true,
    ...number(100, 1_000_000_000),
  },
  jobsAtOnce: {
    variable: 'QUOIN_JOBS_AT_ONCE',
    fallback: '64',
    help: 'Jobs that a node runs at the same time, and fewer of single queues: 64, mail=4. The concurrency of a queue holds for all nodes together.',
    accepts: 'a whole number from 1 to 512, and after commas queue=number',
    read: readJobsAtOnce,
  },
} as const satisfies OptionGroup

export function readLimitOptions(read: ReadOne): ReadGroup<typeof limitOptions> {
  return {
    bodyLimit: read(limitOptions.bodyLimit),
    rateLimit: read(limitOptions.rateLimit),
    connections: read(limitOptions.connections),
    streams: read(limitOptions.streams),
    streamsPerAddress: read(limitOptions.streamsPerAddress),
    streamsPerUser: read(limitOptions.streamsPerUser),
    replyMemory: read(limitOptions.replyMemory),
    runDeadline: read(limitOptions.runDeadline),
    runBudget: read(limitOptions.runBudget),
    jobsAtOnce: read(limitOptions.jobsAtOnce),
  }
}

export interface JobsAtOnce {
  readonly concurrency: number
  readonly queues: ReadonlyMap<string, number>
}

const atOnce = number(1, 512)

function readJobsAtOnce(text: string): JobsAtOnce | undefined {
  const [all = '', ...single] = text.split(',').map((part) => part.trim())
  const concurrency = atOnce.read(all)
  if (concurrency === undefined) return undefined
  const queues = new Map<string, number>()
  for (const part of single) {
    const [, name = '', most = ''] = /^([a-z0-9_-]{1,63})=(\d{1,3})$/.exec(part) ?? []
    const room = atOnce.read(most)
    if (name === '' || room === undefined) return undefined
    queues.set(name, room)
  }
  return { concurrency, queues }
}
