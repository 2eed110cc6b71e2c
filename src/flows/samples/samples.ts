/**
 * Times of sampled runs: added up in memory, stored every ten seconds and when they are read here. Other nodes are at most ten
 * seconds behind.
 */
import { getRecord } from '../../records/records.ts'
import type { BlockTimes } from '../../shared/api/blocks/blocks.ts'
import { numberIn } from '../../storage/document-fields.ts'
import { systemStorages } from '../../storage/system-storages.ts'
import type { Flows } from '../flows.ts'
import type { TracedFlows } from '../trace/traced-flows.ts'
import { countOf, type PlainTimes, plainTimes, Sample, timeAt } from './sample.ts'
import { type SampleRun, sampledRuns } from './sampled-runs.ts'
import { ensureSamples, readTimes, storeTimes } from './stored-samples.ts'

export interface Samples {
  readonly sample: SampleRun
  /** Of the deployed version. NOT_FOUND for an unknown blueprint. */
  read(blueprint: string): Promise<BlockTimes>
  close(): Promise<void>
}

const STORED_MS = 10_000

export async function openSamples(flows: Flows, copies: TracedFlows): Promise<Samples> {
  const { database } = flows.records
  const { clock } = flows.environment
  await ensureSamples(database)
  let waiting = new Sample()
  let timer: NodeJS.Timeout | undefined
  let storing: Promise<void> = Promise.resolve()

  function add(times: PlainTimes): void {
    waiting.merge(times)
    timer ??= setTimeout(() => void flush(), STORED_MS).unref()
  }

  async function store(): Promise<void> {
    const { versions } = waiting
    waiting = new Sample()
    for (const version of versions.values()) {
      const times = plainTimes(version)
      try {
        await storeTimes(database, clock, times)
      } catch {
        // Two nodes made the document at once, or the disk is full: they are stored the next time.
        add(times)
      }
    }
  }

  function flush(): Promise<void> {
    clearTimeout(timer)
    timer = undefined
    storing = storing.then(store)
    return storing
  }

  return {
    sample: sampledRuns({
      flows,
      copies,
      sampled(sample) {
        for (const version of sample.versions.values()) add(plainTimes(version))
      },
    }),
    async read(blueprint) {
      const record = await getRecord(database.session(), systemStorages.blueprints, blueprint, 'blueprint')
      const deployment = numberIn(record.version)
      await flush()
      const sample = await readTimes(database, { blueprint, deployment })
      const { runs, blocks } = sample.of({ blueprint, deployment })
      return {
        ...{ deployment, runs },
        blocks: [...blocks].map(([block, times]) => ({
          ...{ block, passes: countOf(times) },
          ...{ p50_us: timeAt(times, 0.5), p95_us: timeAt(times, 0.95) },
        })),
      }
    },
    async close() {
      await flush()
      // What could not be stored now is lost.
      clearTimeout(timer)
    },
  }
}
