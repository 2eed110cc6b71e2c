/** One thread of many interleavings: every n-th seed, for so long. Tells what came of them when it is over. */
import { parentPort, workerData } from 'node:worker_threads'
import { guardTurns, LONGEST_TURN_MS } from '../../turn-guard.ts'
import { openSimulations, runInterleavings } from './run-interleavings.ts'
import type { ThreadTask } from './simulation-threads.ts'

const { kind, seed, step, milliseconds, mostFailures }: ThreadTask = workerData
const simulations = await openSimulations()
const guard = guardTurns()
try {
  // What was loaded and compiled until now is not counted.
  await simulations[kind](seed)
  await guard.longest()
  const late = performance.now() + milliseconds
  const outcome = await runInterleavings(
    (own) => simulations[kind](own),
    seed,
    ({ failures }) => failures.length < mostFailures && performance.now() < late,
    step,
  )
  const longest = Math.round(await guard.longest())
  const busy = longest > LONGEST_TURN_MS ? [`a turn took ${longest} ms (at most ${LONGEST_TURN_MS})`] : []
  parentPort?.postMessage({ ...outcome, failures: [...outcome.failures, ...busy] })
} finally {
  guard.stop()
  await simulations.close()
}
