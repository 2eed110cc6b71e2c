/**
 * Changes the sources of a room, one small change at a time, in a copy of the last commit, and asks the suites that run the changed
 * function whether they notice. `npm run mutate -- --room queue --most 20 --seed 1`; each change takes 5 to 30 s.
 */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import ts from 'typescript'
import { type Chosen, chooseSuites } from '../affected/choose-suites.ts'
import { functionsOf } from '../affected/named-functions.ts'
import { readCoverage } from '../affected/recorded-coverage.ts'
import { seededRandom } from '../seeded-random.ts'
import { readSuites } from '../tiers/suites.ts'
import { changesOfNode } from './code-operators.ts'
import { changeOf, type Edit, edited } from './mutant.ts'

const root = join(import.meta.dirname, '../..')

/** What is most dear when no suite notices: stored data, leases, who may do what, and money. */
export const rooms: Readonly<Record<string, readonly string[]>> = {
  postgres: ['src/storage/postgres/**/*.ts'],
  sqlite: ['src/storage/sqlite/core/*.ts'],
  queue: ['src/queue/*.ts'],
  access: ['src/access/**/*.ts'],
  permissions: ['src/records/permissions/*.ts'],
  server: ['src/http/server/*.ts'],
  money: ['src/shared/numbers/*.ts', 'src/expressions/functions/numbers.ts'],
}

interface RoomMutant {
  readonly file: string
  readonly line: number
  readonly change: string
  readonly edits: readonly Edit[]
  /** The function that it is in; '' for the module itself. */
  readonly name: string
}

/** Survivors that no suite can see, by `placeOf`, with the reason. */
export const acceptedInRooms: Readonly<Record<string, string>> = JSON.parse(
  readFileSync(join(import.meta.dirname, 'accepted-room-survivors.json'), 'utf8'),
)

/** Each takes longer to load than its tests take. */
const MOST_SUITES = 6
const MOST_BESIDE = 3
/** Seconds of processor time of the suites that are asked for one change. */
const SECONDS = 4
const LONGEST_MS = 240_000

/** File, function and change: lines move, and many changes of a file read the same. */
export const placeOf = ({ file, name, change }: RoomMutant) => `${file} | ${name} | ${change}`

/** All changes of one source. */
export function mutantsOf(file: string, text: string): RoomMutant[] {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true)
  const functions = functionsOf(file, text)
  const found: RoomMutant[] = []
  const visit = (node: ts.Node): void => {
    if (ts.isTypeNode(node) || ts.isImportDeclaration(node) || ts.isThrowStatement(node)) return
    for (const edits of changesOfNode(node, source, () => true)) {
      const start = edits[0]?.start ?? 0
      const line = source.getLineAndCharacterOfPosition(start).line + 1
      found.push({ file, line, change: changeOf(text, edits), edits, name: functions.at(start) })
    }
    ts.forEachChild(node, visit)
  }
  visit(source)
  return found
}

/** `most` of them, the same for the same seed. */
function someOf<T>(all: readonly T[], most: number, seed: number): T[] {
  const bytes = new Uint8Array(4)
  const random = seededRandom(seed)
  const left = [...all]
  const some: T[] = []
  while (some.length < most && left.length > 0) {
    random(bytes)
    some.push(...left.splice(new DataView(bytes.buffer).getUint32(0) % left.length, 1))
  }
  return some
}

/** The suite of the source's name, also where it was written since the coverage was recorded. */
function ownSuite(file: string, recorded: ReturnType<typeof readSuites>): readonly Chosen[] {
  const suite = file.replace(/\.ts$/, '.test.ts')
  const engine = recorded.sqlite[suite] ? 'sqlite' : 'postgres'
  const seconds = recorded[engine][suite]?.seconds
  return seconds === undefined ? [] : [{ engine, file: suite, seconds, runs: 1 }]
}

/** Of a folder, the cheapest first: for what no suite is recorded to run. */
function suitesIn(folder: string, recorded: ReturnType<typeof readSuites>): readonly Chosen[] {
  const all = (['sqlite', 'postgres'] as const).flatMap((engine) =>
    Object.entries(recorded[engine]).map(([file, { seconds }]) => ({ engine, file, seconds, runs: 0 })),
  )
  return all.filter(({ file }) => dirname(file) === folder).toSorted((a, b) => a.seconds - b.seconds)
}

