/**
 * Several nodes on one database, as the rooms above storage see them.
 *
 * What a node keeps in memory of a storage (compiled blueprints, rules of fields) it watches. A write to a watched storage
 * is acknowledged only when every live node has heard of it and done what follows from it, so that after a deactivation
 * no node serves the old routes. A node that cannot be reached does not hold this up for longer than its lease: by then
 * it has stopped to answer by itself.
 */
import type { MaybePromise } from '../shared/maybe-promise.ts'

export interface ClusterNode {
  readonly guid: string
  readonly name: string
  /** Of Quoin. */
  readonly version: string
  /** Unix seconds. */
  readonly started: number
  /** Last contact: Unix seconds. */
  readonly seen: number
  /** Share of the time in which its event loop was busy, 0 to 1. */
  readonly load: number
  /** Whether its lease is running. */
  readonly live: boolean
  /** Whether it is the node that was asked. */
  readonly self: boolean
}

export interface Cluster {
  /** Guid of this node, another one at each start. */
  readonly self: string
  /** Whether this node may answer: false from the end of its lease until it has caught up. Costs nothing to ask. */
  alive(): boolean
  /**
   * Whether this process has seen a later state of the database than the one that it is on now: a higher timeline, or a later change.
   * Then commits that were acknowledged may be lost, as after a failover to a standby that did not have them.
   */
  wentBack(): boolean
  /** Tells the watchers of a topic on the other nodes. Resolves when every live node has done what follows from it. */
  notify(topic: string, messages: readonly string[]): Promise<void>
  /**
   * The same without waiting: resolves when it is on its way. Each live node gets it once, in the order of this node, or not at
   * all when it was away for more than some seconds.
   */
  send(topic: string, messages: readonly string[]): Promise<void>
  /** Those that are live, and those that were during the last hour, by name. */
  nodes(): Promise<readonly ClusterNode[]>
}

/**
 * Called for writes of other nodes, after they are committed and before they are acknowledged. It gets guids of documents,
 * or the argument of `tell`, or undefined: then writes may have been missed, and the watcher reads everything again. An
 * error that it throws keeps the node from going on.
 */
export type Watcher = (guids: readonly string[] | undefined) => MaybePromise<void>
