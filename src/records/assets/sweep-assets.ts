/**
 * Deletes asset files that an upload or a deletion has left without a record, because the node died or the bucket could
 * not be reached, and uploads of requests that never ended (`temporary-uploads.ts`). One node at a time, at the start and then hourly; what is younger than a day is left alone, since it may
 * be under way on any node.
 */
import type { Clock } from '../../shared/clock.ts'
import type { Database } from '../../storage/database.ts'
import type { SystemLog } from '../system-log.ts'
import { type AssetNote, notesBefore } from './asset-notes.ts'
import type { Assets } from './assets.ts'

export interface AssetSweep {
  /** Gives how many files were settled. Never throws: the log says what went wrong, and the next sweep tries again. */
  run(): Promise<number>
  /** No further sweep begins; resolves when the one under way has ended, in the middle if it is long. */
  close(): Promise<void>
}

export interface AssetSweepOptions {
  readonly database: Database
  readonly assets: Pick<Assets, 'settle'>
  readonly clock: Clock
  readonly log: Pick<SystemLog, 'write'>
}

const EVERY = 3_600_000
const DAY_SECONDS = 86_400

export function openAssetSweep({ database, assets, clock, log }: AssetSweepOptions): AssetSweep {
  let closed = false
  let running: Promise<number> = Promise.resolve(0)
  const timer = setInterval(() => void run(), EVERY).unref()

  async function settleAll(): Promise<number> {
    let settled = 0
    const before = Math.floor(clock() / 1000) - DAY_SECONDS
    for (;;) {
      const notes: readonly AssetNote[] = closed ? [] : await notesBefore(database, before)
      if (notes.length === 0) return settled
      for (const note of notes) {
        if (closed) return settled
        await assets.settle(note)
        settled += 1
      }
    }
  }

  async function sweep(): Promise<number> {
    try {
      const settled = await database.capabilities.withClusterLock('asset sweep', settleAll)
      const files = settled === 1 ? 'asset file' : 'asset files'
      if (settled > 0) log.write({ level: 'info', message: `${settled} abandoned ${files} deleted.` })
      return settled
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      log.write({ level: 'error', message: `Abandoned asset files could not be deleted: ${reason}` })
      return 0
    }
  }

  function run(): Promise<number> {
    running = running.then(sweep)
    return running
  }

  void run()
  return {
    run,
    async close() {
      closed = true
      clearInterval(timer)
      await running
    },
  }
}