const isBeside = (suite: Chosen, file: string) => dirname(suite.file) === dirname(file)

const changesIn = (file: string, name: string) => [{ file, functions: new Set([name]) }]

function suitesFor({ file, name }: RoomMutant): readonly Chosen[] {
  const recorded = readSuites()
  const engineOf = (engine: string) => (engine === 'postgres' ? recorded.postgres : recorded.sqlite)
  const known = {
    coverage: readCoverage(),
    importersOf: () => [],
    secondsOf: (suite: { readonly engine: string; readonly file: string }) =>
      engineOf(suite.engine)[suite.file]?.seconds ?? 1,
  }
  // A function without a suite, such as one that was renamed since: those that load its file.
  const isRecorded =
    name !== '' && chooseSuites(changesIn(file, name), known, LONGEST_MS / 1_000).chosen.length > 0
  const changes = changesIn(file, isRecorded ? name : '')
  const all = chooseSuites(changes, known, LONGEST_MS / 1_000).chosen
  const fitting = chooseSuites(changes, known, SECONDS).chosen
  const beside = all.filter((suite) => isBeside(suite, file)).toSorted((a, b) => a.seconds - b.seconds)
  // Those beside the source test its promises, the cheapest first. The cheapest of the others may be longer than what fits.
  const chosen = [
    ...ownSuite(file, recorded),
    ...beside.slice(0, MOST_BESIDE),
    ...(fitting.length > 0 ? fitting : all.slice(0, 3)),
  ]
  const unique = new Map(
    (chosen.length > 0 ? chosen : suitesIn(dirname(file), recorded)).map((suite) => [
      `${suite.engine} ${suite.file}`,
      suite,
    ]),
  )
  return [...unique.values()]
    .filter((suite) => engineOf(suite.engine)[suite.file] !== undefined)
    .slice(0, MOST_SUITES)
}

/** `timed out` and `no verdict` (vitest ended without a failed test) are neither killed nor survived. */
export type Verdict = 'killed' | 'survived' | 'timed out' | 'no verdict'

/** What a run of vitest says of a change. `report`: its JSON, if it wrote one. */
export function verdictOf(code: number | undefined, report: string | undefined): Verdict {
  if (code === undefined) return 'timed out'
  if (code === 0) return 'survived'
  const { numFailedTests = 0, numFailedTestSuites = 0 } = report === undefined ? {} : JSON.parse(report)
  return numFailedTests + numFailedTestSuites > 0 ? 'killed' : 'no verdict'
}

/** The exit code of a program in a group of its own, which is killed whole when it takes too long: then undefined. */
export async function endOf(
  words: readonly string[],
  cwd: string,
  longest: number,
  stopped: AbortSignal,
): Promise<number | undefined> {
  // A signal that was aborted before does not call the listener.
  stopped.throwIfAborted()
  const child = spawn(process.execPath, words, { cwd, detached: true, stdio: 'ignore' })
  const late = AbortSignal.any([AbortSignal.timeout(longest), stopped])
  const kill = () => child.pid !== undefined && process.kill(-child.pid, 'SIGKILL')
  late.addEventListener('abort', kill, { once: true })
  const [code] = await once(child, 'close')
  late.removeEventListener('abort', kill)
  stopped.throwIfAborted()
  return typeof code === 'number' ? code : undefined
}

const engines = ['sqlite', 'postgres'] as const

/** What the suites say of the copy as it is now. */
async function judge(copy: string, suites: readonly Chosen[], stopped: AbortSignal): Promise<Verdict> {
  let verdict: Verdict = 'survived'
  // The first is the source's own where there is one: the others may only hang, and take minutes to say so.
  const [first, ...others] = suites
  const batches = [
    first ? [first] : [],
    ...engines.map((one) => others.filter(({ engine }) => engine === one)),
  ]
  for (const batch of batches) {
    const files = batch.map(({ file }) => file)
    const engine = batch[0]?.engine
    if (engine === undefined) continue
    const projects = engine === 'sqlite' ? ['unit', 'main', 'rest'] : ['main-postgres', 'rest-postgres']
    const report = join(dirname(copy), 'report.json')
    const words = [
      ...[join(root, 'node_modules/vitest/vitest.mjs'), 'run', '--bail', '1', '--maxWorkers', '1'],
      ...['--reporter=json', `--outputFile=${report}`],
      ...[...projects.flatMap((name) => ['--project', name]), ...files],
    ]
    rmSync(report, { force: true })
    const code = await endOf(words, copy, LONGEST_MS, stopped)
    const seen = verdictOf(code, existsSync(report) ? readFileSync(report, 'utf8') : undefined)
    if (seen === 'killed') return seen
    if (seen !== 'survived') verdict = seen
  }
  return verdict
}

