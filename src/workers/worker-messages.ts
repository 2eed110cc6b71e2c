/**
 * What the process that writes and those that read say to each other, over the channel that Node opens between a process
 * and those it forks. Messages arrive in order, or the other one is gone.
 */
import type { LoggedRequest } from '../access/user-log.ts'
import type { PlainTimes } from '../flows/samples/sample.ts'
import type { Metric } from '../http/metrics/prometheus-text.ts'
import type { Options } from '../options/options.ts'
import type { SystemLogEntry } from '../records/system-log.ts'

/** What a reader is told at its beginning. */
export interface Opening {
  readonly options: Options
  /** Where the writer takes requests that readers do not answer: the path of a Unix socket. */
  readonly entrance: string
  readonly guid: string
  /** The process that writes. */
  readonly writer: number
}

/** Every metric, for a collector, or the one that charts over time are drawn from. */
export type CollectedMetrics = 'all' | 'traffic'

export type ToReader =
  | { readonly kind: 'open'; readonly opening: Opening }
  /** Written to a storage, or told under a topic; null: read the whole storage again. Answered with `applied`. */
  | {
      readonly kind: 'change'
      readonly number: number
      readonly topic: string
      readonly messages: readonly string[] | null
    }
  | { readonly kind: 'listen'; readonly host: string; readonly port: number }
  /** Answered with `metrics`. */
  | { readonly kind: 'collect'; readonly number: number; readonly of: CollectedMetrics }
  | { readonly kind: 'stop' }

export type FromReader =
  /** It has read everything and follows. */
  | { readonly kind: 'ready' }
  | { readonly kind: 'applied'; readonly number: number }
  | { readonly kind: 'listening' }
  | { readonly kind: 'failed'; readonly message: string }
  /** It has met damage in the database; what SQLite says. */
  | { readonly kind: 'damaged'; readonly reason: string }
  | { readonly kind: 'load'; readonly load: number }
  | { readonly kind: 'metrics'; readonly number: number; readonly metrics: readonly Metric[] }
  /** A token that is due to be written down as used. */
  | { readonly kind: 'used'; readonly token: string }
  /** For the user log. */
  | { readonly kind: 'requests'; readonly requests: readonly LoggedRequest[] }
  /** How long blocks of a sampled run took. */
  | { readonly kind: 'sampled'; readonly times: readonly PlainTimes[] }
  /** For the system log. */
  | { readonly kind: 'log'; readonly entry: SystemLogEntry }
