/**
 *   npm run affected                  runs the suites that the change needs, at most a minute of them
 *   npm run affected -- --list        names them, with what did not fit
 *   npm run affected -- --all         runs what did not fit too
 *   npm run affected -- --base REF    the change since REF; without it what is not committed, or else the last commit
 *   npm run affected -- --record      runs all suites and records what each runs (a quarter of an hour)
 *   npm run affected -- --follow      after files were joined or renamed: what is recorded of them counts where their functions are
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { globSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { parseArgs } from 'node:util'
import { type Engine, readSuites } from '../tiers/suites.ts'
import { changedLines } from './changed-lines.ts'
import { type Changed, type Chosen, chooseSuites } from './choose-suites.ts'
import { followMoves } from './follow-moves.ts'
import { functionsOf } from './named-functions.ts'
import { type EngineSuite, readCoverage, rewriteCoverage, writeCoverage } from './recorded-coverage.ts'

const root = join(import.meta.dirname, '../..')
const vitest = join(root, 'node_modules/vitest/vitest.mjs')

const git = (...words: string[]) =>
  execFileSync('git', words, { cwd: root, encoding: 'utf8', maxBuffer: 256 * 1024 * 1024 })

/** Resolves to the exit code. */
function run(words: readonly string[], environment: NodeJS.ProcessEnv = {}): number {
  const { status } = spawnSync(process.execPath, [vitest, 'run', ...words], {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, ...environment },
  })
  return status ?? 1
}

/** What changed since a commit, also what is not committed and what is new. */
function changesSince(base: string): Changed[] {
  const untracked = git('ls-files', '--others', '--exclude-standard').split('\n').filter(Boolean)
  const lines = changedLines(git('diff', '-U0', '--no-renames', '--no-ext-diff', base))
  return [
    ...untracked.map((file) => ({ file, functions: new Set(['']) })),
    ...[...lines].map(([file, { before, after }]) => {
      const sides = [
        { text: () => git('show', `${base}:${file}`), parts: before },
        { text: () => readFileSync(join(root, file), 'utf8'), parts: after },
      ]
      const functions = sides.flatMap(({ text, parts }) => {
        if (parts.length === 0 || !/\.tsx?$/.test(file)) return []
        const source = functionsOf(file, text())
        return parts.flatMap(({ first, count }) => [...source.ofLines(first, count)])
      })
      return { file, functions: new Set(functions) }
    }),
  ]
}

/** Sources that import a file or, of what is no source (JSON, SQL, CSS), that stand beside it or name it. */
function importers(): (file: string) => string[] {
  const sources = globSync('{src,test,bench,scripts}/**/*.{ts,tsx,mjs}', {
    cwd: root,
    exclude: ['**/node_modules'],
  })
  const texts = new Map<string, string>()
  const textOf = (source: string) => {
    const text = texts.get(source) ?? readFileSync(join(root, source), 'utf8')
    texts.set(source, text)
    return text
  }
  return (file) => {
    const name = file.slice(file.lastIndexOf('/') + 1)
    const imports = (source: string) =>
      [...textOf(source).matchAll(/['"](\.{1,2}\/[^'"]+)['"]/g)].some(
        ([, path]) => normalize(join(dirname(source), path ?? '')) === file,
      )
    if (/\.tsx?$/.test(file)) return sources.filter(imports)
    const naming = sources.filter((source) => textOf(source).includes(name))
    return naming.length > 0 ? naming : sources.filter((source) => dirname(source) === dirname(file))
  }
}

/** What is not committed, or else the last commit. */
const presentBase = () => (git('status', '--porcelain').trim() === '' ? 'HEAD~1' : 'HEAD')

function choose(base: string, everything: boolean) {
  const recorded = readSuites()
  const changes = changesSince(base)
  const engines: readonly Engine[] = ['sqlite', 'postgres']
  const coverage = readCoverage()
  // A suite that is newer than the recording, in its place behind the others.
  const missing = changes
    .filter(({ file }) => file.endsWith('.test.ts') && !coverage.suites.some((suite) => suite.file === file))
    .map(({ file }) => ({ engine: 'sqlite', file }))
  // A new suite that is in no tier yet runs all the same.
  const secondsOf = ({ engine, file }: EngineSuite) => {
    const one = engines.find((known) => known === engine)
    return (
      (one && recorded[one][file]?.seconds) ?? (missing.some((suite) => suite.file === file) ? 1 : undefined)
    )
  }
  const known = {
    coverage: { ...coverage, suites: [...coverage.suites, ...missing] },
    importersOf: importers(),
    secondsOf,
  }
  return { changes, ...chooseSuites(changes, known, everything ? Number.POSITIVE_INFINITY : undefined) }
}

