/**
 * Runs test files as vitest does, and notes with each what it cost and what it opened: processor time of this process
 * and of all that descend from it, and beside it its part of that of the PostgreSQL that all share; servers, connections, processes and databases. Suites of the tier `unit` may open none.
 */
import { ChildProcess } from 'node:child_process'
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { Server, Socket } from 'node:net'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type RunnerTestFile, type RunnerTestSuite, TestRunner } from 'vitest'
import { suitesUnderWay } from './suites.ts'

declare module 'vitest' {
  interface TaskMeta {
    /** Seconds of processor time of the file, with its import. */
    processorSeconds?: number
    /** Of the PostgreSQL that all suites share, this one's part. 0 if it asked it nothing. */
    postgresSeconds?: number
    /** What it opened: connection, database, process, server. */
    opened?: string[]
  }
}

/** Only where it is recorded which functions a suite runs. */
const coverage = process.env.QUOIN_RECORD_COVERAGE ? await import('../affected/suite-coverage.ts') : undefined

/** What a suite says whose server or browser does not start (`shared-postgres.ts`, `open-browser.ts`): one line. */
const NOT_STARTED = /^(PostgreSQL does not start|No Chromium starts) here: /

const opened = new Set<string>()
/** Ports that were connected to as the driver of PostgreSQL does. */
const ports = new Set<unknown>()
let mayOpen = true

/** Whatever opens something calls one of these methods. */
function watch(prototype: object, method: string, what: string): void {
  const original: unknown = Reflect.get(prototype, method)
  if (typeof original !== 'function') throw new TypeError(`There is no method ${method}.`)
  Reflect.set(prototype, method, function (this: unknown, ...args: unknown[]) {
    opened.add(what)
    if (what === 'connection') ports.add(args[0])
    if (!mayOpen)
      throw new Error(`A suite of the tier unit opens no ${what}: its tier is in test/tiers/suites.json.`)
    return Reflect.apply(original, this, args)
  })
}

watch(Server.prototype, 'listen', 'server')
watch(Socket.prototype, 'connect', 'connection')
watch(ChildProcess.prototype, 'spawn', 'process')
watch(DatabaseSync.prototype, 'prepare', 'database')
watch(DatabaseSync.prototype, 'exec', 'database')

export default class MeasuringRunner extends TestRunner {
  #from = 0
  #fromPostgres = 0

  override onCollectStart(file: RunnerTestFile): void {
    super.onCollectStart(file)
    opened.clear()
    ports.clear()
    mayOpen = this.config.name !== 'unit'
    try {
      writeFileSync(join(suitesUnderWay(process.ppid), String(process.pid)), file.name)
    } catch {
      // Without the reporter that reads it, there is no such folder.
    }
    coverage?.beginSuite()
    this.#from = processorSeconds()
    this.#fromPostgres = sharedPostgres()?.seconds ?? 0
  }

  override async onAfterRunSuite(suite: RunnerTestSuite): Promise<void> {
    await super.onAfterRunSuite(suite)
    // Its hooks that close what was never opened fail for that reason alone.
    const [first] = suite.result?.errors ?? []
    if (suite.result && first?.message.match(NOT_STARTED)) suite.result.errors = [first]
    if (!('filepath' in suite)) return
    // A process that waits for its next suite, or has ended after its last one, hangs in none.
    rmSync(join(suitesUnderWay(process.ppid), String(process.pid)), { force: true })
    suite.meta.processorSeconds = processorSeconds() - this.#from
    suite.meta.postgresSeconds = postgresSince(this.#fromPostgres)
    suite.meta.opened = [...opened]
    coverage?.endSuite(suite.name, this.config.name?.endsWith('postgres') ? 'postgres' : 'sqlite')
  }
}

/**
 * Who asked for what cannot be told of a server: suites that run at the same time have equal parts. With `--maxWorkers=1` it
 * is exact.
 */
function postgresSince(from: number): number {
  const shared = sharedPostgres()
  if (shared === undefined || !ports.has(shared.port)) return 0
  return (shared.seconds - from) / (readFolder(suitesUnderWay(process.ppid)).length + 1)
}

/** It descends from the process that runs vitest, with a shell between. On Linux only. */
function sharedPostgres(): { readonly port: number; readonly seconds: number } | undefined {
  const children = childrenByParent()
  for (const child of children.get(process.ppid) ?? [])
    for (const pid of children.get(child) ?? []) {
      const port = /^\S*\/postgres\0.*\0port=(\d+)\0/.exec(readText(`/proc/${pid}/cmdline`))?.[1]
      if (child === process.pid || port === undefined) continue
      const { own, ended } = ticksOf(pid)
      const open = (children.get(pid) ?? []).map((backend) => ticksOf(backend).own)
      return { port: Number(port), seconds: open.reduce((sum, ticks) => sum + ticks, own + ended) / 100 }
    }
  return undefined
}

/** Of this process, of its children that have ended, and of those that run, with theirs. Children: on Linux only. */
function processorSeconds(): number {
  const { user, system } = process.cpuUsage()
  const children = childrenByParent()
  let ticks = ticksOf(process.pid).ended
  const open = [...(children.get(process.pid) ?? [])]
  for (let pid = open.pop(); pid !== undefined; pid = open.pop()) {
    const { own, ended } = ticksOf(pid)
    ticks += own + ended
    open.push(...(children.get(pid) ?? []))
  }
  return (user + system) / 1e6 + ticks / 100
}

function childrenByParent(): Map<number, number[]> {
  const children = new Map<number, number[]>()
  for (const name of readFolder('/proc')) {
    const pid = Number(name)
    if (!Number.isInteger(pid)) continue
    const parent = Number(statOf(pid)[1])
    const known = children.get(parent)
    if (known) known.push(pid)
    else children.set(parent, [pid])
  }
  return children
}

function ticksOf(pid: number): { own: number; ended: number } {
  const fields = statOf(pid)
  const at = (index: number) => Number(fields[index] ?? 0)
  return { own: at(11) + at(12), ended: at(13) + at(14) }
}

/** Fields of /proc/<pid>/stat behind the name, which is in parentheses and may hold spaces. */
function statOf(pid: number): string[] {
  const text = readText(`/proc/${pid}/stat`)
  return text.slice(text.lastIndexOf(')') + 2).split(' ')
}

/** Empty if there is no such file. */
function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

function readFolder(path: string): string[] {
  try {
    return readdirSync(path)
  } catch {
    return []
  }
}
