/** The files of an application on disk: read, written, and tested. */
import { execFile } from 'node:child_process'
import { constants, existsSync } from 'node:fs'
import { lstat, mkdir, mkdtemp, open, opendir, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { Type } from 'typebox'
import { Check } from 'typebox/value'
import {
  type CoveredBlueprint,
  coveredBlueprintSchema,
  type Tested,
  testedSchema,
} from '../shared/api/blueprints/applications.ts'
import { type Files, isBesideApplication, isLeftInFolder } from '../shared/application/application-files.ts'
import { oneFileMaps } from '../shared/application/cluster-objects.ts'
import { QuoinError } from '../shared/errors.ts'

/** Far more than an application needs; a home directory is refused soon. */
const MOST_FILES = 5_000
const MOST_BYTES = 64 * 1024 * 1024
const MOST_BYTES_OF_ONE = 16 * 1024 * 1024

/** Throws an Error that names the file which cannot be part of an application. */
export async function readFolder(folder: string): Promise<Files> {
  const files = new Map<string, string>()
  let bytes = 0
  const read = async (path: string): Promise<void> => {
    const text = await readText(join(folder, path))
    bytes += text.length
    if (files.size >= MOST_FILES) throw new Error(`${folder} has more than ${MOST_FILES} files.`)
    if (bytes > MOST_BYTES) throw new Error(`The files of ${folder} have more than ${MOST_BYTES} bytes.`)
    files.set(path, text)
  }
  const walk = async (inside: string): Promise<void> => {
    for await (const entry of await opened(join(folder, inside))) {
      const path = inside === '' ? entry.name : `${inside}/${entry.name}`
      if (inside === '' && isBesideApplication(entry.name)) continue
      if (entry.isSymbolicLink())
        throw new Error(`${join(folder, path)} is a link. Copy the file: an application is one folder.`)
      if (entry.isDirectory() && inside === '') await walk(path)
      else if (entry.isFile()) await read(path)
      else
        throw new Error(`${join(folder, path)} is no file. Folders of an application have no folders inside.`)
    }
  }
  await walk('')
  return files
}

async function opened(path: string) {
  return opendir(path).catch((error: unknown) => {
    throw isMissing(error) ? new Error(`There is no folder ${path}.`) : error
  })
}

/** `O_NOFOLLOW` where there is such a thing: the file may have become a link since the folder was read. */
async function readText(path: string): Promise<string> {
  const { isFile, size } = await lstat(path).then((found) => ({ isFile: found.isFile(), size: found.size }))
  if (!isFile) throw new Error(`${path} is no file.`)
  if (size > MOST_BYTES_OF_ONE) throw new Error(`${path} is larger than ${MOST_BYTES_OF_ONE} bytes.`)
  const file = await open(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0)).catch((error: unknown) => {
    throw new Error(`${path} cannot be read.`, { cause: error })
  })
  try {
    const buffer = await file.readFile()
    return new TextDecoder('utf-8', { fatal: true }).decode(buffer)
  } catch {
    throw new Error(`${path} is not UTF-8.`)
  } finally {
    await file.close()
  }
}

/** The folders that a pull writes; files of others stay. */
const ours = ['blueprints', 'storages', 'connections', 'templates', 'texts', 'seed', 'tests']
const ownFiles = ['quoin.json', ...oneFileMaps.map((map) => `${map}.json`)]

/**
 * Makes the folder what the files are: writes those that differ, each whole or not at all, and removes those of an application that
 * are not among them. Gives the paths that changed.
 */
export async function writeFolder(folder: string, files: Files): Promise<readonly string[]> {
  await mkdir(folder, { recursive: true })
  const present = await readFolder(folder)
  const changed = new Map<string, string | undefined>()
  for (const [path, text] of files) if (present.get(path) !== text) changed.set(path, text)
  for (const path of present.keys()) {
    if (files.has(path) || isLeftInFolder(path, present.get(path) ?? '')) continue
    if (!(ours.includes(path.split('/')[0] ?? '') || ownFiles.includes(path))) continue
    changed.set(path, undefined)
  }
  await writeFiles(folder, changed)
  return [...changed.keys()].sort()
}

