/**
 * `node bench/telemetry.ts`: what OpenTelemetry costs requests, in processor time of the server and in turns, which other work on the machine changes
 * least. Three servers: without it, with nothing sampled, and with one request in a hundred. Ends with 1 below 0.95 of the requests a core serves without.
 */
import { createServer } from 'node:http'
import { startQuoin } from './candidates.ts'
import { costInTurns } from './cost-in-turns.ts'
import { ask } from './requests.ts'

const ROUNDS = Number(process.argv[2] ?? 7)
const GOAL = 0.95

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
let isMet = true
try {
  for (const request of [
    { label: 'GET, cached reply', count: 10_000, ask: () => ask({ path: 'bench/constant' }) },
    {
      ...{ label: 'POST, creates a document', count: 2_000 },
      ask: (token: string) =>
        ask({ method: 'POST', path: 'tasks', token, body: '{"title":"Tea"}', expected: 201 }),
    },
  ])
    if (!(await costInTurns(servers, request, { rounds: ROUNDS, goal: GOAL }))) isMet = false
} finally {
  for (const { server } of servers) await server.close()
  collector.close()
}
process.exitCode = isMet ? 0 : 1
