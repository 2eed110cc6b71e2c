import { expiryNeeds } from '../../records/purge-expired.ts'
import { removedNeeds } from '../../records/retention/delete-removed.ts'
import type { SystemLog } from '../../records/system-log.ts'
import type { Database } from '../../storage/database.ts'
import type { Index } from '../../storage/document-index.ts'
import { isOwnStorage } from '../../storage/own-storages.ts'
import type { LiveBlueprints } from './live-blueprints.ts'

/**
 * Drops the indexes of these storages that no active blueprint needs: each makes every write slower (about 5 µs). Never
 * throws, since what was deployed is deployed; what stays is dropped the next time.
 */
export async function dropUnusedIndexes(
  database: Database,
  live: LiveBlueprints,
  names: Iterable<string>,
  log: SystemLog['write'],
): Promise<void> {
  for (const name of new Set(names)) {
    // Quoin's own storages say themselves what they need.
    if (isOwnStorage(name) || !database.has(name)) continue
    const kept: Index[] = [...(expiryNeeds.indexes ?? []), ...(removedNeeds.indexes ?? [])]
    for (const { compiled } of live.table().blueprints.values())
      kept.push(...(compiled.needs.get(name)?.indexes ?? []))
    try {
      await database.capabilities.indexes.release(name, kept)
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error)
      log({ level: 'warn', message: `Indexes of ${name} that are no longer used stay for now: ${why}` })
    }
  }
}
