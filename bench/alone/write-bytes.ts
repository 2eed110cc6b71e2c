/** What a durable create writes to the disk: the log of the database, its copying back, and whatever else is noted. */
import { readFile } from 'node:fs/promises'
import { type Candidate, type CandidateStart, startHandWritten, startQuoin } from '../candidates.ts'
import { SEEDED } from '../sample-tasks.ts'
import { seed } from '../seed.ts'
import type { Goal, GoalTiming, Reached } from './goal.ts'

const MOST = 1.5

export const writeBytes: Goal = {
  id: 'bytes',
  title: `bytes written for a create, of ${SEEDED.toLocaleString('en-US')} tasks of 480 bytes, 16 at once`,
  goal: `within ${MOST} × of the hand-written candidate`,
  measure,
}

async function measure({ core }: GoalTiming): Promise<Reached> {
  const ours = await bytesOfSeeding(startQuoin, { core })
  const theirs = await bytesOfSeeding(startHandWritten, { core })
  const ratio = ours / theirs
  const found = `${kilobytes(ours)} and ${kilobytes(theirs)} by hand: ${ratio.toFixed(2)} ×`
  return { found, met: ratio <= MOST }
}

async function bytesOfSeeding(
  start: (input: CandidateStart) => Promise<Candidate>,
  input: CandidateStart,
): Promise<number> {
  const candidate = await start(input)
  try {
    const before = await bytesWritten(candidate.pid)
    await seed(candidate)
    return ((await bytesWritten(candidate.pid)) - before) / SEEDED
  } finally {
    await candidate.close()
  }
}

/** To file systems, not to sockets: `write_bytes` of `/proc/<pid>/io`. */
async function bytesWritten(pid: number): Promise<number> {
  const text = await readFile(`/proc/${pid}/io`, 'utf8')
  const bytes = Number(/^write_bytes: (\d+)$/m.exec(text)?.[1])
  if (!Number.isFinite(bytes)) throw new Error('The system does not say what a process writes.')
  return bytes
}

function kilobytes(bytes: number): string {
  return `${(bytes / 1000).toFixed(1)} KB`
}
