/**
 * Where the writer is.
 * - idle: no transaction is open, and no one has the turn.
 * - gathering: the group is open, and no one has the turn: the next segment gets it, or the group's COMMIT comes.
 * - held: a segment has the turn, in its savepoint.
 * - due: the same, and the group's COMMIT comes as soon as the segment ends.
 * - apart: a turn without a segment, between two groups: a transaction of its own, or another connection's.
 * - closed: the connection is gone.
 */
import type { Transitions } from '../../../shared/state-machine.ts'

export type WriterMode = 'idle' | 'gathering' | 'held' | 'due' | 'apart' | 'closed'

export const writerTransitions: Transitions<WriterMode> = {
  // A group is opened; a turn without a segment comes; the last turn of all has come.
  idle: ['gathering', 'apart', 'closed'],
  // The next segment; the COMMIT, or the group has failed.
  gathering: ['held', 'idle'],
  // The COMMIT was wanted meanwhile; the segment ended; the group has failed with it.
  held: ['due', 'gathering', 'idle'],
  due: ['gathering', 'idle'],
  apart: ['idle'],
  closed: [],
}
