/** The memory of a server without requests. */
import { setTimeout as wait } from 'node:timers/promises'
import { type Candidate, startQuoin } from '../candidates.ts'
import { MIB } from '../large-bodies.ts'
import { memoryOf } from '../process-memory.ts'
import type { Goal, GoalTiming, Reached } from './goal.ts'

const MOST_MB = 120
/** Until what the start left behind is collected and given back to the machine, which takes half a minute. */
const REST_MS = 45_000

export const idleMemory: Goal = {
  id: 'idle',
  title: 'idle memory',
  goal: `under ${MOST_MB} MB`,
  measure,
}

async function measure({ core }: GoalTiming): Promise<Reached> {
  const candidate = await startQuoin({ core })
  try {
    const megabytes = await idleMegabytes(candidate)
    return { found: `${Math.round(megabytes)} MB`, met: megabytes < MOST_MB }
  } finally {
    await candidate.close()
  }
}

/** Of its process, after it has had nothing to do for 45 seconds; NaN if unknown. */
export async function idleMegabytes({ pid }: Candidate): Promise<number> {
  await wait(REST_MS)
  return (memoryOf(pid)?.resident ?? Number.NaN) / MIB
}
