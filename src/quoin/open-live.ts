import type { Channels } from '../flows/channels.ts'
import type { Flows } from '../flows/flows.ts'
import type { Runs } from '../flows/run-pipeline.ts'
import { type FileOf, sendReply } from '../http/endpoints/endpoint-reply.ts'
import type { LiveDoor } from '../http/endpoints/live-door.ts'
import { channelStreams } from '../http/live/channel-streams.ts'
import { liveReplies } from '../http/live/live-replies.ts'
import { openStorageNews, type StorageNews } from '../http/live/storage-news.ts'
import { openStreams, type Streams } from '../http/live/streams.ts'
import { identifier } from '../http/server/authenticate.ts'
import type { NodeRecords } from './open-records.ts'
import type { SetStart } from './open-settings.ts'
import { streamLimits } from './quoin-settings.ts'

export interface NodeLive {
  readonly news: StorageNews
  readonly streams: Streams
  readonly live: LiveDoor
}

/** What is sent while it changes: event streams of endpoints, and the news that pages are shown again by. */
export function openNodeLive(
  { set, clock, random, opened }: SetStart,
  { database, access }: Pick<NodeRecords, 'database' | 'access'>,
  { flows, runs, channels }: { readonly flows: Flows; readonly runs: Runs; readonly channels: Channels },
  fileOf: FileOf,
): NodeLive {
  const { readVersions, cluster } = database.capabilities
  // Where versions have to be asked for first, streams go by the news of storages alone.
  const versions = readVersions.catchUp ? undefined : readVersions
  const news = openStorageNews(database, flows.live, flows.permissions.leadsTo)
  opened.add(() => news.close())
  const failed = (error: unknown) =>
    flows.log.write({ level: 'error', message: `An event stream failed: ${String(error)}` })
  const streams = openStreams({
    ...{ live: flows.live, cluster, clock, random, failed, identify: identifier(access) },
    limits: streamLimits(set),
  })
  const { follow } = liveReplies({
    ...{ environment: flows.environment, runs, versions, news, streams, clock },
    sendReply: (exchange, reply) => sendReply(exchange, reply, { fileOf, flows }),
  })
  const { subscribe, checkSubscriber } = channelStreams({ channels, streams, clock })
  return { news, streams, live: { follow, subscribe, checkSubscriber, close: streams.close } }
}
