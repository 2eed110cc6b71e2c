/**
 * Which block of which blueprint uses which secret, in the audit log: the first use on each node, and then at most one
 * record an hour, so that 1,000 requests a second cost one write.
 */

import type { Clock } from '../../shared/clock.ts'
import { lruCache } from '../../shared/lru-cache.ts'
import type { Database } from '../../storage/database.ts'
import { transact } from '../../storage/transact.ts'
import type { AuditLog } from '../audit-log.ts'

export interface SecretUseNote {
  readonly name: string
  /** Guids of the secret, the blueprint and the block. */
  readonly guid: string
  readonly blueprint: string
  readonly block: string
}

export interface SecretUses {
  /** Never waits and never throws. */
  note(use: SecretUseNote): void
  /** Resolves when everything noted so far is stored. */
  close(): Promise<void>
}

const PAUSE_MS = 3_600_000
/** Blocks that are remembered: about 2 MB. */
const MOST = 10_000

export function openSecretUses(input: {
  readonly database: Database
  readonly audit: AuditLog
  readonly clock: Clock
  readonly failed: (error: unknown) => void
}): SecretUses {
  const { database, audit, clock, failed } = input
  const recorded = lruCache<string, number>(MOST)
  let writing: Promise<void> = Promise.resolve()

  const write = ({ name, guid, blueprint, block }: SecretUseNote) =>
    transact(database, async (session) =>
      audit.record(session, {
        ...{ category: 'secrets', action: 'used', guid, name },
        ...{ before: undefined, after: { blueprint, block } },
      }),
    )

  return {
    note(use) {
      const key = JSON.stringify([use.guid, use.blueprint, use.block])
      const now = clock()
      if (now < (recorded.get(key) ?? Number.NEGATIVE_INFINITY) + PAUSE_MS) return
      recorded.set(key, now)
      writing = writing.then(() => write(use)).catch(failed)
    },
    close: () => writing,
  }
}
