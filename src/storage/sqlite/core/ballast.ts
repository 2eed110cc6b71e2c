/**
 * Room that is kept for a full disk: a file beside the database, 32 MiB of nothing. SQLite writes to its log before it
 * frees a page, so on a disk without any room deletes fail too, and no client could make room.
 *
 * It is
 * - missing: at the first start, or when there was no room for it. Tried again every ten seconds.
 * - kept: lies there.
 * - given away: a write met a full disk, the file is empty, and `full` is true: the database may not grow, so that what
 *   was given away is left to deletes and sign-ins (`spare`). Tried again every ten seconds; when the file is whole again, `full` is
 *   over. It is made only where twice its size is free, or it would fill the disk itself.
 *
 * A process that starts on a full disk goes on where the last one was: an empty file says that it was given away. A
 * database whose file is missing on a disk without room for one is taken for the same.
 */
import { rmSync, statfsSync, statSync, truncateSync } from 'node:fs'
import { open, rename, rm, stat, statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Random } from '../../../shared/guid.ts'

export const BALLAST_BYTES = 32 * 1024 * 1024

/** How much must be free for it to be made, in its own sizes. */
const ROOM = 2
const SPARE = 4
const RETRY_MS = 10_000
/** As much as `crypto.getRandomValues` fills at once. */
const CHUNK = 64 * 1024

export interface BallastOptions {
  readonly path: string
  readonly bytes: number
  readonly random: Random
  /** Whether there was a database before this start: a new one has given nothing away. */
  readonly existing: boolean
}

export class Ballast {
  readonly #options: BallastOptions
  readonly #part: string
  #full = false
  #closed = false
  #timer: NodeJS.Timeout | undefined
  /** Raised by each `giveAway`: a file that was begun before must not stand for room that is there now. */
  #released = 0
  #filling: Promise<void> = Promise.resolve()

  /** Makes the file in the background if it is missing. */
  constructor(options: BallastOptions) {
    this.#options = options
    this.#part = `${options.path}.part`
    this.#full = wasReleased(options)
    void this.fill()
  }

  /** How many bytes of it deletes and sign-ins may take for records of their own; the log needs the rest. */
  get spare(): number {
    return this.#options.bytes / SPARE
  }

  /** A write met a full disk, and there is no room yet. */
  get full(): boolean {
    return this.#full
  }

  /** Frees the file's room, at once. Its name stays: on a full disk nothing else could tell the next start. */
  giveAway(): void {
    this.#full = true
    this.#released += 1
    quietly(() => rmSync(this.#part, { force: true }))
    quietly(() => truncateSync(this.#options.path))
    this.#retry()
  }

  /** Makes the file if it is missing and there is room. Never throws. Begins when the fill before it has ended. */
  fill(): Promise<void> {
    this.#filling = this.#filling.then(() => this.#fill())
    return this.#filling
  }

  /** The file stays: the next start needs it. */
  async close(): Promise<void> {
    this.#closed = true
    clearTimeout(this.#timer)
    await this.#filling
  }

  async #fill(): Promise<void> {
    if (this.#closed) return
    const { path, bytes } = this.#options
    const before = this.#released
    try {
      const made = (await sizeOf(path)) === bytes || (await this.#make())
      if (made && this.#released === before) this.#full = false
      else this.#retry()
    } catch {
      await rm(this.#part, { force: true }).catch(() => undefined)
      this.#retry()
    }
  }

  async #make(): Promise<boolean> {
    const { path, bytes, random } = this.#options
    const { bavail, bsize } = await statfs(dirname(path))
    if (bavail * bsize < ROOM * bytes) return false
    const file = await open(this.#part, 'w', 0o600)
    try {
      // No zeros: some file systems keep no room for what they can compress.
      const chunk = new Uint8Array(CHUNK)
      random(chunk)
      for (let left = bytes; left > 0; left -= CHUNK) {
        if (this.#closed) throw new Error('The ballast is no longer needed.')
        await file.writeFile(chunk.subarray(0, Math.min(left, CHUNK)))
      }
    } finally {
      await file.close()
    }
    await rename(this.#part, path)
    return true
  }

  #retry(): void {
    if (this.#closed) return
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => void this.fill(), RETRY_MS).unref()
  }
}

/** Reads the disk once, while the storage opens. */
function wasReleased({ path, bytes, existing }: BallastOptions): boolean {
  if (!existing) return false
  const size = statSync(path, { throwIfNoEntry: false })?.size
  if (size !== undefined) return size === 0
  const { bavail, bsize } = statfsSync(dirname(path))
  return bavail * bsize < bytes
}

/** The write that met the full disk has an error of its own. */
function quietly(work: () => void): void {
  try {
    work()
  } catch {}
}

async function sizeOf(path: string): Promise<number | undefined> {
  try {
    return (await stat(path)).size
  } catch {
    return undefined
  }
}
