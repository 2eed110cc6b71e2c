/** The first `npm start` of a fresh clone: packages, builds and the start itself. It needs the package registry. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { median } from '../statistics.ts'
import type { Goal, GoalTiming, Reached } from './goal.ts'

const MOST_SECONDS = 20
const MOST_WAIT_MS = 300_000

export const firstStart: Goal = {
  id: 'first-start',
  title: 'first `npm start` of a fresh clone, until it listens',
  goal: `at most ${MOST_SECONDS} s on an idle machine`,
  measure,
}

/** Of what is committed. Packages that npm has in its cache are not downloaded again. */
async function measure({ rounds }: GoalTiming): Promise<Reached> {
  const seconds: number[] = []
  for (let round = 0; round < Math.min(rounds, 3); round++) seconds.push(await startOnce())
  const time = median(seconds)
  return { found: `${time.toFixed(1)} s, packages from the cache of npm`, met: time <= MOST_SECONDS }
}

async function startOnce(): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'quoin-bench-clone-'))
  try {
    const root = fileURLToPath(new URL('../..', import.meta.url))
    execFileSync('git', ['clone', '--quiet', '--depth', '1', `file://${root}`, folder])
    const began = performance.now()
    const environment = { QUOIN_PORT: '0', QUOIN_DATA: join(folder, 'data') }
    const started = spawn('npm', ['start'], {
      cwd: folder,
      env: { PATH: process.env.PATH, HOME: process.env.HOME, ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
      // Of npm and what it starts.
      detached: true,
    })
    try {
      await listening(started)
      return (performance.now() - began) / 1_000
    } finally {
      await stop(started)
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function listening({ stdout, stderr }: ChildProcess): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const late = setTimeout(() => reject(new Error('npm start took over five minutes.')), MOST_WAIT_MS)
  let open = 2
  for (const stream of [stdout, stderr]) {
    if (stream === null) continue
    const lines = createInterface({ input: stream })
    lines.on('line', (line) => {
      if (/http:\/\/(?:localhost|127\.0\.0\.1):\d+/.test(line)) resolve()
    })
    lines.once('close', () => {
      open -= 1
      if (open === 0) reject(new Error('npm start ended before it listened.'))
    })
  }
  await promise.finally(() => clearTimeout(late))
}

async function stop(child: ChildProcess): Promise<void> {
  const { pid } = child
  if (pid === undefined || child.exitCode !== null) return
  const { promise, resolve } = Promise.withResolvers<void>()
  child.once('exit', () => resolve())
  process.kill(-pid, 'SIGTERM')
  await promise
}
