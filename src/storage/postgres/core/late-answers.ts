/**
 * Limits how long a caller waits for a statement that changes data. Where a synchronous standby is gone, a COMMIT waits for
 * it without end, also when its client has gone. So the caller is told in time that the outcome is unknown. The connection
 * is kept until PostgreSQL has answered, and then closed. While it is kept it counts as one of its pool, so that such
 * processes of PostgreSQL do not grow in number. One whose process no longer exists (after a failover) is closed sooner.
 */
import { setMaxListeners } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'
import type { PoolClient } from 'pg'
import { Unconfirmed } from '../../unit-of-work.ts'
import { isRefused } from './postgres-errors.ts'

/** Gives a connection back; a broken one is closed. */
export type Release = (broken: boolean) => void

export interface LateAnswers {
  /** The answer; UNAVAILABLE when it is late. In every case the connection is released once. */
  within<T>(client: PoolClient, asked: Promise<T>, release: Release): Promise<T>
  /** Closes the connections that still wait for an answer. */
  close(): void
}

/** For queries inside `within`: the pool's own timeout would close the connection. Node's longest timer: 24 days. */
export const NO_TIMEOUT = 2 ** 31 - 1
const LATE = Symbol('late')

export interface LateOptions {
  /** How long an answer may take. Milliseconds, like the next. */
  readonly patience: number
  /** How often to look whether PostgreSQL still works on what is late. */
  readonly look: number
  /** Whether PostgreSQL has a process of ours with this number. */
  readonly isThere: (process: number) => Promise<boolean>
}

export function lateAnswers({ patience, look, isThere }: LateOptions): LateAnswers {
  const closing = new AbortController()
  setMaxListeners(0, closing.signal)

  async function isGone(client: PoolClient): Promise<boolean> {
    const process = 'processID' in client ? client.processID : undefined
    // If the server does not answer, the process may still run.
    return typeof process !== 'number' || !(await isThere(process).catch(() => true))
  }

  async function keep(client: PoolClient, answered: Promise<unknown>, release: Release): Promise<void> {
    const over = answered.then(
      () => true,
      () => true,
    )
    const looked = () =>
      wait(look, undefined, { ref: false, signal: closing.signal }).then(
        () => isGone(client),
        () => true,
      )
    while (!(await Promise.race([over, looked()])));
    release(true)
  }

  /** Of one that PostgreSQL has refused something on. Opening another one would cost more than the two trips at most. */
  async function giveBack(client: PoolClient, error: unknown, release: Release): Promise<void> {
    try {
      if (!isRefused(error)) throw error
      // Behind the end of what was asked.
      await client.query('')
      if (client.getTransactionStatus() !== 'I') await client.query('ROLLBACK')
    } catch {
      release(true)
      return
    }
    release(false)
  }

  return {
    async within(client, asked, release) {
      let timer: NodeJS.Timeout | undefined
      const late = new Promise<typeof LATE>((resolve) => {
        timer = setTimeout(resolve, patience, LATE)
      })
      const first = await Promise.race([asked, late]).catch((error: unknown) => {
        clearTimeout(timer)
        void giveBack(client, error, release)
        throw error
      })
      clearTimeout(timer)
      if (first === LATE) {
        void keep(client, asked, release)
        throw new Unconfirmed()
      }
      release(false)
      return first
    },
    close: () => closing.abort(),
  }
}
