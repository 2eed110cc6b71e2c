/**
 * This node among those that share its database.
 *
 * Once a second, and when a message says that there is a change, a node pulls: it reads the changes behind the last one it
 * knows, tells the watchers, and then renews its lease and says how far it is, in one statement. So a node that cannot
 * follow does not renew either. A node whose lease has run out tries to join again each second (`NodeMode`). The lease
 * runs by the node's own clocks, which began to count before the database's.
 *
 * A writer announces its change inside its transaction and waits after the commit until no live node is behind. The wait
 * ends at the latest when the lease of a node that does not answer ends. A node is not told of its own changes, except of one
 * whose writer was told that it failed though it may be stored.
 */
import { QuoinError } from '../../../shared/errors.ts'
import type { JsonObject } from '../../../shared/json.ts'
import { nextMode, type Transitions } from '../../../shared/state-machine.ts'
import type { Cluster, ClusterNode, Watcher } from '../../cluster.ts'
import type { PostgresConnection } from '../core/rows.ts'
import { type Instant, instantOf, type LeaseClocks, millisecondsSince } from './lease-clock.ts'
import {
  APPLIED_CHANNEL,
  CHANGE_CHANNEL,
  type Change,
  changesAfter,
  forgetChanges,
  forgetOld,
  insertChange,
  isAcknowledged,
  type Joining,
  joinNode,
  LEASE_MS,
  lastChange,
  leaveNode,
  listNodes,
  type Position,
  renewNode,
} from './node-rows.ts'

// Where a node is among those that share its database.
// - joining: notes the last change, has everything that is watched read again, enters its row with a lease, and pulls what
// was changed meanwhile. A node that comes from `live` still answers while its lease runs.
// - live: pulls what has changed and renews its lease. It answers while the lease runs, by its own clocks.
// - fenced: its lease has run out, or the database no longer knows it. It does not answer.
// - left: it is stopping.

type NodeMode = 'joining' | 'live' | 'fenced' | 'left'

const nodeTransitions: Transitions<NodeMode> = {
  joining: ['live', 'fenced', 'left'],
  // To `joining` after a failover: the counter of changes went back.
  live: ['joining', 'fenced', 'left'],
  fenced: ['joining', 'left'],
  left: [],
}

export interface PostgresClusterOptions {
  /** For single statements that write, and for those that only read. */
  readonly connection: PostgresConnection
  readonly reading: PostgresConnection
  /** Only for this node's lease and the changes that it follows. */
  readonly lease: PostgresConnection
  readonly node: Joining
  readonly clocks: LeaseClocks
  /** 0 to 1. */
  readonly load: () => number
  /** Gets the errors of work that no caller waits for. */
  readonly report?: (error: unknown) => void
  /** Told what administrators have to know. */
  readonly notice?: (message: string, isDamaged: boolean) => void
}

/** Guids by storage. */
type Documents = Change['documents']

const BEAT_MS = 1_000
/** Covers a lost message while a writer waits for the others. */
const LOOK_MS = 100
const FORGET_BEATS = 600
/** Messages that no node waits for are forgotten then: a node has had them by that time, or has lost its lease. */
const SENT_MS = 3 * LEASE_MS

export class PostgresCluster implements Cluster {
  readonly #options: PostgresClusterOptions
  readonly #watchers = new Map<string, Set<Watcher>>()
  readonly #waiting = new Set<() => void>()
  #mode: NodeMode = 'joining'
  #applied = -1
  /** That of the database when this process joined last. */
  #timeline = 0
  #wentBack = false
  /** When this node asked for the lease that it has. */
  #leased: Instant | undefined
  #timer: NodeJS.Timeout | undefined
  #beating: Promise<void> | undefined
  #again = false
  #beats = 0
  /** Own changes that may be stored and that their writer does not go on from, by number: see {@link follow}. */
  readonly #uncertain = new Map<number, Documents>()
  /** By {@link send}, the oldest first. */
  #sent: { readonly number: number; readonly at: Instant }[] = []

  constructor(options: PostgresClusterOptions) {
    this.#options = options
  }

  /** Joins; throws when that fails. From then on it keeps itself up. */
  async open(): Promise<void> {
    await this.#pull()
    this.#schedule()
  }

  get self(): string {
    return this.#options.node.guid
  }

  alive(): boolean {
    return this.#leased !== undefined && millisecondsSince(this.#leased, this.#options.clocks) < LEASE_MS
  }

  wentBack(): boolean {
    return this.#wentBack
  }

