/**
 * Every change of state of every job, written down by the database itself (triggers), with what another job could say
 * against it at that moment. So what the workers claim is held against what really happened, in its real order.
 */
import {
  numberOf,
  type Row,
  type SqliteConnection,
  textOf,
} from '../../../src/storage/sqlite/core/sqlite-connection.ts'

export const historySql = `
CREATE TABLE history (
  id INTEGER PRIMARY KEY, guid TEXT, was TEXT, is_now TEXT, owner TEXT, attempt INTEGER, next_attempt INTEGER,
  lease_until INTEGER, run_at INTEGER, held INTEGER, at INTEGER, error TEXT,
  better INTEGER, ahead INTEGER, beside INTEGER, running INTEGER, most INTEGER) STRICT;
CREATE TRIGGER job_changes AFTER UPDATE OF state ON job BEGIN
  INSERT INTO history (guid, was, is_now, owner, attempt, next_attempt, lease_until, run_at, held, at, error,
    better, ahead, beside, running, most)
  VALUES (new.guid, old.state, new.state, old.owner, old.attempt, new.attempt, old.lease_until, old.run_at, old.held,
    new.updated, coalesce(new.last_error, ''),
    (SELECT count(*) FROM job WHERE queue = new.queue AND state = 'waiting' AND held = 0 AND run_at <= new.updated
      AND (priority > new.priority OR (priority = new.priority
        AND (run_at < new.run_at OR (run_at = new.run_at AND id < new.id))))),
    (SELECT count(*) FROM job WHERE order_key = new.order_key AND id < new.id AND state IN ('waiting', 'running')),
    (SELECT count(*) FROM job WHERE order_key = new.order_key AND id <> new.id AND state = 'running'),
    (SELECT count(*) FROM job WHERE queue = new.queue AND state = 'running'),
    coalesce((SELECT concurrency FROM queue WHERE name = new.queue), 1000000));
END;`

export interface JobChange {
  readonly guid: string
  readonly was: string
  readonly is: string
  /** Who had it before, at which attempt, until when. */
  readonly owner: string
  readonly attempt: number
  readonly leaseUntil: number
  readonly nextAttempt: number
  readonly runAt: number
  readonly held: boolean
  /** By the clock of the node that made the change. */
  readonly at: number
  readonly error: string
  /** Due jobs of the queue that should have come first. */
  readonly better: number
  /** Live jobs of the same order key: earlier ones, and running ones. */
  readonly ahead: number
  readonly beside: number
  /** Of the queue, this one included; and how many there may be. */
  readonly running: number
  readonly most: number
}

export function readHistory(connection: SqliteConnection): JobChange[] {
  return connection.all('SELECT * FROM history ORDER BY id').map(jobChange)
}

function jobChange(row: Row): JobChange {
  return {
    guid: textOf(row, 'guid'),
    was: textOf(row, 'was'),
    is: textOf(row, 'is_now'),
    owner: textOf(row, 'owner'),
    attempt: numberOf(row, 'attempt'),
    leaseUntil: numberOf(row, 'lease_until'),
    nextAttempt: numberOf(row, 'next_attempt'),
    runAt: numberOf(row, 'run_at'),
    held: numberOf(row, 'held') === 1,
    at: numberOf(row, 'at'),
    error: textOf(row, 'error'),
    better: numberOf(row, 'better'),
    ahead: numberOf(row, 'ahead'),
    beside: numberOf(row, 'beside'),
    running: numberOf(row, 'running'),
    most: numberOf(row, 'most'),
  }
}