const FOLDER = 'quoin-mutants-'

/** Removes copies whose program was ended with SIGKILL. */
function removeLeftCopies(): void {
  const list = execFileSync('git', ['worktree', 'list', '--porcelain'], { cwd: root, encoding: 'utf8' })
  for (const [, copy = ''] of list.matchAll(/^worktree (.+)$/gm)) {
    const folder = dirname(copy)
    const [, pid] = new RegExp(`^${FOLDER}(\\d+)-`).exec(basename(folder)) ?? []
    if (pid !== undefined && !isRunning(Number(pid))) removeCopy(copy)
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

function removeCopy(copy: string): void {
  execFileSync('git', ['worktree', 'remove', '--force', copy], { cwd: root })
  rmSync(dirname(copy), { recursive: true, force: true })
}

/** Calls `use` with a copy of the last commit, which is removed also when the program is asked to end. `options`: of `git worktree add`. */
export async function inCopy<T>(
  use: (copy: string, stopped: AbortSignal) => Promise<T>,
  ...options: readonly string[]
): Promise<T> {
  removeLeftCopies()
  const stopped = new AbortController()
  const stop = (signal: string) => stopped.abort(new Error(`stopped by ${signal}`))
  process.on('SIGINT', stop).on('SIGTERM', stop)
  const copy = join(mkdtempSync(join(tmpdir(), `${FOLDER}${process.pid}-`)), 'copy')
  execFileSync('git', ['worktree', 'add', '--detach', '--quiet', ...options, copy], { cwd: root })
  try {
    symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'))
    return await use(copy, stopped.signal)
  } finally {
    removeCopy(copy)
    process.off('SIGINT', stop).off('SIGTERM', stop)
  }
}

/** Gives the exit code: 1 where a change is not killed and not accepted. */
export async function mutateRoom(fixture: string, most: number, seed: number): Promise<number> {
  const patterns = rooms[fixture]
  if (!patterns) throw new Error(`${fixture}: no room. There are ${Object.keys(rooms).join(', ')}.`)
  return inCopy(async (copy, stopped) => {
    // Of the copy: the checkout may be worked on meanwhile.
    const files = patterns.flatMap((pattern) => globSync(pattern, { cwd: copy })).toSorted()
    const sources = files.filter((file) => !/\.(test|property\.test|torture\.test)\.ts$/.test(file))
    const all = sources.flatMap((file) => mutantsOf(file, readFileSync(join(copy, file), 'utf8')))
    const some = someOf(all, most, seed)
    console.log(
      `${fixture}: ${some.length} of ${all.length} changes of ${sources.length} files, seed ${seed}`,
    )
    const counts: Record<Verdict | 'accepted', number> = {
      ...{ killed: 0, survived: 0, 'timed out': 0, 'no verdict': 0, accepted: 0 },
    }
    for (const mutant of some) {
      const path = join(copy, mutant.file)
      const text = readFileSync(path, 'utf8')
      writeFileSync(path, edited(text, mutant.edits))
      const suites = suitesFor(mutant)
      const verdict = await judge(copy, suites, stopped)
      writeFileSync(path, text)
      const reason = verdict === 'killed' ? undefined : acceptedInRooms[placeOf(mutant)]
      counts[reason === undefined ? verdict : 'accepted'] += 1
      const said = reason === undefined ? verdict : `accepted (${verdict}): ${reason}`
      console.log(`  ${said}  ${mutant.file}:${mutant.line}  ${mutant.change}  (${suites.length} suites)`)
    }
    console.log(
      Object.entries(counts)
        .map(([name, count]) => `${count} ${name}`)
        .join(', '),
    )
    return counts.killed + counts.accepted < some.length ? 1 : 0
  })
}
