/**
 * What QUOIN_WORKERS costs and gives: the same requests to one process and to several on the embedded engine, in turns. The
 * load shares this machine's cores, so on two of them a second process cannot double the rate: the processor time of a
 * reply says what passing on and looking for the version of a storage cost.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { type Candidate, startQuoin } from './candidates.ts'
import { cpuMicroseconds } from './cpu-time.ts'
import { runLoad } from './load.ts'
import { CONNECTIONS, rows, type SeededCandidate } from './rows.ts'
import { seed } from './seed.ts'
import { median } from './statistics.ts'

export interface WorkersRow {
  readonly processes: number
  /** Replies a second, by the row's id. */
  readonly rates: ReadonlyMap<string, number>
  /** Processor time of all processes for one reply, microseconds, by the row's id. */
  readonly cpu: ReadonlyMap<string, number>
}

const SIZES = [1, 2]
const ROUNDS = 3
const SECONDS = 1

export async function measureWorkers(sizes: readonly number[] = SIZES): Promise<readonly WorkersRow[]> {
  const started: Candidate[] = []
  try {
    const sides = []
    for (const processes of sizes) {
      const settings = { QUOIN_WORKERS: String(processes) }
      const candidate = await startQuoin({ core: undefined, settings })
      started.push(candidate)
      sides.push({ processes, candidate: await seed(candidate), rates: new Map(), cpu: new Map() })
    }
    for (const { id, asks } of rows) {
      console.log(`${id} …`)
      const measured = sides.map(() => ({ rates: [] as number[], cpu: [] as number[] }))
      for (let round = 0; round < ROUNDS; round++)
        for (const [place, { candidate }] of sides.entries()) {
          const { rate, cpu } = await load(candidate, asks)
          measured[place]?.rates.push(rate)
          measured[place]?.cpu.push(cpu)
        }
      for (const [place, { rates, cpu }] of sides.entries()) {
        rates.set(id, median(measured[place]?.rates ?? []))
        cpu.set(id, median(measured[place]?.cpu ?? []))
      }
    }
    return sides.map(({ processes, rates, cpu }) => ({ processes, rates, cpu }))
  } finally {
    for (const candidate of started) await candidate.close()
  }
}

async function load(candidate: SeededCandidate, asks: (typeof rows)[number]['asks']) {
  const processes = [candidate.pid, ...childrenOf(candidate.pid)]
  const spent = () => processes.reduce((sum, pid) => sum + (cpuMicroseconds(pid) ?? Number.NaN), 0)
  const before = spent()
  const result = await runLoad({
    port: candidate.port,
    connections: CONNECTIONS,
    next: asks(candidate),
    seconds: SECONDS,
    rampSeconds: 0.3,
  })
  if (result.errors > 0) throw new Error(`A request was not answered as it should be: ${result.firstError}`)
  return { rate: result.rate, cpu: (spent() - before) / result.replies }
}

function childrenOf(parent: number): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && parentOf(name) === parent)
    .map(Number)
}

function parentOf(pid: string): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
  } catch {
    // It has ended meanwhile.
    return undefined
  }
}
