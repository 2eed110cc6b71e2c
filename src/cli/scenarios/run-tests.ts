/** Finds the tests of an application, runs them one after the other, and reports what came of them. */
import { readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { dirname, join, normalize, relative } from 'node:path'
import Type from 'typebox'
import { Check } from 'typebox/value'
import { openTemporaryDatabases, type TemporaryDatabases } from '../../quoin/open-database.ts'
import { releasers } from '../../quoin/releasers.ts'
import type { TracedRun } from '../../shared/api/blueprints/applications.ts'
import { anyJson } from '../../shared/api/record-schemas.ts'
import type { JsonObject } from '../../shared/json.ts'
import type { Terminal } from '../command.ts'
import { hostOf } from './answered-calls.ts'
import {
  type CoverageSoFar,
  coverageLines,
  nothingCovered,
  percentOf,
  traceLines,
  traceOf,
} from './coverage.ts'
import {
  comparedScores,
  type EvaluationResult,
  type FormerScores,
  rounded,
  runEvaluation,
} from './run-evaluation.ts'
import { type LiveServers, type RunOptions, runScenario, type ScenarioResult } from './run-scenario.ts'
import { type ApplicationSource, type InstalledApplication, installApplication } from './scenario-cluster.ts'
import { readScenario, type Scenario, ScenarioFileError } from './scenario-file.ts'

const BLUEPRINT = '.blueprint.json'
/** Files below a folder: more are no application. */
const MOST_FILES = 10_000

interface Requested {
  readonly folder: string
  readonly filter: string | undefined
  readonly reporter: 'text' | 'json' | 'junit'
  /** Says which ways no test has taken. */
  readonly coverage: boolean
  /** Percent of the ways that must be taken; 0 for none. */
  readonly minCoverage: number
  /** File that gets blocks and ways, and which of them were taken, as JSON. */
  readonly coverageOut?: string | undefined
  /** A new cluster for each test. */
  readonly fresh?: boolean
  /** On the server of `DATABASE_URL`, in databases of their own. */
  readonly postgres?: boolean
  /** File of a report by `--reporter json`, with whose scores those of evaluations are compared. */
  readonly compare?: string | undefined
  /** With what each step was answered, and what ran. */
  readonly answers?: boolean
  /** File of the connections whose servers evaluations ask. */
  readonly live?: string | undefined
  /** Those that a change touches come first. */
  readonly first?: ChangedFirst | undefined
}

export interface ChangedFirst {
  /** A test with one of them is touched: addresses, functions and storages. */
  readonly words: readonly string[]
  /** The others are left for the next time then. */
  readonly isSavedAgain: () => Promise<boolean>
}

/** Gives the exit code. */
export async function runTests(
  { folder, filter, reporter, coverage, minCoverage, coverageOut, ...requests }: Requested,
  terminal: Terminal,
): Promise<number> {
  const { fresh, postgres = false, compare, answers } = requests
  const live = requests.live === undefined ? undefined : await readLive(requests.live)
  const { source, tests } = await applicationAt(folder)
  const scenarios = await readAll(tests, terminal)
  if (scenarios === undefined) return 1
  const requested = scenarios.filter(
    ({ name, file }) => filter === undefined || name.includes(filter) || file.includes(filter),
  )
  const touched = touchedBy(requested, requests.first)
  if (touched.length > 0)
    terminal.print(`Tests of what changed first: ${touched.length} of ${requested.length}.`)
  if (requested.length === 0) throw new Error(`No test contains ${JSON.stringify(filter)}.`)
  const server = postgres ? await openServer(terminal) : undefined
  const opened = releasers()
  if (server) opened.add(server.close)
  try {
    const application = await installApplication(source, terminal, { server, hosts: live?.hosts })
    opened.add(application.remove)
    const results: (Traced | EvaluationResult)[] = []
    const traces = tracesOfFailed()
    const seen: CoverageSoFar | undefined = coverage ? { taken: new Set(), found: nothingCovered } : undefined
    const ordered = new Set([...touched, ...requested])
    for (const scenario of ordered) {
      if (results.length >= touched.length && (await requests.first?.isSavedAgain())) break
      const options = { coverage: seen, fresh }
      const { evaluation } = scenario
      const result = evaluation
        ? await runEvaluation(application, { ...scenario, evaluation }, { ...options, live })
        : await (answers ? runShown : traces)(application, scenario, options)
      results.push({ ...result, file: relative('.', result.file) })
      if (reporter === 'text') tell(result, terminal)
    }
    if (reporter === 'json') terminal.print(JSON.stringify(results, undefined, 2))
    if (reporter === 'junit') terminal.print(junit(results))
    const failed = results.filter(({ failures }) => failures.length > 0).length
    const took = results.reduce((sum, { milliseconds }) => sum + milliseconds, 0)
    if (results.length < requested.length)
      terminal.print(
        `Left for the next time, as files were saved again: ${requested.length - results.length} tests.`,
      )
    if (reporter === 'text')
      terminal.print(`${results.length} tests, ${failed} failed, ${(took / 1000).toFixed(1)} s.`)
    if (compare !== undefined)
      for (const line of comparedScores(results, await reportIn(compare))) terminal.complain(line)
    if (seen && coverageOut !== undefined)
      await writeFile(coverageOut, `${JSON.stringify(seen.found.blueprints, undefined, 2)}\n`)
    if (seen) for (const line of coverageLines(seen.found)) terminal.complain(line)
    const covered = seen === undefined || percentOf(seen.found) >= minCoverage
    if (!covered) terminal.complain(`At least ${minCoverage} % of the ways must be taken.`)
    return failed === 0 && covered ? 0 : 1
  } finally {
    await opened.release()
  }
}

function touchedBy(scenarios: readonly Scenario[], first: ChangedFirst | undefined): readonly Scenario[] {
  const words = first?.words ?? []
  return scenarios.filter((one) => {
    const text = words.length === 0 ? '' : JSON.stringify(one)
    return words.some((word) => text.includes(word))
  })
}

interface Traced extends ScenarioResult, Partial<Shown> {
  /** Of a test that failed. */
  readonly trace?: readonly TracedRun[]
}

/** Of those that failed: each is done once more with its runs recorded, where they are not for the coverage. */
const MOST_TRACED = 10
const LONGEST_REPEATED_MS = 5_000

function tracesOfFailed() {
  let traced = 0
  return async (
    application: InstalledApplication,
    scenario: Scenario,
    options: RunOptions,
  ): Promise<Traced> => {
    let trace: readonly TracedRun[] = []
    const recorded = (runs: readonly JsonObject[]) => {
      trace = traceOf(runs)
    }
    const seen = { ...options, recorded, failedOnly: true }
    const result = await runScenario(application, scenario, options.coverage ? seen : options)
    if (result.failures.length === 0 || traced >= MOST_TRACED) return result
    traced += 1
    if (!options.coverage && result.milliseconds < LONGEST_REPEATED_MS)
      await runScenario(application, scenario, seen)
    return { ...result, ...(trace.length > 0 && { trace }) }
  }
}

interface Shown {
  readonly answers: readonly JsonObject[]
  readonly runs: readonly JsonObject[]
}

/** Of one reply. */
const LONGEST_SHOWN = 50_000

async function runShown(
  application: InstalledApplication,
  scenario: Scenario,
  options: RunOptions,
): Promise<ScenarioResult & Shown> {
  const answers: JsonObject[] = []
  let runs: readonly JsonObject[] = []
  const result = await runScenario(application, scenario, {
    ...options,
    answered({ status = 0, headers = {}, body = null }) {
      const text = JSON.stringify(body)
      const isLong = text.length > LONGEST_SHOWN
      const shown = isLong ? { $cut: text.slice(0, LONGEST_SHOWN), bytes: Buffer.byteLength(text) } : body
      const type = headers['content-type']
      answers.push({ status, ...(type !== undefined && { type }), body: shown })
    },
    recorded(all) {
      runs = all
    },
  })
  return { ...result, answers, runs }
}

const report = Type.Array(
  Type.Object({
    name: Type.String(),
    score: Type.Optional(Type.Number()),
    cases: Type.Optional(Type.Array(Type.Object({ case: Type.String(), score: Type.Number() }))),
  }),
)

/** The evaluations of a report of another release. */
async function reportIn(file: string): Promise<readonly FormerScores[]> {
  const read: unknown = await readFile(file, 'utf8')
    .then(JSON.parse)
    .catch(() => undefined)
  if (!Check(report, read))
    throw new Error(`${file} is no report. Make one: quoin test --reporter json > ${file}`)
  return read.flatMap(({ name, score, cases }) =>
    score === undefined || cases === undefined ? [] : [{ name, score, cases }],
  )
}

const liveFile = Type.Object(
  {
    connections: Type.Array(Type.Record(Type.String(), anyJson()), { minItems: 1, maxItems: 50 }),
    secrets: Type.Optional(Type.Record(Type.String(), Type.String())),
  },
  { additionalProperties: false },
)

/** Throws an Error of one line, without anything of the file, which may hold keys. */
async function readLive(file: string): Promise<LiveServers> {
  const read: unknown = await readFile(file, 'utf8')
    .then(JSON.parse)
    .catch(() => undefined)
  if (!Check(liveFile, read))
    throw new Error(`${file} is no file for --live: { "connections": [ … ], "secrets": { … } }, as in given.`)
  const { connections, secrets = {} } = read
  const urls = connections.map(({ base_url: address }) => URL.parse(String(address)))
  const hosts = urls.map((url) => url && hostOf(url))
  if (hosts.includes(null)) throw new Error(`${file}: each connection needs a base_url.`)
  return { connections, secrets, hosts: hosts.filter((host) => host !== null) }
}

/** Throws an Error of one line where no database can be made. */
async function openServer({ options, random }: Terminal): Promise<TemporaryDatabases> {
  const { databaseUrl } = options()
  if (databaseUrl === '')
    throw new Error(
      'Set DATABASE_URL to the address of a PostgreSQL: tests run there in databases of their own, which are dropped behind them.',
    )
  return openTemporaryDatabases(databaseUrl, () => {
    const bytes = new Uint8Array(8)
    random(bytes)
    return `quoin_test_${Buffer.from(bytes).toString('hex')}`
  })
}

/** The folder of an application, by its quoin.json; else a folder with all that is below it; of a blueprint file also the tests beside it that begin with its name: `inventory.low-stock.test.json`. */
async function applicationAt(path: string): Promise<{ source: ApplicationSource; tests: string[] }> {
  if (await isFile(join(path, 'quoin.json'))) {
    const tests = (await filesIn(join(path, 'tests'))).filter((file) => file.endsWith('.test.json'))
    if (tests.length === 0) throw new Error(`There is no *.test.json in ${join(path, 'tests')}.`)
    return { source: { folder: path }, tests }
  }
  const single = path.endsWith(BLUEPRINT)
  const files = await filesIn(single ? dirname(path) : path)
  const own = `${path.slice(0, -BLUEPRINT.length)}.`
  const blueprints = single ? [path] : files.filter((file) => file.endsWith(BLUEPRINT))
  const tests = files.filter(
    (file) => file.endsWith('.test.json') && (!single || file.startsWith(normalize(own))),
  )
  if (blueprints.length === 0) throw new Error(`There is no *${BLUEPRINT} in ${path}.`)
  if (tests.length === 0) throw new Error(`There is no *.test.json for ${path}.`)
  return { source: { blueprints }, tests }
}

async function isFile(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isFile(),
    () => false,
  )
}

