/**
 * Times of sampled runs: added up in memory, stored every ten seconds and when they are read here. Other nodes are at most ten
 * seconds behind.
 */
import { storedLater } from '../../records/batched-log.ts'
import { getRecord } from '../../records/records.ts'
import type { BlockTimes } from '../../shared/api/blocks/blocks.ts'
import type { Clock } from '../../shared/clock.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../shared/json.ts'
import { setFields } from '../../shared/mutation.ts'
import { type Query, search } from '../../shared/query.ts'
import type { Database, Session } from '../../storage/database.ts'
import { guidOf, numberIn, textIn } from '../../storage/document-fields.ts'
import { documentsOf, findAll } from '../../storage/find-documents.ts'
import { systemStorages } from '../../storage/system-storages.ts'
import { transact } from '../../storage/transact.ts'
import type { Flows } from '../flows.ts'
import type { TracedFlows } from '../trace/traced-flows.ts'
import {
  countOf,
  type Deployed,
  type PlainTimes,
  plainTimes,
  Sample,
  type StepTimes,
  timeAt,
} from './sample.ts'
import { type SampleRun, sampledRuns } from './sampled-runs.ts'

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
  const later = storedLater(store, STORED_MS)

  function add(times: PlainTimes): void {
    waiting.merge(times)
    later.ask()
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
      await later.flush()
      const sample = await readTimes(database, { blueprint, deployment })
      const { runs, blocks, used } = sample.of({ blueprint, deployment })
      const all = [...blocks].map(([block, times]) => ({ ...blockTimes(block, times), ...used.get(block) }))
      return { deployment, runs, blocks: all }
    },
    async close() {
      await later.flush()
      // What could not be stored now is lost.
      later.stop()
    },
  }
}

function blockTimes(block: string, times: StepTimes) {
  return { block, passes: countOf(times), p50_us: timeAt(times, 0.5), p95_us: timeAt(times, 0.95) }
}

/**
 * Times of sampled runs in the storage `_samples`: one document for each deployed version and six hours, which all nodes add
 * to, kept for a day and six hours. So a version has at most six. The first one of a version deletes those of the versions
 * before it.
 */
const name = systemStorages.samples
/** Seconds. */
const SPAN = 6 * 3_600
const RETAINED = 24 * 3_600
/** More than there are. */
const MOST_DOCUMENTS = 20

export async function ensureSamples(database: Database): Promise<void> {
  const version = { fields: ['blueprint', 'deployment', 'from'], unique: true }
  await database.ensure(name, { indexes: [version, { fields: ['_meta.expiry'] }] })
}

export async function storeTimes(database: Database, clock: Clock, times: PlainTimes): Promise<void> {
  const now = Math.floor(clock() / 1000)
  const from = now - (now % SPAN)
  const { blueprint, deployment } = times
  const merged = (before: JsonObject) => setFields(fieldsOf(together(before, times)))
  await transact(database, async (session) => {
    const [found] = await findAll(session, name, queryOf({ blueprint, deployment, from }), 1)
    // In the write itself: other nodes write the same document.
    if (found) {
      await session.update(name, guidOf(found), [], { complete: merged })
      return
    }
    await purge(session, times, now)
    const fresh = setFields({ blueprint, deployment, from, ...fieldsOf(times) })
    await session.create(name, fresh, { expiry: from + SPAN + RETAINED })
  })
}

/** Of a deployed version, added up. */
export async function readTimes(database: Database, of: Deployed): Promise<Sample> {
  const sample = new Sample()
  const { blueprint, deployment } = of
  const found = await findAll(database.session(), name, queryOf({ blueprint, deployment }), MOST_DOCUMENTS)
  for (const document of found) sample.merge({ ...of, ...timesIn(document) })
  return sample
}

function together(before: JsonObject, times: PlainTimes): PlainTimes {
  const { blueprint, deployment } = times
  const sample = new Sample()
  sample.merge({ blueprint, deployment, ...timesIn(before) })
  sample.merge(times)
  return plainTimes(sample.of(times))
}

/** Blocks as text, because their guids are names of fields and never searched. */
function fieldsOf({ runs, blocks }: Pick<PlainTimes, 'runs' | 'blocks'>): JsonObject {
  return { runs, blocks: JSON.stringify(blocks) }
}

function timesIn({ runs, blocks }: JsonObject): Pick<PlainTimes, 'runs' | 'blocks'> {
  const parsed: JsonValue = JSON.parse(textIn(blocks) || '[]')
  return { runs: numberIn(runs), blocks: listIn(parsed).flatMap(blockIn) }
}

function blockIn(value: JsonValue): PlainTimes['blocks'] {
  const [block, times, use] = listIn(value)
  if (typeof block !== 'string') return []
  const pairs = listIn(times ?? null).flatMap((pair): [number, number][] => {
    const [step, count] = listIn(pair)
    return typeof step === 'number' && typeof count === 'number' ? [[step, count]] : []
  })
  if (!isJsonObject(use)) return [[block, pairs]]
  return [[block, pairs, { tokens: numberIn(use.tokens), cost: numberIn(use.cost) }]]
}

function listIn(value: JsonValue): readonly JsonValue[] {
  return Array.isArray(value) ? value : []
}

/** Those of versions before this one, and those whose time is over. */
async function purge(session: Session, { blueprint, deployment }: Deployed, now: number): Promise<void> {
  const before = { kind: 'range', field: 'deployment', bounds: { lt: deployment } } as const
  const over: Query = { kind: 'range', field: '_meta.expiry', bounds: { gte: 0, lte: now } }
  const former: Query = { kind: 'and', queries: [queryOf({ blueprint }), before] }
  for (const query of [former, over]) {
    const found = await session.find(name, search({ query, limit: 2 * MOST_DOCUMENTS }))
    for (const document of documentsOf(found)) await session.delete(name, guidOf(document))
  }
}

function queryOf(fields: Readonly<Record<string, string | number>>): Query {
  const queries = Object.entries(fields).map(([field, value]): Query => ({ kind: 'term', field, value }))
  return { kind: 'and', queries }
}
