import { cpuMicroseconds } from './cpu-time.ts'
import { Latencies } from './latencies.ts'
import { type LoadGenerator, runLoad } from './load.ts'
import { CONNECTIONS, type Row, type SeededCandidate } from './rows.ts'
import { median, type Ratio, ratioOf } from './statistics.ts'

export interface Timing {
  readonly rounds: number
  readonly seconds: number
}

/** One candidate in one row, over all rounds. */
export interface Side {
  /** Replies a second, the median of the rounds. */
  readonly rate: number
  /** Milliseconds, over the requests of all rounds. */
  readonly p50: number
  readonly p99: number
  /** Microseconds of processor time that the server spent on a reply, the median of the rounds; NaN if unknown. */
  readonly cpu: number
}

export interface Measured {
  readonly row: Row
  readonly ours: Side
  readonly theirs: Side
  readonly ratio: Ratio
  /** Of the processor times. */
  readonly cpuRatio: Ratio
  /** Largest share of its core that the load generator used. */
  readonly loadBusy: number
}

/** A row in which a request failed: it has no figures. */
export interface Void {
  readonly row: Row
  readonly reason: string
}

/** Load before each turn's clock starts: the turn of the other one has cooled caches and clocks. */
const RAMP_SECONDS = 0.25

/** The candidates in turns, A B, B A, A B …, after one untimed turn each. */
export async function measureRow(
  row: Row,
  ours: SeededCandidate,
  theirs: SeededCandidate,
  { rounds, seconds }: Timing,
  generate: LoadGenerator = runLoad,
): Promise<Measured | Void> {
  const sides = [
    { candidate: ours, turns: newTurns() },
    { candidate: theirs, turns: newTurns() },
  ] as const
  let loadBusy = 0
  for (let round = -1; round < rounds; round++) {
    for (const side of round % 2 === 0 ? sides : sides.toReversed()) {
      const { candidate, turns } = side
      const next = row.asks(candidate)
      const load = {
        port: candidate.port,
        connections: CONNECTIONS,
        next,
        seconds,
        rampSeconds: RAMP_SECONDS,
      }
      const before = cpuMicroseconds(candidate.pid) ?? Number.NaN
      const result = await generate(load)
      const after = cpuMicroseconds(candidate.pid) ?? Number.NaN
      if (result.errors > 0)
        return { row, reason: `${candidate.name}: ${result.errors} errors, first: ${result.firstError}` }
      if (round < 0) continue
      turns.rates.push(result.rate)
      turns.cpu.push((after - before) / result.replies)
      turns.latencies.add(result.latencies)
      loadBusy = Math.max(loadBusy, result.busy)
    }
  }
  const [{ turns: a }, { turns: b }] = sides
  return {
    row,
    ours: sideOf(a),
    theirs: sideOf(b),
    ratio: ratioOf(a.rates, b.rates),
    cpuRatio: ratioOf(a.cpu, b.cpu),
    loadBusy,
  }
}

interface Turns {
  readonly rates: number[]
  readonly cpu: number[]
  readonly latencies: Latencies
}

function newTurns(): Turns {
  return { rates: [], cpu: [], latencies: new Latencies() }
}

function sideOf({ rates, cpu, latencies }: Turns): Side {
  return {
    rate: median(rates),
    p50: latencies.within(0.5),
    p99: latencies.within(0.99),
    cpu: median(cpu),
  }
}