/**
 * Each whole or not at all; those without a text are removed. A folder may come from anyone, and a link in it would lead to files outside:
 * nothing is written through one.
 */
export async function writeFiles(
  folder: string,
  files: ReadonlyMap<string, string | undefined>,
): Promise<void> {
  for (const [path, text] of files) {
    const target = join(folder, path)
    const isThere = await openFolders(folder, dirname(path), text !== undefined)
    if (text === undefined) {
      if (isThere) await rm(target, { force: true })
      continue
    }
    // Outside the folders of the application, where a reader would take it for a file of it.
    const part = join(folder, `.${basename(target)}.part`)
    await rm(part, { force: true })
    await writeFile(part, text, { flush: true, flag: 'wx' })
    await rename(part, target)
  }
}

/** Makes the folders that lead to a file, or says whether they are there. Throws for one that is a link. */
async function openFolders(folder: string, inside: string, makes: boolean): Promise<boolean> {
  let path = folder
  for (const name of inside === '.' ? [] : inside.split('/')) {
    path = join(path, name)
    if (makes) await mkdir(path).catch(() => undefined)
    const found = await lstat(path).catch(() => undefined)
    if (!found) return false
    if (!found.isDirectory())
      throw new Error(`${path} is no folder. A link could lead to files outside: remove it.`)
  }
  return true
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT'
}

const program = fileURLToPath(new URL('../../bin/quoin.mjs', import.meta.url))
/** A suite that takes longer is for a build pipeline. */
const LONGEST_TEST_MS = 60_000
/** Of the report: reading it takes the event loop 15 ms. */
const MOST_REPORTED = 2 * 1024 * 1024
const MOST_TEST_MB = 1_024
/** Of files and clusters together, which lie in memory. */
const MOST_TEST_BYTES = 256 * 1024 * 1024
const MOST_TEST_FILES = 20_000
const LOOK_MS = 500
/** Of this process: each takes a processor and 150 MB while it runs. */
const TESTS_AT_ONCE = 1

/** Of no one else: what is older than any run of tests is removed. */
const PREFIX = 'quoin-tests-of-files-'
const OLDEST_FOLDER_MS = 3_600_000
/** The main thread only: a worker has an input that ends at once. */
const endsWithParent = `data:text/javascript,import{isMainThread}from'node:worker_threads';if(isMainThread)process.stdin.on('end',()=>process.exit(1)).resume().unref()`

/** A dot: no file of an application, and none of its tests. */
const COVERAGE_FILE = '.coverage.json'
const coverage = Type.Array(coveredBlueprintSchema)

let testsRunning = 0

export interface TestedWithCoverage extends Tested {
  readonly coverage: readonly CoveredBlueprint[]
}

/**
 * Runs `quoin test` over these files in a process of its own, without the environment of this one: its flows see no secret of the
 * cluster, and hold no request up. `extensions`: files of those that are on, which tests use beside the application. `answers`: the results say
 * also with what each step was answered, and what ran.
 */
export async function testFiles(
  files: Files,
  extensions: Files,
  signal: AbortSignal,
  answers = false,
): Promise<TestedWithCoverage> {
  if (![...files.keys()].some((path) => /^tests\/[^/]+\.test\.json$/.test(path)))
    throw new QuoinError('VALIDATION_FAILED', 'There is no tests/NAME.test.json.')
  if (testsRunning >= TESTS_AT_ONCE)
    throw new QuoinError('RATE_LIMITED', 'Other tests are running. Retry in a minute.', { retryAfter: 10 })
  testsRunning += 1
  let folder: string | undefined
  try {
    await removeOldFolders()
    folder = await mkdtemp(join(memoryFolder(), PREFIX))
    const application = join(folder, 'application')
    for (const [inside, all] of [
      [application, files],
      [join(application, 'extensions'), extensions],
    ] as const)
      for (const [path, text] of all) {
        await mkdir(join(inside, dirname(path)), { recursive: true })
        await writeFile(join(inside, path), text)
      }
    if (signal.aborted) throw new QuoinError('VALIDATION_FAILED', 'The tests are no longer asked for.')
    const tested = await testFolder(application, folder, signal, answers)
    return { ...tested, coverage: await coverageIn(application) }
  } finally {
    testsRunning -= 1
    if (folder !== undefined) await rm(folder, { recursive: true, force: true })
  }
}

