/**
 * The writer, as a reading process sees it: the process handles messages of the writer in the order in which they were sent
 * and answers each change when it has applied it.
 */
import type { Cluster, Watcher } from '../storage/cluster.ts'
import { WriteRefused } from '../storage/write-refused.ts'
import type { FromReader, ToReader } from './worker-messages.ts'

export interface WriterLinkOptions {
  readonly guid: string
  readonly send: (message: FromReader) => void
  /** Whether the writer lives. Asked for each request: it has to be cheap, and right without the event loop's help. */
  readonly alive: () => boolean
  /** A change could not be applied: data in memory may be old. */
  readonly broken: (error: unknown) => void
}

export interface WriterLink {
  readonly cluster: Cluster
  watch(name: string, watcher: Watcher): () => void
  version(name: string): number
  /** A `change` of the writer. */
  change(message: Extract<ToReader, { kind: 'change' }>): void
  /** Resolves when all changes so far are applied. */
  settled(): Promise<void>
}

export function writerLink({ guid, send, alive, broken }: WriterLinkOptions): WriterLink {
  const watchers = new Map<string, Set<Watcher>>()
  const versions = new Map<string, number>()
  let last: Promise<void> = Promise.resolve()

  async function apply(topic: string, messages: readonly string[] | null): Promise<void> {
    versions.set(topic, (versions.get(topic) ?? 0) + 1)
    for (const watcher of watchers.get(topic) ?? []) await watcher(messages ?? undefined)
  }

  return {
    cluster: {
      self: guid,
      alive,
      tell: () => Promise.reject(new WriteRefused()),
      send: () => Promise.reject(new WriteRefused()),
      nodes: async () => [],
    },
    watch(name, watcher) {
      const all = watchers.get(name) ?? new Set()
      watchers.set(name, all.add(watcher))
      return () => all.delete(watcher)
    },
    version: (name) => versions.get(name) ?? 0,
    change({ number, topic, messages }) {
      last = last.then(() => apply(topic, messages))
      last.then(() => send({ kind: 'applied', number }), broken)
    },
    settled: () => last,
  }
}
