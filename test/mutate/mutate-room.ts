/**
 * Changes the sources of a room, one small change at a time, in a copy of the last commit, and asks the suites that run the changed
 * function whether they notice. `npm run mutate -- --room queue --most 20 --seed 1`; each change takes 5 to 30 s.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { globSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
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
  money: [
    'src/shared/numbers/*.ts',
    'src/expressions/functions/{numbers,round-number,number-format,read-number}.ts',
  ],
}

interface RoomMutant {
  readonly file: string
  readonly line: number
  readonly change: string
  readonly edits: readonly Edit[]
  /** The function that it is in; '' for the module itself. */
  readonly name: string
}

/** Survivors that no suite can see, by `file | change`, with the reason. */
const accepted: Readonly<Record<string, string>> = JSON.parse(
  readFileSync(join(import.meta.dirname, 'accepted-room-survivors.json'), 'utf8'),
)

/** Seconds of processor time of the suites that are asked for one change. */
const SECONDS = 4
const LONGEST_MS = 180_000

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

function suitesFor({ file, name }: RoomMutant): readonly Chosen[] {
  const recorded = readSuites()
  const engineOf = (engine: string) => (engine === 'postgres' ? recorded.postgres : recorded.sqlite)
  const known = {
    coverage: readCoverage(),
    importersOf: () => [],
    secondsOf: (suite: { readonly engine: string; readonly file: string }) =>
      engineOf(suite.engine)[suite.file]?.seconds ?? 1,
  }
  const changes = [{ file, functions: new Set([name]) }]
  const fitting = chooseSuites(changes, known, SECONDS).chosen
  // The cheapest of them is longer.
  const chosen =
    fitting.length > 0 ? fitting : chooseSuites(changes, known, LONGEST_MS / 1_000).chosen.slice(0, 3)
  return chosen.filter((suite) => engineOf(suite.engine)[suite.file] !== undefined)
}

/** Whether the suites notice what stands in the copy now. */
function isNoticed(copy: string, suites: readonly Chosen[]): boolean {
  return ['sqlite', 'postgres'].some((engine) => {
    const files = suites.filter((suite) => suite.engine === engine).map(({ file }) => file)
    if (files.length === 0) return false
    const projects = engine === 'sqlite' ? ['unit', 'main', 'rest'] : ['main-postgres', 'rest-postgres']
    const words = ['run', '--bail', '1', ...projects.flatMap((name) => ['--project', name]), ...files]
    const vitest = join(root, 'node_modules/vitest/vitest.mjs')
    const { status } = spawnSync(process.execPath, [vitest, ...words], { cwd: copy, timeout: LONGEST_MS })
    return status !== 0
  })
}

/** Gives the exit code: 1 where a change survives that is not accepted. */
export function mutateRoom(room: string, most: number, seed: number): number {
  const patterns = rooms[room]
  if (!patterns) throw new Error(`${room}: no room. There are ${Object.keys(rooms).join(', ')}.`)
  const files = patterns.flatMap((pattern) => globSync(pattern, { cwd: root })).toSorted()
  const sources = files.filter((file) => !/\.(test|property\.test|torture\.test)\.ts$/.test(file))
  const all = sources.flatMap((file) => mutantsOf(file, readFileSync(join(root, file), 'utf8')))
  const directory = mkdtempSync(join(tmpdir(), 'quoin-mutants-'))
  const copy = join(directory, 'copy')
  execFileSync('git', ['worktree', 'add', '--detach', '--quiet', copy], { cwd: root })
  let survived = 0
  try {
    symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'))
    const some = someOf(all, most, seed)
    console.log(`${room}: ${some.length} of ${all.length} changes of ${sources.length} files, seed ${seed}`)
    for (const mutant of some) {
      const path = join(copy, mutant.file)
      const text = readFileSync(path, 'utf8')
      writeFileSync(path, edited(text, mutant.edits))
      const suites = suitesFor(mutant)
      const noticed = isNoticed(copy, suites)
      writeFileSync(path, text)
      const reason = accepted[`${mutant.file} | ${mutant.change}`]
      const said = noticed ? 'killed' : reason === undefined ? 'SURVIVED' : `accepted: ${reason}`
      if (!noticed && reason === undefined) survived += 1
      console.log(`  ${said}  ${mutant.file}:${mutant.line}  ${mutant.change}  (${suites.length} suites)`)
    }
    console.log(`${survived} survived and are not accepted.`)
  } finally {
    execFileSync('git', ['worktree', 'remove', '--force', copy], { cwd: root })
    rmSync(directory, { recursive: true, force: true })
  }
  return survived > 0 ? 1 : 0
}