/** A folder that needs no disk, where there is one, unless another one is set for temporary files. */
export function memoryFolder(): string {
  const memory = '/dev/shm'
  return tmpdir() === '/tmp' && existsSync(memory) ? memory : tmpdir()
}

/** Nothing where no test came to its end. */
async function coverageIn(folder: string): Promise<readonly CoveredBlueprint[]> {
  const found: unknown = await readText(join(folder, COVERAGE_FILE))
    .then(JSON.parse)
    .catch(() => undefined)
  return Check(coverage, found) ? found : []
}

/** A node that is killed leaves the folder of its tests. */
async function removeOldFolders(): Promise<void> {
  const inside = memoryFolder()
  for (const name of await readdir(inside)) {
    if (!name.startsWith(PREFIX)) continue
    const path = join(inside, name)
    const found = await lstat(path).catch(() => undefined)
    if (!found?.isDirectory() || Date.now() - found.mtimeMs < OLDEST_FOLDER_MS) continue
    // Others may have folders here too, which only they can remove.
    await rm(path, { recursive: true, force: true }).catch(() => undefined)
  }
}

/** All that the process writes is below `within`, which is there until the process has ended, however it ends. */
function testFolder(folder: string, within: string, signal: AbortSignal, answers: boolean): Promise<Tested> {
  const limits = { timeout: LONGEST_TEST_MS, maxBuffer: MOST_REPORTED, killSignal: 'SIGKILL' } as const
  const ended = new AbortController()
  let isOver = false
  return new Promise((resolve, reject) => {
    const child = execFile(
      process.execPath,
      [
        `--max-old-space-size=${MOST_TEST_MB}`,
        '--import',
        endsWithParent,
        program,
        'test',
        '.',
        ...['--reporter', 'json', '--coverage-out', COVERAGE_FILE],
        ...(answers ? ['--answers'] : []),
      ],
      { cwd: folder, env: { TMPDIR: within }, ...limits },
      (error, output, complaints) => {
        ended.abort()
        signal.removeEventListener('abort', kill)
        if (isOver) return reject(new QuoinError('VALIDATION_FAILED', tooLarge))
        const results = reported(output)
        if (results !== undefined) return resolve({ passed: error === null, results })
        reject(new QuoinError('VALIDATION_FAILED', whyNoReport(error, complaints)))
      },
    )
    const kill = () => void child.kill('SIGKILL')
    if (signal.aborted) kill()
    signal.addEventListener('abort', kill)
    void largeFolder(within, ended.signal).then((is) => {
      isOver = is
      if (is) kill()
    })
  })
}

const tooLarge = `The tests write more than ${MOST_TEST_BYTES} bytes, or more than ${MOST_TEST_FILES} files.`

/** Whether it gets too large before the signal. */
async function largeFolder(folder: string, signal: AbortSignal): Promise<boolean> {
  while (!signal.aborted) {
    let [bytes, count] = [0, 0]
    // What is removed meanwhile has no size.
    for (const name of await readdir(folder, { recursive: true }).catch(() => [])) {
      const found = await lstat(join(folder, name)).catch(() => undefined)
      bytes += found?.size ?? 0
      count += 1
    }
    if (bytes > MOST_TEST_BYTES || count > MOST_TEST_FILES) return true
    await wait(LOOK_MS, undefined, { signal }).catch(() => undefined)
  }
  return false
}

function whyNoReport(error: (Error & { readonly killed?: boolean }) | null, complaints: string): string {
  if (error && 'code' in error && error.code === 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER')
    return `The report of the tests has more than ${MOST_REPORTED} bytes.`
  if (error?.killed === true) return `The tests did not end within ${LONGEST_TEST_MS / 1000} s.`
  return complaints.slice(0, 10_000) || 'The tests ended without a report.'
}

function reported(output: string): Tested['results'] | undefined {
  try {
    const results: unknown = JSON.parse(output)
    return Check(testedSchema.properties.results, results) ? results : undefined
  } catch {
    return undefined
  }
}