async function filesIn(folder: string): Promise<string[]> {
  const found = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => {
    throw new Error(`There is no folder ${folder}.`)
  })
  if (found.length > MOST_FILES) throw new Error(`${folder} has more than ${MOST_FILES} files.`)
  return found
    .filter((entry) => entry.isFile() && !entry.parentPath.includes('node_modules'))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
}

/** undefined where a file cannot be read; the terminal is told of all of them. */
async function readAll(
  files: readonly string[],
  terminal: Terminal,
): Promise<readonly Scenario[] | undefined> {
  const scenarios: Scenario[] = []
  let isBad = false
  for (const file of files)
    try {
      scenarios.push(await readScenario(file))
    } catch (error) {
      if (!(error instanceof ScenarioFileError)) throw error
      isBad = true
      terminal.complain(error.message)
    }
  return isBad ? undefined : scenarios
}

function tell(result: Traced | EvaluationResult, terminal: Terminal): void {
  const { name, file, failures, milliseconds } = result
  const score = 'score' in result ? `, score ${rounded(result.score)}` : ''
  terminal.print(
    `${failures.length === 0 ? 'ok  ' : 'FAIL'} ${name} (${Math.round(milliseconds)} ms${score})`,
  )
  for (const failure of failures) terminal.print(`     ${relative('.', file)}: ${failure}`)
  for (const line of linesOf(result)) terminal.print(`       ${line}`)
}

function linesOf(result: Traced | EvaluationResult): readonly string[] {
  return 'trace' in result ? traceLines(result.trace ?? []) : []
}

/** As build pipelines read it: one suite, a case for each test. */
function junit(results: readonly (Traced | EvaluationResult)[]): string {
  const cases = results.map((result) => {
    const { name, file, failures, milliseconds } = result
    const head = `<testcase name="${xml(name)}" classname="${xml(file)}" time="${(milliseconds / 1000).toFixed(3)}"`
    return failures.length === 0
      ? `  ${head}/>`
      : `  ${head}>\n    <failure message="${xml(failures[0] ?? '')}">${xml([...failures, ...linesOf(result)].join('\n'))}</failure>\n  </testcase>`
  })
  const failed = results.filter(({ failures }) => failures.length > 0).length
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuite name="quoin" tests="${results.length}" failures="${failed}">`,
    ...cases,
    '</testsuite>',
  ].join('\n')
}

/** Escaped, without what XML cannot hold. */
function xml(text: string): string {
  return text
    .replace(/[^\P{Cc}\t\n\r]|[\ufffe\uffff]/gu, '')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('"', '&quot;')
    .toWellFormed()
}
