import type { Flows } from '../flows/flows.ts'
import { runSpans } from '../flows/samples/run-spans.ts'
import type { SampleRun } from '../flows/samples/sampled-runs.ts'
import { openSamples, type Samples } from '../flows/samples/samples.ts'
import type { TracedFlows } from '../flows/trace/traced-flows.ts'
import { logText } from '../records/batched-log.ts'
import type { SystemLog } from '../records/system-log.ts'
import { pooledRandom } from '../shared/guid.ts'
import type { Telemetry } from '../shared/telemetry.ts'
import type { Start } from './start.ts'

const WORD = 2 ** 32

interface Sampling {
  /** undefined where no traces are sent. */
  readonly telemetry: Telemetry | undefined
  readonly samples: Samples
  /** undefined for commands on a data directory. */
  readonly sample: SampleRun | undefined
}

/** What looks at some of the runs: traces for a collector, and the times of blocks. */
export async function openSampling(
  start: Start,
  node: string,
  flows: Flows,
  copies: TracedFlows,
): Promise<Sampling> {
  const samples = await openSamples(flows, copies)
  start.opened.add(() => samples.close())
  if (start.offline) return { telemetry: undefined, samples, sample: undefined }
  const telemetry = await openNodeTelemetry(start, node, flows.log)
  if (!telemetry) return { telemetry, samples, sample: samples.sample }
  const spans = runSpans({ flows, copies, telemetry })
  return { telemetry, samples, sample: (there, run) => spans(there, run) ?? samples.sample(there, run) }
}

/** Sends traces where the settings say; its code is loaded there alone. */
async function openNodeTelemetry(
  { options, clock, random, version, space, opened }: Start,
  node: string,
  log: Pick<SystemLog, 'write' | 'whenWritten'>,
): Promise<Telemetry | undefined> {
  if (options.otlpEndpoint === '') return undefined
  const { openTelemetry } = await import('../telemetry/open-telemetry.ts')
  const word = new Uint32Array(1)
  const bytes = new Uint8Array(word.buffer)
  const pooled = pooledRandom(random)
  const telemetry = openTelemetry({
    endpoint: options.otlpEndpoint,
    headers: options.otlpHeaders,
    share: options.otlpShare,
    service: { name: options.otlpService, version, node: space ? `${node} ${space.name}` : node },
    clock,
    random: pooled,
    draw() {
      pooled(bytes)
      return (word[0] ?? 0) / WORD
    },
    metricsEvery: options.otlpMetrics === 'otlp' ? options.otlpMetricsEvery : undefined,
    sendsLogs: options.otlpLogs === 'otlp',
    failed: (message) => log.write({ level: 'warn', message }),
  })
  // Values of entries stay here.
  log.whenWritten(({ level, message, run, blueprint, block, pin, trace }) =>
    telemetry.log({
      ...{ level, message: logText(message), at: clock(), place: trace },
      attributes: {
        ...(run !== undefined && { 'quoin.run': run }),
        ...(blueprint !== undefined && { 'quoin.blueprint': blueprint }),
        ...(block !== undefined && { 'quoin.block': block }),
        ...(pin !== undefined && { 'quoin.pin': pin }),
      },
    }),
  )
  opened.add(() => telemetry.close())
  return telemetry
}
