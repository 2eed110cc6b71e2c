/**
 * Looks at the files of a database before SQLite opens them, because SQLite meets some damage in silence: an empty database
 * beside a full log is a new one to it, and it overwrites the log. Costs a few reads, and the log once (`check-log.ts`);
 * the pages themselves are checked by every backup.
 */
import { closeSync, copyFileSync, opendirSync, openSync, readSync, renameSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { QuoinError } from '../../../shared/errors.ts'
import { checkLog, isPageSize, type LogState } from './check-log.ts'

export interface FilesToCheck {
  readonly directory: string
  /** Start with what is left. What would be overwritten is kept under another name. */
  readonly acceptLoss: boolean
  /** For that name. */
  readonly now: number
}

const MAGIC = 'SQLite format 3\0'
const HEADER = 100

/** Throws UNAVAILABLE, naming the file and saying what to do. Gives what is not as it should be and no reason to refuse. */
export function checkFiles({ directory, acceptLoss, now }: FilesToCheck): string | undefined {
  const path = join(directory, 'quoin.db')
  const logPath = `${path}-wal`
  const size = sizeOf(path) ?? 0
  const logSize = sizeOf(logPath) ?? 0
  const found = findDamage(directory, path, size, logPath, logSize)
  if (found) {
    if (!acceptLoss || found.hopeless) throw refusal(found)
    keep(found, now)
    return `${found.file} ${found.problem}. Quoin started with what is left, because QUOIN_ACCEPT_LOSS is 1.`
  }
  if (size > 0 && sizeOf(logPath) === undefined && sizeOf(`${path}-shm`) !== undefined)
    return `${logPath} is missing although the last process did not close the database. What was written since the last checkpoint is lost if the file was removed.`
  return undefined
}

interface Damage {
  readonly file: string
  readonly problem: string
  /** What SQLite would overwrite: kept under another name. `move`: must not lie there. */
  readonly overwritten?: { readonly path: string; readonly move: boolean }
  /** There is nothing that could be opened. */
  readonly hopeless?: true
}

function findDamage(
  directory: string,
  path: string,
  size: number,
  logPath: string,
  logSize: number,
): Damage | undefined {
  if (size === 0) {
    const overwritten = { path: logPath, move: true }
    if (logSize > 0)
      return { file: path, problem: `is missing or empty, and its log ${logPath} is not`, overwritten }
    if (holdsFile(join(directory, 'assets')))
      return { file: path, problem: 'is missing or empty, and the folder assets holds uploaded files' }
    return undefined
  }
  const header = headerOf(path)
  const pageSize = pageSizeOf(header)
  if (pageSize === undefined)
    return { file: path, problem: 'is no SQLite database, or its first page is damaged', hopeless: true }
  const log = checkLog(logPath, logSize)
  if (log.problem) return { file: logPath, problem: log.problem, overwritten: { path: logPath, move: false } }
  const missing = missingPage(header, log, Math.floor(size / pageSize))
  if (missing === undefined) return undefined
  const problem = `is cut off: it holds ${Math.floor(size / pageSize)} pages, and page ${missing} is neither there nor in the log`
  // SQLite does not open it either.
  return { file: path, problem, hopeless: true }
}

/** The first page that is in no file. While there is a log, the database file may be shorter than the database. */
function missingPage(header: Buffer, log: LogState, pages: number): number | undefined {
  const isCurrent = header.readUInt32BE(24) === header.readUInt32BE(92)
  const requested = log.pages > 0 ? log.pages : isCurrent ? header.readUInt32BE(28) : 0
  for (let page = pages + 1; page <= requested; page++) if (!log.held.has(page)) return page
  return undefined
}

function refusal({ file, problem, hopeless }: Damage): QuoinError {
  const restore =
    'Put a backup back with "quoin restore <folder> --force", which keeps these files in a folder beside it'
  const loss = hopeless
    ? ''
    : ', or start once with QUOIN_ACCEPT_LOSS=1 to go on with what is left: later writes may be lost'
  return new QuoinError(
    'UNAVAILABLE',
    `${file} ${problem}. Nothing was changed. Copy the folder first. ${restore}${loss}.`,
  )
}

function keep({ overwritten }: Damage, now: number): void {
  if (!overwritten) return
  const target = `${overwritten.path}.damaged-${new Date(now).toISOString().replaceAll(/[-:]|\.\d+/g, '')}`
  if (overwritten.move) renameSync(overwritten.path, target)
  else copyFileSync(overwritten.path, target)
}

function headerOf(path: string): Buffer {
  const header = Buffer.alloc(HEADER)
  const file = openSync(path, 'r')
  try {
    readSync(file, header, 0, HEADER, 0)
  } finally {
    closeSync(file)
  }
  return header
}

function pageSizeOf(header: Buffer): number | undefined {
  if (header.toString('latin1', 0, MAGIC.length) !== MAGIC) return undefined
  // 65,536 does not fit into two bytes.
  const size = header.readUInt16BE(16) === 1 ? 65_536 : header.readUInt16BE(16)
  return isPageSize(size) ? size : undefined
}

/** Down to the first one. */
function holdsFile(directory: string): boolean {
  let entries: ReturnType<typeof opendirSync>
  try {
    entries = opendirSync(directory)
  } catch {
    return false
  }
  try {
    for (let entry = entries.readSync(); entry; entry = entries.readSync())
      if (entry.isFile() || (entry.isDirectory() && holdsFile(join(directory, entry.name)))) return true
    return false
  } finally {
    entries.closeSync()
  }
}

function sizeOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.size
}
