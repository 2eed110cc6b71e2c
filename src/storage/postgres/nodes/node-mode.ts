/**
 * Where a node is among those that share its database.
 * - joining: notes the last change, has everything that is watched read again, enters its row with a lease, and pulls what
 *   was changed meanwhile. A node that comes from `live` still answers while its lease runs.
 * - live: pulls what has changed and renews its lease. It answers while the lease runs, by its own clocks.
 * - fenced: its lease has run out, or the database no longer knows it. It does not answer.
 * - left: it is stopping.
 */
import type { Transitions } from '../../../shared/state-machine.ts'

export type NodeMode = 'joining' | 'live' | 'fenced' | 'left'

export const nodeTransitions: Transitions<NodeMode> = {
  joining: ['live', 'fenced', 'left'],
  // To `joining` after a failover: the counter of changes went back.
  live: ['joining', 'fenced', 'left'],
  fenced: ['joining', 'left'],
  left: [],
}
