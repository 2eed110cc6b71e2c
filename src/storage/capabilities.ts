/**
 * What a database offers beside storages and sessions, one small interface for each purpose, so that code asks for the part
 * that it needs and for nothing else. What an engine cannot do is undefined: code asks for the capability and never for the
 * engine's name.
 */
import type { Search } from '../shared/query.ts'
import type { Aggregate } from './aggregate/aggregate.ts'
import type { Cluster, Watcher } from './cluster.ts'
import type { Index, Needs } from './document-index.ts'
import type { Jobs, Queues } from './job.ts'
import type { SlowSearch } from './search/search-advisor.ts'
import type { Duplicates } from './unique/duplicates.ts'
import type { UniqueKey } from './unique/unique-key.ts'

export interface Capabilities {
  /** The engine's name, to be shown to people. Never compared: test/house.test.ts refuses that. */
  readonly engine: string
  readonly indexes: Indexes
  readonly uniqueValues: UniqueValues
  readonly changes: Changes
  readonly readVersions: ReadVersions
  /** undefined where there is one node. */
  readonly cluster: Cluster | undefined
  readonly withClusterLock: WithClusterLock
  /** What was enqueued, for workers and for people. */
  readonly jobs: Jobs
  readonly queues: Queues
  /** Of this moment. Costs one statement, or a look at two files. */
  figures(): Promise<DatabaseFigures>
}

/** Does the work while no other node does work with this key. Not to be nested with the same key. */
export type WithClusterLock = <T>(key: string, work: () => Promise<T>) => Promise<T>

/** Indexes that storages have, and those that they should have. */
export interface Indexes {
  /** The indexes that a storage has, as far as this node knows. */
  of(storage: string): Required<Needs>
  /** Drops the indexes of a storage that are neither unique nor among `requested`. Free text keeps its index. */
  release(storage: string, requested: readonly Index[]): Promise<void>
  /** Searches on the storage that were slow in this process, with the index that would help. The slowest first. */
  slow(storage: string): readonly SlowSearch[]
  /** What storages with many documents are being made ready for at this moment, by any node. */
  preparing(): Promise<readonly Preparation[]>
}

/** Keys of which no two present documents of a storage have the same value. */
export interface UniqueValues {
  /** Those in force, as far as this node knows. Empty for a storage that does not exist. */
  of(storage: string): readonly UniqueKey[]
  /**
   * Puts a key in force, in place of one of the same name, once all documents keep to it. Else gives the documents that do
   * not, and changes nothing. Only one call at a time for a storage: within `alone`.
   */
  keep(storage: string, key: UniqueKey): Promise<Duplicates | undefined>
  /**
   * Takes out of force every key but these, also one of the same name that holds other values, and what a `keep` which was cut short has
   * left behind.
   */
  dropOthers(storage: string, keys: readonly UniqueKey[]): Promise<void>
  /** Names of what cut-short calls of `keep` have left behind. */
  unfinished(storage: string): readonly string[]
}

/** Free text, an index, or the columns that indexes move to: what a storage with documents gets. */
export interface Preparation {
  readonly storage: string
  /** Nothing waits for columns. */
  readonly kind: 'index' | 'text' | 'columns'
  /** Documents for free text and columns, blocks of the table for an index: of about this many. */
  readonly done: number
  /** 0 while it is not known. */
  readonly total: number
}

/** News of storages, for code that keeps in memory what it has read. */
export interface Changes {
  /**
   * Tells of writes to the storage by other nodes, before those are acknowledged. Code that keeps in memory what it reads
   * from a storage watches it first and reads then. Gives a function that ends it.
   */
  watch(storage: string, watcher: Watcher): () => void
  /**
   * Raised by each committed write to the storage: what was read at one version is exact while it lasts. For a storage
   * that is not watched, only by this node's writes.
   */
  version(storage: string): number
}

/** For code that keeps what it read, and asks before each use whether a second read would give the same. */
export interface ReadVersions {
  /** The version of what was read: a document, a page of a search, or anything in the storage. */
  of(storage: string, read?: Read): ReadVersion
  /**
   * Learns of what other nodes have committed: after it, versions are those of a moment after the call. Costs a question to
   * the database, shared by all who ask in one turn of the event loop. Gives false where that moment could not be learned.
   * undefined where there are no other nodes, so that this one knows of every write before anyone sees it.
   */
  readonly catchUp?: (() => Promise<boolean>) | undefined
}

/**
 * Asked again and again, compared with ===: another value after each committed write that may have changed what was read,
 * whichever node wrote, and before any session sees the write (with `catchUp`: of those that it has learned of).
 * undefined while this node cannot know.
 */
export type ReadVersion = () => unknown

/** A document, the page of a search, or an aggregate. */
export type Read = { readonly guid: string } | { readonly page: Search } | { readonly aggregate: Aggregate }

/** What a database says of itself, for people and for collectors. null: this engine does not tell. */
export interface DatabaseFigures {
  /** Of all data, without the log. */
  readonly sizeBytes: number
  /** Of that, what deleted documents have left for further ones. PostgreSQL does not say: 0. */
  readonly freeBytes: number
  /** Of the write-ahead log as it lies on disk. */
  readonly logBytes: number | null
  /** Transactions that were committed: SQLite since this process started, PostgreSQL since its statistics began, by anyone. */
  readonly commits: number
  /** Connections of this node; null where there is no pool. */
  readonly connections: DatabaseConnections | null
  /** Reads without the disk: SQLite whole results of searches, of this process; PostgreSQL pages of its buffers. */
  readonly cache: { readonly hits: number; readonly misses: number }
}

export interface DatabaseConnections {
  readonly busy: number
  readonly idle: number
  /** Work that waits for one. */
  readonly waiting: number
  readonly most: number
}

/**
 * Whether this node is the one of the cluster that does work which one node should do: of those whose lease runs, the one
 * that started first. Without a lease of its own: a node that stops is followed by the next one within the time of its lease.
 * For some moments two nodes may think so, or none; what must happen once needs a condition in its write.
 */
export async function isLeader({ cluster }: Pick<Capabilities, 'cluster'>): Promise<boolean> {
  if (cluster === undefined) return true
  if (!cluster.alive()) return false
  const live = (await cluster.nodes()).filter((node) => node.live)
  const [first] = live.toSorted((a, b) => a.started - b.started || (a.guid < b.guid ? -1 : 1))
  return first?.self === true
}
