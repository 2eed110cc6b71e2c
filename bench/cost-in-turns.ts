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
  readonly server: Pick<Candidate, 'pid' | 'port' | 'token'>
  /** Of the requests, where it is not that of the machine. */
  readonly host?: string
  /** Before each turn. */
  readonly prepare?: () => Promise<void>
}

export interface CostlyRequest {
  readonly label: string
  /** Requests of one turn. */
  readonly count: number
  readonly ask: (token: string, host?: string) => Ask
}

/** What one server serves of the requests that the first one serves in the same time, and the processor time of one, in µs. */
export interface TurnCost {
  readonly name: string
  readonly ratio: number
  readonly microseconds: number
}

async function cost({ pid, port }: NamedServer['server'], asks: Ask, count: number): Promise<number> {
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

/** Prints a line for each server. */
export async function costInTurns(
  servers: readonly NamedServer[],
  { label, count, ask }: CostlyRequest,
  rounds: number,
): Promise<readonly TurnCost[]> {
  const costs = new Map<string, number[]>(servers.map(({ name }) => [name, []]))
  for (let round = -2; round < rounds; round++)
    for (const { name, server, host, prepare } of round % 2 === 0 ? servers : servers.toReversed()) {
      await prepare?.()
      const took = await cost(server, ask(server.token, host), count)
      // The code is compiled first.
      if (round >= 0) costs.get(name)?.push(took)
    }
  const [base = []] = costs.values()
  return Array.from(costs, ([name, own]) => {
    const ratios = own
      .map((took, at) => (base[at] ?? Number.NaN) / took)
      .toSorted((one, other) => one - other)
    const ratio = cheapest(base) / cheapest(own)
    const quarters = [0.25, 0.75].map((part) => ratios[Math.floor(part * (ratios.length - 1))]?.toFixed(3))
    process.stdout.write(
      `${label}, ${name}: ${median(own).toFixed(2)} µs, ${ratio.toFixed(3)} by the cheapest tenth (pairs: ${median(ratios).toFixed(3)}, half of them from ${quarters.join(' to ')}; ${Math.min(...own).toFixed(2)} least)\n`,
    )
    return { name, ratio, microseconds: median(own) }
  })
}
