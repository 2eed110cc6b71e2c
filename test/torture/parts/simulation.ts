import { brokenNodes, brokenWriters } from '../simulation/broken-on-purpose.ts'
import { type Interleavings, openSimulations, runInterleavings } from '../simulation/run-interleavings.ts'
import { onAllCores } from '../simulation/simulation-threads.ts'
import type { TortureContext, TorturePart, TortureResult } from '../torture-part.ts'

/** How many interleavings a break may take to be found. */
const MOST_BREAKS = 500
const MOST_FAILURES = 20

const simulation: TorturePart = {
  name: 'simulation',
  summary:
    'Queue, schedules and group commit in virtual time, with kills, stops, lost replies and clocks apart.',
  run,
  control,
}
export default simulation

async function run({ seed, seconds, signal }: TortureContext): Promise<TortureResult> {
  const began = performance.now()
  const task = { seed, mostFailures: MOST_FAILURES }
  const writer = await onAllCores({ ...task, kind: 'writer', milliseconds: 400 * seconds }, signal)
  const minutes = (performance.now() - began) / 60_000
  const nodes = await onAllCores({ ...task, kind: 'nodes', milliseconds: 600 * seconds }, signal)
  const more = (performance.now() - began) / 60_000 - minutes
  return {
    checked: writer.checked + nodes.checked,
    failures: [
      ...writer.failures.map((what) => `writer, ${what}`),
      ...nodes.failures.map((what) => `nodes, ${what}`),
    ],
    figures: {
      'interleavings of the writer': writer.count,
      'interleavings of nodes': nodes.count,
      steps: writer.steps + nodes.steps,
      'of the writer, a minute': Math.round(writer.count / minutes),
      'of nodes, a minute': Math.round(nodes.count / more),
      'of both, a minute': Math.round((writer.count + nodes.count) / (minutes + more)),
    },
  }
}

/** Every break has to be found. */
async function control({ seed, tell }: TortureContext): Promise<TortureResult> {
  const simulations = await openSimulations()
  try {
    const found: string[] = []
    const missed: string[] = []
    const one = async (name: string, simulate: Parameters<typeof runInterleavings>[0]) => {
      const more = (so: Interleavings) => so.failures.length === 0 && so.count < MOST_BREAKS
      const { count, failures } = await runInterleavings(simulate, seed, more)
      const [first] = failures
      if (first === undefined) missed.push(name)
      else found.push(first)
      tell(`${name}: ${first ?? 'not found'} (${count} interleavings)`)
    }
    for (const [name, wrap] of Object.entries(brokenWriters))
      await one(name, (own) => simulations.writer(own, wrap))
    for (const [name, breakage] of Object.entries(brokenNodes))
      await one(name, (own) => simulations.nodes(own, breakage))
    if (missed.length > 0) throw new Error(`not found: ${missed.join(', ')}`)
    return { checked: found.length, failures: found, figures: {} }
  } finally {
    await simulations.close()
  }
}
