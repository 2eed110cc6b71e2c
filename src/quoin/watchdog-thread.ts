/**
 * The program of the watchdog's thread: ends the process when its event loop is stuck, and leaves a note of what ran.
 *
 * Stuck: no turn of the loop for so many seconds, in which this thread itself ran, and in which the process has used the
 * processor for half of them at least. So a process that was stopped, a machine that slept and a disk that hangs end nothing.
 *
 * First the stuck thread is told to leave with code 70, which it hears within any JavaScript. One that is in native code
 * (a statement of SQLite, JSON.stringify) does not hear it; a second later the process ends by SIGALRM.
 */
import { mkdirSync, renameSync, writeFileSync, writeSync } from 'node:fs'
import { Session } from 'node:inspector'
import { join } from 'node:path'
import { parentPort, workerData } from 'node:worker_threads'
import { type FlowName, RUNNING_CELL, TURNS_CELL } from '../flows/run/running-flow.ts'
import { noteText, STUCK_EXIT, type StuckNote, type WatchdogTask } from '../flows/watchdog/stuck-flows.ts'

const LAST_MS = 1_000

const { cells, seconds, directory }: WatchdogTask = workerData
const names = new Map<number, FlowName>()
const every = Math.min(500, (seconds * 1000) / 4)

parentPort?.on('message', ({ number, name }: { number: number; name: FlowName }) => names.set(number, name))

let turns = Atomics.load(cells, TURNS_CELL)
let looked = performance.now()
let used = processorSeconds()
let stuck = 0

const timer = setInterval(() => {
  const now = performance.now()
  // What this thread did not see counts as one look: it was stopped as well.
  const passed = Math.min(now - looked, 2 * every) / 1000
  looked = now
  const turned = Atomics.load(cells, TURNS_CELL)
  if (turned !== turns) {
    turns = turned
    stuck = 0
    used = processorSeconds()
    return
  }
  stuck += passed
  if (stuck < seconds || processorSeconds() - used < seconds / 2) return
  clearInterval(timer)
  end(names.get(Atomics.load(cells, RUNNING_CELL)))
}, every)

function processorSeconds(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1e6
}

/** Past the stream of this thread, which the stuck one would have to empty. */
function say(line: string): void {
  try {
    writeSync(2, line)
  } catch {
    // A pipe without a reader.
  }
}

function end(name: FlowName | undefined): void {
  const note: StuckNote = { at: Date.now(), seconds: Math.round(stuck), ...name }
  const place = name ? ` in the flow of the block ${name.block}, blueprint ${name.blueprint}` : ''
  say(
    `The event loop has not turned for ${note.seconds} seconds${place}: this process ends with code ${STUCK_EXIT}.\n`,
  )
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 })
    const path = join(directory, `${note.at}-${process.pid}.json`)
    writeFileSync(`${path}.part`, noteText(note), { mode: 0o600 })
    renameSync(`${path}.part`, path)
  } catch {
    // It has to end all the same, on a full disk too.
  }
  setTimeout(() => process.kill(process.pid, 'SIGALRM'), LAST_MS)
  const session = new Session()
  session.connectToMainThread()
  session.post('Runtime.evaluate', { expression: `process.reallyExit(${STUCK_EXIT})` })
}
