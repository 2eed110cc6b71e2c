/** What the thread of `backup-thread.ts` runs. Not to be imported. */
import { mkdir, readdir, rename, rm, stat, statfs } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { parentPort, workerData } from 'node:worker_threads'
import { ASSETS, checksum, readManifest, summaryOf, syncFolder } from './backup-manifest.ts'
import type { ThreadMessage, ThreadTask } from './backup-thread.ts'
import { checkDatabase, copyChecked, DATABASE_FILE } from './copy-database.ts'
import { makeBackup } from './make-backup.ts'

/** Free bytes that stay for the running database: its log and one large upload. */
const SPARE = 256 * 1024 * 1024

const tell = (news: ThreadMessage) => parentPort?.postMessage(news)

async function carryOut(task: ThreadTask): Promise<void> {
  switch (task.kind) {
    case 'make':
      return make(task)
    case 'check':
      return check(task.folder)
    case 'restore':
      return restore(task)
  }
}

async function make({ data, folder, version, now }: Extract<ThreadTask, { kind: 'make' }>): Promise<void> {
  const [database, log, assets] = await Promise.all([
    folderBytes(join(data, DATABASE_FILE)),
    folderBytes(join(data, `${DATABASE_FILE}-wal`)),
    folderBytes(join(data, ASSETS)),
  ])
  const total = database + log + assets
  await mkdir(dirname(folder), { recursive: true, mode: 0o700 })
  await refuseWithout(total, dirname(folder))
  const progress = (done: number) => tell({ kind: 'progress', done, total })
  await makeBackup({ data, folder, version, clock: () => now, progress })
}

/** Every checksum, and the pages of the database. */
async function check(folder: string): Promise<void> {
  const manifest = await readManifest(folder)
  const total = summaryOf(manifest).bytes
  let done = 0
  for (const { path, bytes, sha256 } of manifest.files) {
    const found = await checksum(join(folder, path))
    if (found.sha256 !== sha256 || found.bytes !== bytes)
      throw new Error(`${path} is not what was backed up: its checksum differs.`)
    done += bytes
    tell({ kind: 'progress', done, total })
  }
  checkDatabase(join(folder, DATABASE_FILE))
}

/** Into a folder that does not exist, which gets its name when all is in it and true. */
async function restore({ folder, target }: Extract<ThreadTask, { kind: 'restore' }>): Promise<void> {
  const manifest = await readManifest(folder)
  const total = summaryOf(manifest).bytes
  await mkdir(dirname(target), { recursive: true, mode: 0o700 })
  await refuseWithout(total, dirname(target))
  const partial = `${target}.partial`
  await mkdir(partial, { mode: 0o700 })
  try {
    await copyChecked(folder, manifest, partial, (done) => tell({ kind: 'progress', done, total }))
    await rename(partial, target)
    await syncFolder(dirname(target))
  } catch (error) {
    await rm(partial, { recursive: true, force: true })
    throw error
  }
}

async function refuseWithout(bytes: number, folder: string): Promise<void> {
  const { bavail, bsize } = await statfs(folder)
  if (bavail * bsize >= bytes + SPARE) return
  const mib = (size: number) => `${Math.ceil(size / 1024 / 1024).toLocaleString('en-US')} MiB`
  throw new Error(
    `${folder} has ${mib(bavail * bsize)} free; ${mib(bytes)} and a reserve of ${mib(SPARE)} are needed.`,
  )
}

const failed = (error: unknown) =>
  tell({ kind: 'failed', message: error instanceof Error ? error.message : String(error) })

carryOut(workerData).then(() => tell({ kind: 'done' }), failed)

/** Bytes of a file or of all files below a folder; 0 where there is none. What vanishes meanwhile is not counted. */
async function folderBytes(path: string): Promise<number> {
  const found = await stat(path).catch(() => undefined)
  if (!found?.isDirectory()) return found?.size ?? 0
  let sum = 0
  for (const name of await readdir(path).catch(() => [])) sum += await folderBytes(join(path, name))
  return sum
}
