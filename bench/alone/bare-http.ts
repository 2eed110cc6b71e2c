/** The constant against a server of `node:http` that does nothing else: what routing, scopes, limits and headers cost. */
import { type Candidate, startBareHttp, startQuoin } from '../candidates.ts'
import { measureRow } from '../measure.ts'
import { rows } from '../rows.ts'
import type { Goal, GoalTiming, Reached } from './goal.ts'

const LEAST = 0.95

export const bareHttp: Goal = {
  id: 'bare',
  title: 'reply with a constant object, against bare `node:http` with the same headers and tag',
  goal: `at least ${LEAST} × of it`,
  measure,
}

async function measure({ core, rounds, seconds }: GoalTiming): Promise<Reached> {
  const row = rows.find(({ id }) => id === 'constant')
  if (row === undefined) throw new Error('There is no row of that name.')
  const started: Candidate[] = []
  try {
    started.push(await startQuoin({ core }), await startBareHttp(core))
    const [ours, theirs] = started.map((candidate) => ({ ...candidate, guids: [] }))
    if (ours === undefined || theirs === undefined) throw new Error('Two servers were to start.')
    const measured = await measureRow(row, ours, theirs, { rounds, seconds })
    if ('reason' in measured) throw new Error(measured.reason)
    const { ratio, ours: quoin, theirs: bare } = measured
    const rates = [quoin, bare].map(({ rate }) => Math.round(rate).toLocaleString('en-US')).join(' and ')
    return {
      found: `${ratio.median.toFixed(2)} × (${rates} /s; ${quoin.cpu.toFixed(1)} and ${bare.cpu.toFixed(1)} µs of processor time)`,
      met: ratio.median >= LEAST,
    }
  } finally {
    for (const candidate of started) await candidate.close()
  }
}
