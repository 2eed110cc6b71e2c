/**
 * `node bench/telemetry.ts`: what OpenTelemetry costs requests, in processor time of the server and in turns, which other work on the machine changes
 * least. Three servers: without it, with nothing sampled, and with one request in a hundred. Ends with 1 below 0.95 of the requests a core serves without.
 */
import { createServer } from 'node:http'
import { startQuoin } from './candidates.ts'
import { cpuMicroseconds } from './cpu-time.ts'
import { runLoad } from './load.ts'
import { type Ask, ask } from './requests.ts'
import { median } from './statistics.ts'

const ROUNDS = Number(process.argv[2] ?? 7)
const GOAL = 0.95
const CONNECTIONS = 16

const collector = createServer((request, response) => {
  request.resume().on('end', () => response.setHeader('content-type', 'application/json').end('{}'))
})
await new Promise<void>((resolve) => collector.listen(0, '127.0.0.1', resolve))
const address = collector.address()
if (address === null || typeof address === 'string') throw new TypeError('The collector has no port.')
const OTEL_EXPORTER_OTLP_ENDPOINT = `http://127.0.0.1:${address.port}`

const settings = {
  without: {},
  'nothing sampled': { OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_TRACES_SAMPLER_ARG: '0' },
  '1 % sampled': { OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_TRACES_SAMPLER_ARG: '0.01' },
}
type Name = keyof typeof settings
const names: readonly Name[] = ['without', 'nothing sampled', '1 % sampled']

const servers = await Promise.all(
  names.map(async (name) => ({
    name,
    server: await startQuoin({ core: undefined, settings: settings[name] }),
  })),
)
const [{ server: first } = { server: undefined }] = servers
if (!first) throw new Error('No server was started.')

async function cost(server: typeof first, asks: Ask, count: number): Promise<number> {
  const { pid, port } = server ?? { pid: 0, port: 0 }
  let left = count
  const before = cpuMicroseconds(pid) ?? Number.NaN
  const { errors, firstError } = await runLoad({
    ...{ port, connections: CONNECTIONS },
    next: () => (left-- > 0 ? asks : undefined),
  })
  if (errors > 0) throw new Error(`A request failed: ${firstError}`)
  return ((cpuMicroseconds(pid) ?? Number.NaN) - before) / count
}

let isMet = true
try {
  for (const [label, count, one] of [
    ['GET, cached reply', 10_000, () => ask({ path: 'bench/constant' })],
    [
      'POST, creates a document',
      2_000,
      (token: string) =>
        ask({ method: 'POST', path: 'tasks', token, body: '{"title":"Tea"}', expected: 201 }),
    ],
  ] as const) {
    const costs = new Map<Name, number[]>(names.map((name) => [name, []]))
    for (let round = -2; round < ROUNDS; round++)
      for (const { name, server } of round % 2 === 0 ? servers : servers.toReversed()) {
        const took = await cost(server, one(server.token), count)
        // The code is compiled first.
        if (round >= 0) costs.get(name)?.push(took)
      }
    const base = costs.get('without') ?? []
    for (const name of names) {
      const own = costs.get(name) ?? []
      const ratio = median(own.map((took, at) => (base[at] ?? Number.NaN) / took))
      if (ratio < GOAL) isMet = false
      process.stdout.write(
        `${label}, ${name}: ${median(own).toFixed(1)} µs, ${ratio.toFixed(3)} (${Math.min(...own).toFixed(1)} least)\n`,
      )
    }
  }
} finally {
  for (const { server } of servers) await server.close()
  collector.close()
}
process.exitCode = isMet ? 0 : 1
