/**
 * Processor time of a request on servers that differ in one thing, in turns, which other work on the machine changes least. What one server
 * can turn on and off is compared on that one: two processes of one commit differ by up to 14 %.
 */
import type { Candidate } from './candidates.ts'
import { cpuMicroseconds } from './cpu-time.ts'
import { runLoad } from './load.ts'
import type { Ask } from './requests.ts'
import { median } from './statistics.ts'

const CONNECTIONS = 16

export interface NamedServer {
  readonly name: string
  readonly server: Candidate
  /** Before each turn. */
  readonly prepare?: () => Promise<void>
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

/** Other work on the machine only adds time, so that the cheapest turns say most of the request itself: the dearest of their tenth. */
function cheapest(costs: readonly number[]): number {
  return costs.toSorted((one, other) => one - other)[Math.floor(costs.length / 10)] ?? Number.NaN
}

/** Prints a line for each server. False where one serves less than `goal` of the requests that the first one serves in the same time. */
export async function costInTurns(
  servers: readonly NamedServer[],
  { label, count, ask }: CostlyRequest,
  { rounds, goal }: { readonly rounds: number; readonly goal: number },
): Promise<boolean> {
  const costs = new Map<string, number[]>(servers.map(({ name }) => [name, []]))
  for (let round = -2; round < rounds; round++)
    for (const { name, server, prepare } of round % 2 === 0 ? servers : servers.toReversed()) {
      await prepare?.()
      const took = await cost(server, ask(server.token), count)
      // The code is compiled first.
      if (round >= 0) costs.get(name)?.push(took)
    }
  let isMet = true
  const [base = []] = costs.values()
  for (const [name, own] of costs) {
    const ratios = own
      .map((took, at) => (base[at] ?? Number.NaN) / took)
      .toSorted((one, other) => one - other)
    const ratio = cheapest(base) / cheapest(own)
    const quarters = [0.25, 0.75].map((part) => ratios[Math.floor(part * (ratios.length - 1))]?.toFixed(3))
    if (ratio < goal) isMet = false
    process.stdout.write(
      `${label}, ${name}: ${median(own).toFixed(2)} µs, ${ratio.toFixed(3)} by the cheapest tenth (pairs: ${median(ratios).toFixed(3)}, half of them from ${quarters.join(' to ')}; ${Math.min(...own).toFixed(2)} least)\n`,
    )
  }
  return isMet
}