function line({ engine, file, seconds, runs }: Chosen): string {
  const why = runs === 0 ? 'changed' : `runs ${runs} of the changed functions`
  return `  ${file}${engine === 'sqlite' ? '' : ` (${engine})`}: ${seconds.toFixed(1)} s, ${why}`
}

/** SQLite and PostgreSQL are projects of their own, so that a suite of both runs on the one that is needed. */
function runSuites(chosen: readonly EngineSuite[]): number {
  const codes = ['sqlite', 'postgres'].map((engine) => {
    const files = chosen.filter((suite) => suite.engine === engine).map(({ file }) => file)
    const projects = engine === 'sqlite' ? ['unit', 'main', 'rest'] : ['main-postgres', 'rest-postgres']
    return files.length === 0 ? 0 : run([...projects.flatMap((name) => ['--project', name]), ...files])
  })
  return Math.max(...codes)
}

async function record(): Promise<number> {
  const { recordings } = await import('./suite-coverage.ts')
  rmSync(recordings, { recursive: true, force: true })
  const code = run([], { QUOIN_RECORD_COVERAGE: '1' })
  console.log(`Recorded in ${writeCoverage(recordings)} bytes.`)
  return code
}

/** Suites that are gone are looked for by the titles of their tests, as they were when the recording was made. */
function follow(): number {
  const recordedAt = git('log', '-1', '--format=%H', '--', 'test/affected/recorded-coverage.json.br').trim()
  const sources = globSync('{src,test,bench,scripts,bin}/**/*.{ts,tsx,mjs}', {
    cwd: root,
    exclude: ['**/node_modules'],
  })
  const texts = new Map(sources.map((file) => [file, readFileSync(join(root, file), 'utf8')]))
  const functions = new Map([...texts].map(([file, text]) => [file, functionsOf(file, text).names]))
  const suites = [...texts].filter(([file]) => /\.test\.tsx?$/.test(file))
  const suiteOf = (gone: string) => {
    const { stdout } = spawnSync('git', ['show', `${recordedAt}:${gone}`], { cwd: root, encoding: 'utf8' })
    const titles = [...stdout.matchAll(/\btest(?:\.each)?[^'"`]*?\(\s*['"`]([^'"`]{8,})['"`]/g)].map(
      ([, title = '']) => title,
    )
    const counted = suites.map(([file, text]) => ({
      file,
      has: titles.filter((one) => text.includes(one)).length,
    }))
    const best = counted.toSorted((a, b) => b.has - a.has)[0]
    return best && best.has > 0 ? best.file : undefined
  }
  const before = readCoverage()
  const after = followMoves(before, { functions, suiteOf })
  console.log(
    `${before.suites.length} suites and ${before.functions.size} files became ${after.suites.length} and ${after.functions.size}, in ${rewriteCoverage(after)} bytes.`,
  )
  return 0
}

function affected(base: string, { all, list }: { readonly all: boolean; readonly list: boolean }): number {
  const { changes, chosen, left } = choose(base, all)
  if (changes.length === 0) {
    console.log(`Nothing has changed since ${base}.`)
    return 0
  }
  const seconds = Math.round(chosen.reduce((sum, suite) => sum + suite.seconds, 0))
  console.log(
    `${changes.length} files changed since ${base}: ${chosen.length} suites, ${seconds} s of processor time.`,
  )
  if (list) for (const suite of chosen) console.log(line(suite))
  if (left.length > 0) {
    console.log(`${left.length} suites run what changed too and do not fit into a minute (--all runs them).`)
    if (list) for (const suite of left) console.log(line(suite))
  }
  return list || chosen.length === 0 ? 0 : runSuites(chosen)
}

const { values } = parseArgs({
  options: {
    record: { type: 'boolean', default: false },
    follow: { type: 'boolean', default: false },
    list: { type: 'boolean', default: false },
    all: { type: 'boolean', default: false },
    base: { type: 'string' },
  },
})
process.exitCode = values.record
  ? await record()
  : values.follow
    ? follow()
    : affected(values.base ?? presentBase(), values)
