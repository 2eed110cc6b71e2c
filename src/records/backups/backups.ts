/**
 * Backups that a server makes of its own data: one piece of work at a time, in a thread. What is begun and does not end
 * (cancelled, killed) leaves nothing that is listed.
 */

import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Clock } from '../../shared/clock.ts'
import { QuoinError } from '../../shared/errors.ts'
import { backupArchive } from '../../storage/backup/backup-archive.ts'
import {
  type BackupKind,
  backupName,
  isBackupName,
  listBackups,
  noteCheck,
  type RestoredCopy,
  removeBackup,
  removeRestored,
  restoredCopies,
  restoredFolder,
  type StoredBackup,
  sweepBackups,
} from '../../storage/backup/backup-folder.ts'
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

export interface Backups {
  readonly folder: string
  list(): Promise<readonly StoredBackup[]>
  running(): RunningWork | undefined
  /** The last piece of work of this process. */
  last(): EndedWork | undefined
  /** CONFLICT while something runs, and with too many made by hand. Gives the name. */
  make(kind: BackupKind, keep?: number): Promise<string>
  /** NOT_FOUND for what is no backup of the list; CONFLICT while something runs. Gives the folder. */
  restore(name: string): Promise<string>
  check(name: string): Promise<void>
  /** False when nothing runs. */
  cancel(): Promise<boolean>
  remove(name: string): Promise<void>
  /** What restores have made. */
  restored(): Promise<readonly RestoredCopy[]>
  /** NOT_FOUND for what is no copy of the list; CONFLICT while a server runs on it. */
  removeRestored(name: string): Promise<void>
  /** As a tar file; NOT_FOUND, and CONFLICT with too many at once. It holds a place among them only while it is read. */
  download(name: string): Promise<AsyncGenerator<Buffer>>
  close(): Promise<void>
}

export interface BackupsOptions {
  /** The data directory. */
  readonly data: string
  /** Of the backups. */
  readonly folder: string
  readonly version: string
  readonly clock: Clock
  /** Holds a data directory, and gives what lets go of it; throws where a server runs on it. */
  readonly lock: (directory: string) => () => void
  readonly failed: (message: string) => void
}

/** Made by hand; those of the schedule are as many as the setting says. */
const MOST_BY_HAND = 20
const MOST_RESTORED = 3
/** Sent at once: each reads the disk as fast as its client takes it. */
const MOST_DOWNLOADS = 2
const POLL_MS = 20