  nodes(): Promise<readonly ClusterNode[]> {
    return listNodes(this.#options.reading, this.#options.node.guid)
  }

  watch(storage: string, watcher: Watcher): () => void {
    const watchers = this.#watchers.get(storage) ?? new Set()
    this.#watchers.set(storage, watchers.add(watcher))
    return () => {
      watchers.delete(watcher)
      if (watchers.size === 0) this.#watchers.delete(storage)
    }
  }

  isWatched(storage: string): boolean {
    return this.#watchers.has(storage)
  }

  async notify(topic: string, messages: readonly string[]): Promise<void> {
    await this.acknowledged(await this.publishChange(this.#options.connection, { [topic]: messages }))
  }

  async send(topic: string, messages: readonly string[]): Promise<void> {
    const { connection, clocks } = this.#options
    const number = await this.publishChange(connection, { [topic]: messages })
    this.#sent.push({ number, at: instantOf(clocks) })
  }

  /** Inside a transaction, as its last statement. */
  publishChange(transaction: PostgresConnection, documents: JsonObject): Promise<number> {
    return insertChange(transaction, this.#options.node.guid, documents)
  }

  /** After the commit. Resolves when every live node, this one included, has applied the change. */
  async acknowledged(number: number): Promise<void> {
    this.hear(CHANGE_CHANNEL)
    while (!(await isAcknowledged(this.#options.reading, number))) {
      if (this.#hasLeft()) throw new QuoinError('UNAVAILABLE', 'The node is stopping.')
      await this.#news()
    }
  }

  /**
   * A change of this node whose writer does not know that it is stored, or that the others have applied it, and so does not do here what
   * follows from it: the watchers are told as of one of another node. What is not stored after all is read once more as it is.
   */
  follow(number: number, documents: Documents): void {
    this.#uncertain.set(number, documents)
    void this.#beat()
  }

  /** What a message says; undefined: some may have been missed. */
  hear(channel: string | undefined): void {
    if (channel !== CHANGE_CHANNEL) for (const look of this.#waiting) look()
    if (channel !== APPLIED_CHANNEL) void this.#beat()
  }

  async close(): Promise<void> {
    if (this.#hasLeft()) return
    this.#to('left')
    clearTimeout(this.#timer)
    await this.#beating
    this.#leased = undefined
    for (const look of this.#waiting) look()
    await leaveNode(this.#options.lease, this.#options.node.guid)
  }

  #schedule(): void {
    if (this.#hasLeft()) return
    this.#timer = setTimeout(() => void this.#beat().then(() => this.#schedule()), BEAT_MS)
  }

  /** One pull at a time; who asks while one is under way gets another one behind it. */
  #beat(): Promise<void> {
    if (this.#hasLeft()) return Promise.resolve()
    if (this.#beating) {
      this.#again = true
      return this.#beating
    }
    this.#beating = this.#pull()
      .catch((error: unknown) => this.#options.report?.(error))
      .finally(() => {
        this.#beating = undefined
        if (!this.#again) return
        this.#again = false
        void this.#beat()
      })
    return this.#beating
  }

  /** The only place where the mode changes. */
  #to(mode: NodeMode): void {
    this.#mode = nextMode('The node', nodeTransitions, this.#mode, mode)
  }

  #hasLeft(): boolean {
    return this.#mode === 'left'
  }

  async #pull(): Promise<void> {
    const { lease, node, clocks, load } = this.#options
    await this.#joinIfNeeded()
    for (;;) {
      const changes = await changesAfter(lease, this.#applied)
      for (const change of changes) {
        if (change.node !== node.guid)
          for (const [storage, guids] of change.documents) await this.#tell(storage, guids)
        this.#applied = change.number
      }
      if (changes.length === 0) break
    }
    for (const [number, documents] of this.#uncertain) {
      if (number > this.#applied) continue
      for (const [storage, guids] of documents) await this.#tell(storage, guids)
      this.#uncertain.delete(number)
    }
    if (this.#hasLeft()) return
    const asked = instantOf(clocks)
    this.#renewed((await renewNode(lease, node.guid, this.#applied, load())) ? asked : undefined)
    if (++this.#beats % FORGET_BEATS === 0) await forgetOld(lease)
    await this.#forgetSent()
  }

  async #forgetSent(): Promise<void> {
    const { lease, clocks } = this.#options
    const young = this.#sent.findIndex(({ at }) => millisecondsSince(at, clocks) < SENT_MS)
    const old = this.#sent.splice(0, young < 0 ? this.#sent.length : young)
    if (old.length === 0) return
    const numbers = old.map(({ number }) => number)
    await forgetChanges(lease, numbers)
  }

  async #joinIfNeeded(): Promise<void> {
    if (this.#mode === 'live' && !this.alive()) this.#to('fenced')
    if (this.#mode === 'fenced') this.#to('joining')
    else if (this.#mode === 'live') {
      // A counter that went back is a database that lost commits (a failover, a restore): nothing read from it still holds.
      const last = await lastChange(this.#options.lease)
      if (last.number < this.#applied && !this.#hasLeft()) this.#to('joining')
    }
    if (this.#mode === 'joining') await this.#join()
  }

  /** `asked`: when the lease was asked for; undefined when the database no longer knows the node. */
  #renewed(asked: Instant | undefined): void {
    if (this.#hasLeft()) return
    this.#leased = asked
    const mode = asked === undefined ? 'fenced' : 'live'
    if (this.#mode !== mode) this.#to(mode)
  }

  async #join(): Promise<void> {
    const { lease, node } = this.#options
    const last = await lastChange(lease)
    this.#compare(last)
    for (const storage of this.#watchers.keys()) await this.#tell(storage, undefined)
    await joinNode(lease, node, last)
    this.#applied = last.number
  }

  /** A primary that others have overtaken, or a backup, has not all that was acknowledged. Said once for each way back. */
  #compare({ number, timeline }: Position): void {
    const isLower = timeline < this.#timeline
    if (isLower || number < this.#applied) {
      this.#wentBack = true
      const what = isLower
        ? `is on timeline ${timeline}, where this node has seen timeline ${this.#timeline}`
        : `is at change ${number}, where this node has seen change ${this.#applied}`
      this.#options.notice?.(
        `The database ${what}: it is a former state, and writes that were acknowledged since may be lost. Check that there is one primary, and compare it with the other servers before one of them is deleted.`,
        false,
      )
    }
    this.#timeline = timeline
  }

  async #tell(storage: string, guids: readonly string[] | undefined): Promise<void> {
    for (const watcher of this.#watchers.get(storage) ?? []) await watcher(guids)
  }

  #news(): Promise<void> {
    return new Promise((resolve) => {
      const look = () => {
        clearTimeout(timer)
        this.#waiting.delete(look)
        resolve()
      }
      const timer = setTimeout(look, LOOK_MS)
      this.#waiting.add(look)
    })
  }
}
