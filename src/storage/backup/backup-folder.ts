/** A folder with the backups that a server makes: each a folder whose name is the time, and what made it. */
import { readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { SUMMARY } from './backup-manifest.ts'

export type BackupKind = 'hand' | 'schedule'

export interface CheckResult {
  /** Unix seconds. */
  readonly at: number
  /** Empty: every checksum is right. */
  readonly problem: string
}

export interface StoredBackup {
  readonly name: string
  readonly kind: BackupKind
  /** Unix seconds. */
  readonly made: number
  readonly bytes: number
  readonly files: number
  /** Of Quoin. */
  readonly version: string
  /** The last check since it was made; making it has checked the database. */
  readonly checked: CheckResult | undefined
}

/** Names are made here and nowhere else: what is no such name is not looked for on the disk. */
const NAME = /^\d{8}T\d{6}Z-(hand|schedule)$/
const RESTORED_NAME = /^(\d{8}T\d{6}Z-(hand|schedule))-(\d{8}T\d{6}Z)$/
const RESTORED = 'restored'
const CHECK = 'check.json'
/** Read at once; more are never kept. */
const MOST_LISTED = 200

const summarySchema = Compile(
  Type.Object({
    quoin: Type.String(),
    made: Type.String(),
    files: Type.Integer(),
    bytes: Type.Number(),
  }),
)
const checkSchema = Compile(Type.Object({ at: Type.Integer(), problem: Type.String() }))

export function isBackupName(name: string): boolean {
  return NAME.test(name)
}

export function backupName(now: number, kind: BackupKind): string {
  return `${stamp(now)}-${kind}`
}

/** Where a backup is restored to: beside the backups, never the folder of the running database. */
export function restoredFolder(folder: string, name: string, now: number): string {
  return join(folder, RESTORED, `${name}-${stamp(now)}`)
}

export interface RestoredCopy {
  readonly name: string
  /** The backup that it was made of, which may be gone. */
  readonly backup: string
  /** Unix seconds. */
  readonly restored: number
}

/** Copies that restores have made, the newest first. What else lies in the folder is none, and is never deleted. */
export async function restoredCopies(folder: string): Promise<readonly RestoredCopy[]> {
  const entries = await readdir(join(folder, RESTORED), { withFileTypes: true }).catch(() => [])
  return entries
    .flatMap((entry): RestoredCopy[] => {
      const [, backup, , at] = RESTORED_NAME.exec(entry.name) ?? []
      if (!entry.isDirectory() || backup === undefined || at === undefined) return []
      return [{ name: entry.name, backup, restored: Math.floor(timeOf(at) / 1000) }]
    })
    .sort((a, b) => b.restored - a.restored)
}

/** Of a copy in the list. `lock` throws where a server runs on it. It is out of the list at once. */
export async function removeRestored(
  folder: string,
  name: string,
  lock: (directory: string) => () => void,
): Promise<void> {
  const path = join(folder, RESTORED, name)
  const unlock = lock(path)
  try {
    await rename(path, `${path}.partial`)
  } finally {
    unlock()
  }
  await rm(`${path}.partial`, { recursive: true, force: true })
}

/** The newest first. Only whole ones: one that was cut short has another name. */
export async function listBackups(folder: string): Promise<readonly StoredBackup[]> {
  const names = (await namesIn(folder)).filter(isBackupName).sort().reverse().slice(0, MOST_LISTED)
  const found = await Promise.all(names.map((name) => readBackup(folder, name)))
  return found.filter((one) => one !== undefined)
}

async function readBackup(folder: string, name: string): Promise<StoredBackup | undefined> {
  const summary = await readJson(join(folder, name, SUMMARY))
  if (!summarySchema.Check(summary)) return undefined
  const check = await readJson(join(folder, name, CHECK))
  return {
    name,
    kind: name.endsWith('-schedule') ? 'schedule' : 'hand',
    made: Math.floor(Date.parse(summary.made) / 1000),
    bytes: summary.bytes,
    files: summary.files,
    version: summary.quoin,
    checked: checkSchema.Check(check) ? check : undefined,
  }
}

export async function noteCheck(folder: string, name: string, result: CheckResult): Promise<void> {
  const path = join(folder, name, CHECK)
  await writeFile(`${path}.new`, JSON.stringify(result), { mode: 0o600, flush: true })
  await rename(`${path}.new`, path)
}

/** It is out of the list at once, also when the process ends before all of it is deleted. */
export async function removeBackup(folder: string, name: string): Promise<void> {
  const partial = join(folder, `${name}.partial`)
  await rename(join(folder, name), partial)
  await rm(partial, { recursive: true, force: true })
}

/** Deletes what a process that was killed has left behind. */
export async function sweepBackups(folder: string): Promise<void> {
  for (const name of await namesIn(folder))
    if (name.endsWith('.partial') && isBackupName(name.slice(0, -'.partial'.length)))
      await rm(join(folder, name), { recursive: true, force: true })
  for (const name of await namesIn(join(folder, RESTORED)))
    if (name.endsWith('.partial')) await rm(join(folder, RESTORED, name), { recursive: true, force: true })
}

async function namesIn(folder: string): Promise<string[]> {
  return readdir(folder).catch(() => [])
}

async function readJson(path: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(path, 'utf8'))
  } catch {
    return undefined
  }
}

/** Of a stamp, in milliseconds. */
function timeOf(stamp: string): number {
  return Date.parse(stamp.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'))
}

/** `20260131T034500Z` */
function stamp(now: number): string {
  return new Date(now).toISOString().replaceAll(/[-:]|\.\d+/g, '')
}
