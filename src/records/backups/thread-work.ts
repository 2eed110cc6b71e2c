/** One piece of work on backups at a time, in a thread, and how the last one ended. */

import { rm } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'
import type { Clock } from '../../shared/clock.ts'
import { QuoinError } from '../../shared/errors.ts'
import { type BackupThread, startBackupThread, type ThreadTask } from '../../storage/backup/backup-thread.ts'

export type BackupWork = ThreadTask['kind']

export interface RunningWork {
  readonly work: BackupWork
  readonly name: string
  /** Unix seconds. */
  readonly began: number
  readonly done: number
  readonly total: number
}

export interface EndedWork {
  readonly work: BackupWork
  readonly name: string
  /** Unix seconds. */
  readonly ended: number
  readonly outcome: 'done' | 'failed' | 'cancelled'
  /** What went wrong, or the folder that was restored into. */
  readonly message: string
}

interface Present {
  state: RunningWork
  readonly thread: BackupThread
  cancelled: boolean
  over: Promise<void>
}

const POLL_MS = 20

export class ThreadWork {
  readonly #clock: Clock
  readonly #failed: (message: string) => void
  #present: Present | undefined
  #last: EndedWork | undefined
  /** Something is about to begin. */
  #isBeginning = false

  constructor(clock: Clock, failed: (message: string) => void) {
    this.#clock = clock
    this.#failed = failed
  }

  get running(): RunningWork | undefined {
    return this.#present?.state
  }

  get last(): EndedWork | undefined {
    return this.#last
  }

  /** CONFLICT while something runs. `after`: gives what is told of the end. */
  async begin(
    name: string,
    task: () => Promise<ThreadTask>,
    after: (problem: string | undefined) => Promise<string>,
  ): Promise<void> {
    if (this.#present || this.#isBeginning)
      throw new QuoinError(
        'CONFLICT',
        'Another backup, check or restore is running. Wait for it or cancel it.',
      )
    this.#isBeginning = true
    try {
      const input = await task()
      const thread = startBackupThread(input, (done, total) => {
        if (this.#present) this.#present.state = { ...this.#present.state, done, total }
      })
      const state = { work: input.kind, name, began: this.#seconds(), done: 0, total: 0 }
      const work: Present = { state, thread, cancelled: false, over: Promise.resolve() }
      this.#present = work
      work.over = thread.ended.then((problem) => this.#end(work, input, problem, after))
    } finally {
      this.#isBeginning = false
    }
  }

  async #end(
    work: Present,
    task: ThreadTask,
    problem: string | undefined,
    after: (problem: string | undefined) => Promise<string>,
  ): Promise<void> {
    const { name } = work.state
    const reported = work.cancelled ? '' : await after(problem).catch((error: unknown) => String(error))
    const outcome = work.cancelled ? 'cancelled' : problem === undefined ? 'done' : 'failed'
    if (outcome !== 'done') await clean(task).catch(() => undefined)
    if (outcome === 'failed')
      this.#failed(`A backup could not be finished (${task.kind} ${name}): ${reported}`)
    this.#last = { work: task.kind, name, ended: this.#seconds(), outcome, message: reported }
    this.#present = undefined
  }

  /** False when nothing runs. */
  async cancel(): Promise<boolean> {
    const work = this.#present
    if (!work) return false
    work.cancelled = true
    await work.thread.cancel()
    await work.over
    return true
  }

  async close(): Promise<void> {
    while (this.#isBeginning) await pause(POLL_MS)
    await this.cancel()
  }

  #seconds(): number {
    return Math.floor(this.#clock() / 1000)
  }
}

/** What the thread would have removed itself, had it not been ended. May fail as the work has: the folder may not be there. */
async function clean(task: ThreadTask): Promise<void> {
  if (task.kind === 'make') await rm(`${task.folder}.partial`, { recursive: true, force: true })
  if (task.kind === 'restore') await rm(`${task.target}.partial`, { recursive: true, force: true })
}
