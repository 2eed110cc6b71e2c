import type { Access } from '../access/access.ts'
import { loadBlocks } from '../blocks/load-blocks.ts'
import type { Flows } from '../flows/flows.ts'
import { type Runs, runPipeline } from '../flows/run-pipeline.ts'
import { plainTimes } from '../flows/samples/sample.ts'
import { sampledRuns } from '../flows/samples/sampled-runs.ts'
import { openFieldRules } from '../records/fields/field-rules.ts'
import { openRecords } from '../records/records.ts'
import type { SystemLog } from '../records/system-log.ts'
import type { Database } from '../storage/database.ts'
import { readingAccess } from '../workers/reading-access.ts'
import { readingBlocks } from '../workers/reading-blocks.ts'
import { type RunsBeyondReading, runsBeyondReading } from '../workers/runs-beyond-reading.ts'
import { openReadingDatabase } from './database-engine.ts'
import { openLimitedFlows } from './open-flows.ts'
import { openNodeAccess } from './open-records.ts'
import { openNodeSettings, type PresentOptions } from './open-settings.ts'
import type { Start } from './start.ts'
import type { ToWriter } from './to-writer.ts'

export interface ReaderFlows {
  readonly database: Database
  readonly access: Access
  readonly flows: Flows
  readonly runs: Runs
  readonly beyond: RunsBeyondReading
  readonly set: PresentOptions
}

/** What of a node a process needs that only reads: users, blueprints, and runs that note whether they were to do more. */
export async function openReaderFlows(bare: Start, { link, send }: ToWriter): Promise<ReaderFlows> {
  const { options, clock, opened } = bare
  let refusals = 0
  const beyond = runsBeyondReading()
  const database = openReadingDatabase(options, link, {
    refused(origin) {
      refusals += 1
      beyond.note(origin)
    },
    damaged: (reason) => send({ kind: 'damaged', reason }),
  })
  opened.add(() => database.close())
  const set = await openNodeSettings(bare, database)
  const start = { ...bare, set }
  const { access, flush } = readingAccess(await openNodeAccess(start, database), () => refusals, send)
  opened.add(flush)
  const flows = await openLimitedFlows(start, {
    records: await openRecords(database, clock),
    catalogue: readingBlocks(await loadBlocks(), beyond.note),
    log: readersLog(beyond, send),
    fields: await openFieldRules(database),
  })
  const sample = sampledRuns({
    flows,
    // The writer does all others again, and counts those.
    counts: ({ run, replied, error }) => replied && error === undefined && !beyond.has(run),
    sampled: ({ versions }) => send({ kind: 'sampled', times: [...versions.values()].map(plainTimes) }),
  })
  const runs = runPipeline(flows, undefined, undefined, sample)
  return { database, access, flows, runs, beyond, set }
}

/** What runs log is logged by the writer, which does them again; the rest is about this process. */
function readersLog(beyond: RunsBeyondReading, send: ToWriter['send']): SystemLog {
  return {
    write(entry) {
      if (entry.run === undefined) send({ kind: 'log', entry })
      else beyond.note({ run: entry.run })
    },
    flush: async () => undefined,
    close: async () => undefined,
  }
}