export async function openBackups({
  data,
  folder,
  version,
  clock,
  lock,
  failed,
}: BackupsOptions): Promise<Backups> {
  await sweepBackups(folder)
  let present:
    | { state: RunningWork; thread: BackupThread; cancelled: boolean; over: Promise<void> }
    | undefined
  let last: EndedWork | undefined
  /** Something is about to begin. */
  let isBeginning = false
  /** How many downloads read a backup, by its name. */
  const reading = new Map<string, number>()
  const seconds = () => Math.floor(clock() / 1000)

  async function begin(
    name: string,
    task: () => Promise<ThreadTask>,
    after: (problem: string | undefined) => Promise<string>,
  ): Promise<void> {
    if (present || isBeginning)
      throw new QuoinError(
        'CONFLICT',
        'Another backup, check or restore is running. Wait for it or cancel it.',
      )
    isBeginning = true
    try {
      const given = await task()
      const thread = startBackupThread(given, (done, total) => {
        if (present) present.state = { ...present.state, done, total }
      })
      const state = { work: given.kind, name, began: seconds(), done: 0, total: 0 }
      const work = { state, thread, cancelled: false, over: Promise.resolve() }
      present = work
      work.over = thread.ended.then(async (problem) => {
        const told = work.cancelled ? '' : await after(problem).catch((error: unknown) => String(error))
        const outcome = work.cancelled ? 'cancelled' : problem === undefined ? 'done' : 'failed'
        if (outcome !== 'done') await clean(given)
        if (outcome === 'failed') failed(`A backup could not be finished (${given.kind} ${name}): ${told}`)
        last = { work: given.kind, name, ended: seconds(), outcome, message: told }
        present = undefined
      })
    } finally {
      isBeginning = false
    }
  }

  async function* counted(name: string, archive: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
    reading.set(name, (reading.get(name) ?? 0) + 1)
    try {
      yield* archive
    } finally {
      const left = (reading.get(name) ?? 1) - 1
      if (left > 0) reading.set(name, left)
      else reading.delete(name)
    }
  }

  async function known(name: string): Promise<StoredBackup> {
    const found = isBackupName(name)
      ? (await listBackups(folder)).find((one) => one.name === name)
      : undefined
    if (found) return found
    throw new QuoinError('NOT_FOUND', `There is no backup ${JSON.stringify(name)}.`)
  }

  return {
    folder,
    list: () => listBackups(folder),
    running: () => present?.state,
    last: () => last,
    async make(kind, keep = 1) {
      const name = backupName(clock(), kind)
      const task = async (): Promise<ThreadTask> => {
        const all = await listBackups(folder)
        if (kind === 'hand' && all.filter((one) => one.kind === 'hand').length >= MOST_BY_HAND)
          throw new QuoinError('CONFLICT', `${MOST_BY_HAND} backups made by hand are kept. Remove one first.`)
        return { kind: 'make', data, folder: join(folder, name), version, now: clock() }
      }
      await begin(name, task, async (problem = '') => {
        if (problem === '' && kind === 'schedule') await removeOld(folder, keep, reading)
        return problem
      })
      return name
    },
    async restore(name) {
      const target = restoredFolder(folder, name, clock())
      const task = async (): Promise<ThreadTask> => {
        await known(name)
        if ((await restoredCopies(folder)).length >= MOST_RESTORED)
          throw new QuoinError(
            'CONFLICT',
            `${MOST_RESTORED} restored copies lie in ${join(folder, 'restored')}. Delete one first.`,
          )
        return { kind: 'restore', folder: join(folder, name), target }
      }
      await begin(name, task, async (problem) => problem ?? target)
      return target
    },
    async check(name) {
      const task = async (): Promise<ThreadTask> => {
        await known(name)
        return { kind: 'check', folder: join(folder, name) }
      }
      await begin(name, task, async (problem = '') => {
        await noteCheck(folder, name, { at: seconds(), problem })
        return problem
      })
    },
    async cancel() {
      const work = present
      if (!work) return false
      work.cancelled = true
      await work.thread.cancel()
      await work.over
      return true
    },
    async remove(name) {
      await known(name)
      if (present?.state.name === name)
        throw new QuoinError('CONFLICT', `The backup ${name} is being read. Wait for it or cancel it.`)
      if (reading.has(name))
        throw new QuoinError('CONFLICT', `The backup ${name} is being downloaded. Wait for the end.`)
      await removeBackup(folder, name)
    },
    restored: () => restoredCopies(folder),
    async removeRestored(name) {
      if (!(await restoredCopies(folder)).some((one) => one.name === name))
        throw new QuoinError('NOT_FOUND', `There is no restored copy ${JSON.stringify(name)}.`)
      await removeRestored(folder, name, lock).catch((error: unknown) => {
        if (!(error instanceof QuoinError)) throw error
        throw new QuoinError('CONFLICT', `A server runs on the copy ${name}. Stop it first.`, {
          cause: error,
        })
      })
    },
    async download(name) {
      const { made } = await known(name)
      const all = [...reading.values()].reduce((sum, count) => sum + count, 0)
      if (all >= MOST_DOWNLOADS)
        throw new QuoinError(
          'CONFLICT',
          `${MOST_DOWNLOADS} backups are being downloaded. Wait for one of them.`,
        )
      return counted(name, backupArchive(join(folder, name), name, made))
    },
    async close() {
      while (isBeginning) await pause(POLL_MS)
      if (!present) return
      present.cancelled = true
      await present.thread.cancel()
      await present?.over
    },
  }
}

/** What the thread would have removed itself, had it not been ended. */
async function clean(task: ThreadTask): Promise<void> {
  if (task.kind === 'make') await rm(`${task.folder}.partial`, { recursive: true, force: true })
  if (task.kind === 'restore') await rm(`${task.target}.partial`, { recursive: true, force: true })
}

/** Those of the schedule, but for the newest and those that are read. */
async function removeOld(folder: string, keep: number, read: ReadonlyMap<string, number>): Promise<void> {
  const scheduled = (await listBackups(folder)).filter(({ kind }) => kind === 'schedule')
  for (const { name } of scheduled.slice(keep)) if (!read.has(name)) await removeBackup(folder, name)
}
