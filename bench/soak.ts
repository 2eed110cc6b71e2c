/**
 * A mix of requests for ten minutes: does memory stay flat? Each minute is a turn; between two turns, with nothing under
 * way, the server collects its garbage and tells what its heap still holds. Resident memory is read as it is.
 */
import { startQuoin } from './candidates.ts'
import { MIB } from './large-bodies.ts'
import { runLoad } from './load.ts'
import { memoryOf } from './process-memory.ts'
import { type Ask, ask, runCooperatively } from './requests.ts'
import { CONNECTIONS, listPaths, type SeededCandidate } from './rows.ts'
import { taskBody } from './sample-tasks.ts'
import { seed } from './seed.ts'
import { median } from './statistics.ts'

/** One look, in MiB. */
export interface SoakSample {
  readonly minutes: number
  readonly resident: number
  /** Of that, pages of files: those of the database come as it grows. */
  readonly mapped: number
  /** After a collection. */
  readonly heap: number
  readonly external: number
  /** In the turn before. */
  readonly replies: number
}

export interface Soaked {
  /** The first one is from before the load. */
  readonly samples: readonly SoakSample[]
  /** MiB that the heap has grown from the first half to the second, medians of the samples after a collection. */
  readonly heapGrowth: number
  /** The same of resident memory that is no page of a file. */
  readonly ownGrowth: number
  readonly flat: boolean
}

export const SOAK_SECONDS = 600
const TURNS = 10
/** What may come from one document more or less in a cache; a leak of 10 bytes a request is ten times that. */
const HEAP_MIB = 2
/** V8 takes and gives back larger pieces. */
const OWN_MIB = 24

export async function soak(core: number | undefined, seconds: number): Promise<Soaked> {
  const candidate = await startQuoin({ core, reports: 'heap' })
  try {
    const seeded = await seed(candidate)
    const next = mix(seeded)
    const samples = [await look(seeded, 0, 0)]
    for (let turn = 1; turn <= TURNS; turn++) {
      const load = { port: candidate.port, connections: CONNECTIONS, next, seconds: seconds / TURNS }
      const { errors, firstError, replies } = await runLoad(load)
      if (errors > 0) throw new Error(`A request was not answered: ${firstError}`)
      const sample = await look(seeded, (turn * seconds) / TURNS / 60, replies)
      console.log(
        `${sample.minutes.toFixed(1)} min: heap ${sample.heap.toFixed(1)} MB, resident ${sample.resident.toFixed(0)} MB, ${replies} replies`,
      )
      samples.push(sample)
    }
    return judged(samples)
  } finally {
    await candidate.close()
  }
}

/** What was measured, and whether it is flat. The start is left out: caches fill in the first turn. */
function judged(samples: readonly SoakSample[]): Soaked {
  const loaded = samples.slice(2)
  const middle = Math.ceil(loaded.length / 2)
  const growth = (of: (sample: SoakSample) => number) =>
    median(loaded.slice(middle).map(of)) - median(loaded.slice(0, middle).map(of))
  const heapGrowth = growth(({ heap, external }) => heap + external)
  const ownGrowth = growth(({ resident, mapped }) => resident - mapped)
  return {
    samples,
    heapGrowth,
    ownGrowth,
    flat: heapGrowth <= HEAP_MIB && ownGrowth <= OWN_MIB,
  }
}

/** Everything that the table of goals times, by ten: lists, reads, updates, increments, creates, and errors. */
function mix({ guids, token }: SeededCandidate): () => Ask {
  const list = runCooperatively(listPaths.map((path) => ask({ path })))
  const read = runCooperatively(guids.map((guid) => ask({ path: `tasks/${guid}` })))
  const visit = runCooperatively(
    guids.map((guid) => ask({ method: 'PUT', path: `bench/visits/${guid}`, token })),
  )
  const update = runCooperatively(
    guids.map((guid) => ask({ method: 'PUT', path: `tasks/${guid}`, token, body: '{"priority":4}' })),
  )
  const missing = runCooperatively(
    Array.from({ length: 97 }, (_, number) => ask({ path: `tasks/none-${number}`, expected: 404 })),
  )
  const create = runCooperatively(
    Array.from({ length: 256 }, (_, number) =>
      ask({ method: 'POST', path: 'tasks', token, body: taskBody(number), expected: 201 }),
    ),
  )
  const kind = runCooperatively([list, read, read, list, visit, read, update, missing, list, create])
  return () => kind()()
}

async function look(candidate: SeededCandidate, minutes: number, replies: number): Promise<SoakSample> {
  const reported = await candidate.report()
  const { heap, external } = bytesOf(reported)
  const { resident, mapped } = memoryOf(candidate.pid) ?? { resident: Number.NaN, mapped: Number.NaN }
  return {
    minutes,
    resident: resident / MIB,
    mapped: mapped / MIB,
    heap: heap / MIB,
    external: external / MIB,
    replies,
  }
}

function bytesOf(reported: unknown): { readonly heap: number; readonly external: number } {
  if (typeof reported === 'object' && reported !== null && 'heap' in reported && 'external' in reported)
    return { heap: Number(reported.heap), external: Number(reported.external) }
  throw new Error('The server does not tell how large its heap is.')
}
