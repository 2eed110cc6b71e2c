/**
 * When each API key was used last: `_api_key_uses` holds `{ key_guid, last_used }`. It is a storage of its own, because every
 * write to `_api_keys` makes all nodes forget the identities that they have in memory. It is written at most once a minute
 * for each key, by the request that looks the key up in the database again.
 */
import { setTimeout as wait } from 'node:timers/promises'
import { hasPassed } from '../../shared/clock.ts'
import { QuoinError } from '../../shared/errors.ts'
import { type LruCache, lruCache } from '../../shared/lru-cache.ts'
import { setFields } from '../../shared/mutation.ts'
import type { Database, Session } from '../../storage/database.ts'
import { guidOf, numberIn, textIn, updateHashOf } from '../../storage/document-fields.ts'
import { findAll, findOne } from '../../storage/find-documents.ts'
import { systemStorages } from '../../storage/system-storages.ts'
import { transact } from '../../storage/transact.ts'

/** Between two writes for one key; also how long an identity of a key stays in memory. */
export const USE_SECONDS = 60
/** Where writes hang, requests with keys should not. */
const PATIENCE_MS = 1_000
/** Keys whose last write this node remembers. */
const MOST = 10_000

export interface KeyUses {
  /** Notes that the key is used now. Never fails: a full disk is no reason to refuse a key. */
  note(keyGuid: string, now: number): Promise<void>
  /** When each of the keys was used, by its guid. */
  of(session: Session, keyGuids: readonly string[]): Promise<ReadonlyMap<string, number>>
}

export function keyUses(database: Database): KeyUses {
  const recorded: LruCache<string, number> = lruCache(MOST)
  return {
    async note(keyGuid, now) {
      if (!hasPassed(USE_SECONDS, recorded.get(keyGuid) ?? 0, now)) return
      recorded.set(keyGuid, now)
      await Promise.race([
        write(database, keyGuid, now).catch(ignoreRefused),
        wait(PATIENCE_MS, undefined, { ref: false }),
      ])
    },
    async of(session, keyGuids) {
      if (keyGuids.length === 0) return new Map()
      const query = { kind: 'terms', field: 'key_guid', values: keyGuids } as const
      const uses = await findAll(session, systemStorages.apiKeyUses, query, keyGuids.length)
      return new Map(uses.map((use) => [textIn(use.key_guid), numberIn(use.last_used)]))
    },
  }
}

async function write(database: Database, keyGuid: string, now: number): Promise<void> {
  const known = await findOne(database.session(), systemStorages.apiKeyUses, 'key_guid', keyGuid)
  // Another node was faster.
  if (known && !hasPassed(USE_SECONDS, numberIn(known.last_used), now)) return
  await transact(database, async (session) => {
    const fields = setFields({ key_guid: keyGuid, last_used: now })
    if (known)
      await session.update(systemStorages.apiKeyUses, guidOf(known), fields, {
        updateHash: updateHashOf(known),
      })
    else await session.create(systemStorages.apiKeyUses, fields)
  })
}

/** A full disk, a busy writer, or another node that added the record first. */
function ignoreRefused(error: unknown): void {
  if (!(error instanceof QuoinError)) throw error
}
