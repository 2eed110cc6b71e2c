/** Processor time of a request on servers that differ in one thing, in turns, which other work on the machine changes least. */
import type { Candidate } from './candidates.ts'
import { cpuMicroseconds } from './cpu-time.ts'
import { runLoad } from './load.ts'
import type { Ask } from './requests.ts'
import { median } from './statistics.ts'

const CONNECTIONS = 16

export interface NamedServer {
  readonly name: string
  readonly server: Candidate
}

export interface CostlyRequest {
  readonly label: string
  /** Requests of one turn. */
  readonly count: number
  readonly ask: (token: string) => Ask
}

async function cost({ pid, port }: Candidate, asks: Ask, count: number): Promise<number> {
  let left = count
  const before = cpuMicroseconds(pid) ?? Number.NaN
  const { errors, firstError } = await runLoad({
    ...{ port, connections: CONNECTIONS },
    next: () => (left-- > 0 ? asks : undefined),
  })
  if (errors > 0) throw new Error(`A request failed: ${firstError}`)
  return ((cpuMicroseconds(pid) ?? Number.NaN) - before) / count
}

/** Prints a line for each server. False where one serves less than `goal` of the requests that the first one serves in the same time. */
export async function costInTurns(
  servers: readonly NamedServer[],
  { label, count, ask }: CostlyRequest,
  { rounds, goal }: { readonly rounds: number; readonly goal: number },
): Promise<boolean> {
  const costs = new Map<string, number[]>(servers.map(({ name }) => [name, []]))
  for (let round = -2; round < rounds; round++)
    for (const { name, server } of round % 2 === 0 ? servers : servers.toReversed()) {
      const took = await cost(server, ask(server.token), count)
      // The code is compiled first.
      if (round >= 0) costs.get(name)?.push(took)
    }
  let isMet = true
  const [base = []] = costs.values()
  for (const [name, own] of costs) {
    const ratio = median(own.map((took, at) => (base[at] ?? Number.NaN) / took))
    if (ratio < goal) isMet = false
    process.stdout.write(
      `${label}, ${name}: ${median(own).toFixed(1)} µs, ${ratio.toFixed(3)} (${Math.min(...own).toFixed(1)} least)\n`,
    )
  }
  return isMet
}
