/** A storage with 1,000,000 documents: the start, memory, and a list and a document of it. Not a part of the whole run. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Candidate, startQuoin } from '../candidates.ts'
import { importDocuments } from '../import-documents.ts'
import { runLoad } from '../load.ts'
import { type Ask, ask, runCooperatively } from '../requests.ts'
import { listPaths } from '../rows.ts'
import { taskBody } from '../sample-tasks.ts'
import { median } from '../statistics.ts'
import { guidsOf } from './documents-of.ts'
import { type Goal, type GoalTiming, milliseconds, type Reached } from './goal.ts'
import { idleMegabytes } from './idle-memory.ts'

const MOST_START_MS = 2_000
const password = 'a password that only the bench has'

export const million = goalOf(1_000_000)

/** The same with so many documents: with a few thousand it is tried out in a minute. */
function goalOf(documents: number): Goal {
  return {
    id: 'million',
    title: `${documents.toLocaleString('en-US')} documents`,
    goal: 'start in under 2 s',
    measure: (timing) => measure(timing, documents),
  }
}

async function measure({ core, rounds, seconds }: GoalTiming, documents: number): Promise<Reached> {
  const folder = await mkdtemp(join(tmpdir(), 'quoin-bench-million-'))
  try {
    const began = performance.now()
    const filled = await startQuoin({ core, folder, password })
    try {
      await importDocuments(filled, 'tasks', documents, taskBody)
    } finally {
      await filled.close()
    }
    const imported = (performance.now() - began) / 1000
    const starts: number[] = []
    for (let round = 1; round < rounds; round++) {
      const candidate = await startQuoin({ core, folder, password, installs: false })
      starts.push(candidate.startMs)
      await candidate.close()
    }
    const candidate = await startQuoin({ core, folder, password, installs: false })
    try {
      starts.push(candidate.startMs)
      const megabytes = await idleMegabytes(candidate)
      const guids = await guidsOf(candidate, 'tasks?limit=10000')
      const list = await time(candidate, runCooperatively(listPaths.map((path) => ask({ path }))), seconds)
      const read = await time(
        candidate,
        runCooperatively(guids.map((guid) => ask({ path: `tasks/${guid}` }))),
        seconds,
      )
      const start = median(starts)
      const found = `start ${milliseconds(start)}, idle memory ${Math.round(megabytes)} MB, list p50 ${milliseconds(list)}, read p50 ${milliseconds(read)} (imported in ${Math.round(imported)} s)`
      return { found, met: start < MOST_START_MS }
    } finally {
      await candidate.close()
    }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Milliseconds of a request, one at a time: the median. */
async function time({ port }: Candidate, next: () => Ask, seconds: number): Promise<number> {
  const { errors, firstError, latencies } = await runLoad({ port, connections: 1, next, seconds })
  if (errors > 0) throw new Error(`A request was not answered: ${firstError}`)
  return latencies.within(0.5)
}
