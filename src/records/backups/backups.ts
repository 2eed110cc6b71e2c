/**
 * Backups that a server makes of its own data: one piece of work at a time, in a thread. What is begun and does not end
 * (cancelled, killed) leaves nothing that is listed.
 */

import { join } from 'node:path'
import { Readable } from 'node:stream'
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
import type { ThreadTask } from '../../storage/backup/backup-thread.ts'
import { type EndedWork, type RunningWork, ThreadWork } from './thread-work.ts'

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
  /** As a tar file; NOT_FOUND, and CONFLICT with too many at once. It has a place among them until it is closed, read or not. */
  download(name: string): Promise<Readable>
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

export async function openBackups(options: BackupsOptions): Promise<Backups> {
  await sweepBackups(options.folder)
  return new StoredBackups(options)
}

class StoredBackups implements Backups {
  readonly #options: BackupsOptions
  readonly #work: ThreadWork
  /** How many downloads read a backup, by its name. */
  readonly #reading = new Map<string, number>()

  constructor(options: BackupsOptions) {
    this.#options = options
    this.#work = new ThreadWork(options.clock, options.failed)
  }

  get folder(): string {
    return this.#options.folder
  }

  list(): Promise<readonly StoredBackup[]> {
    return listBackups(this.folder)
  }

  running(): RunningWork | undefined {
    return this.#work.running
  }

  last(): EndedWork | undefined {
    return this.#work.last
  }

  async make(kind: BackupKind, keep = 1): Promise<string> {
    const { folder } = this
    const { clock, data, version } = this.#options
    const name = backupName(clock(), kind)
    const task = async (): Promise<ThreadTask> => {
      const all = await listBackups(folder)
      if (kind === 'hand' && all.filter((one) => one.kind === 'hand').length >= MOST_BY_HAND)
        throw new QuoinError('CONFLICT', `${MOST_BY_HAND} backups made by hand are kept. Remove one first.`)
      return { kind: 'make', data, folder: join(folder, name), version, now: clock() }
    }
    await this.#work.begin(name, task, async (problem = '') => {
      if (problem === '' && kind === 'schedule')
        await removeOld(folder, { keep, now: clock(), read: this.#reading })
      return problem
    })
    return name
  }

  async restore(name: string): Promise<string> {
    const { folder } = this
    const target = restoredFolder(folder, name, this.#options.clock())
    const task = async (): Promise<ThreadTask> => {
      await this.#known(name)
      if ((await restoredCopies(folder)).length >= MOST_RESTORED)
        throw new QuoinError(
          'CONFLICT',
          `${MOST_RESTORED} restored copies are stored in ${join(folder, 'restored')}. Delete one first.`,
        )
      return { kind: 'restore', folder: join(folder, name), target }
    }
    await this.#work.begin(name, task, async (problem) => problem ?? target)
    return target
  }

  async check(name: string): Promise<void> {
    const { folder } = this
    const task = async (): Promise<ThreadTask> => {
      await this.#known(name)
      return { kind: 'check', folder: join(folder, name) }
    }
    await this.#work.begin(name, task, async (problem = '') => {
      await noteCheck(folder, name, { at: Math.floor(this.#options.clock() / 1000), problem })
      return problem
    })
  }

  cancel(): Promise<boolean> {
    return this.#work.cancel()
  }

  async remove(name: string): Promise<void> {
    await this.#known(name)
    if (this.#work.running?.name === name)
      throw new QuoinError('CONFLICT', `The backup ${name} is being read. Wait for it or cancel it.`)
    if (this.#reading.has(name))
      throw new QuoinError('CONFLICT', `The backup ${name} is being downloaded. Wait for the end.`)
    await removeBackup(this.folder, name)
  }

  restored(): Promise<readonly RestoredCopy[]> {
    return restoredCopies(this.folder)
  }

  async removeRestored(name: string): Promise<void> {
    const { folder, lock } = this.#options
    if (!(await restoredCopies(folder)).some((one) => one.name === name))
      throw new QuoinError('NOT_FOUND', `There is no restored copy ${JSON.stringify(name)}.`)
    await removeRestored(folder, name, lock).catch((error: unknown) => {
      if (!(error instanceof QuoinError)) throw error
      throw new QuoinError('CONFLICT', `A server runs on the copy ${name}. Stop it first.`, { cause: error })
    })
  }

  async download(name: string): Promise<Readable> {
    const { made } = await this.#known(name)
    const all = [...this.#reading.values()].reduce((sum, count) => sum + count, 0)
    if (all >= MOST_DOWNLOADS)
      throw new QuoinError(
        'CONFLICT',
        `${MOST_DOWNLOADS} backups are being downloaded. Wait for one of them.`,
      )
    // In one step with the look at the count: others ask at the same time.
    const reading = this.#reading
    reading.set(name, (reading.get(name) ?? 0) + 1)
    const archive = backupArchive(join(this.folder, name), name, made)
    return Readable.from(archive, { objectMode: false }).once('close', () => {
      const left = (reading.get(name) ?? 1) - 1
      if (left > 0) reading.set(name, left)
      else reading.delete(name)
    })
  }

  close(): Promise<void> {
    return this.#work.close()
  }

  async #known(name: string): Promise<StoredBackup> {
    const found = isBackupName(name) ? (await this.list()).find((one) => one.name === name) : undefined
    if (found) return found
    throw new QuoinError('NOT_FOUND', `There is no backup ${JSON.stringify(name)}.`)
  }
}

interface Retained {
  readonly keep: number
  readonly now: number
  readonly read: ReadonlyMap<string, number>
}

/** Those of the schedule, but for the newest and those that are read. One of a time ahead of the clock is not the newest. */
async function removeOld(folder: string, { keep, now, read }: Retained): Promise<void> {
  const scheduled = (await listBackups(folder)).filter(({ kind }) => kind === 'schedule')
  const isAhead = ({ made }: StoredBackup) => made * 1000 > now
  const newestFirst = [...scheduled.filter((one) => !isAhead(one)), ...scheduled.filter(isAhead)]
  for (const { name } of newestFirst.slice(keep)) if (!read.has(name)) await removeBackup(folder, name)
}
