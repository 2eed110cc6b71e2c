import type { Clock } from '../shared/clock.ts'
import { guidSource, type Random } from '../shared/guid.ts'
import type { Meta } from '../shared/meta.ts'
import type { CreateOptions } from './database.ts'

/** Makes and renews `_meta`. */
export interface Stamps {
  created(options?: CreateOptions): Meta
  /** `removed`: false takes the mark of a soft delete away, true sets it, undefined leaves it. */
  changed(meta: Meta, removed?: boolean): Meta
}

export interface StampOptions {
  readonly clock: Clock
  readonly random: Random
  /** Cluster number. */
  readonly entity: number
  /** New documents are later than this time, in milliseconds: see `document-stamps.ts`. */
  readonly last?: number | undefined
}

export function stamps({ clock, random, entity, last }: StampOptions): Stamps {
  const guid = guidSource(clock, random, last)
  const bytes = new Uint8Array(16)
  // Random and not a hash of the content: it must differ also when a client writes the same content again.
  const updateHash = () => {
    random(bytes)
    return Buffer.from(bytes.buffer).toString('hex')
  }
  return {
    created(options) {
      const id = options?.guid ?? guid()
      // The guid's own time, not the clock's: when the clock steps back, the order by creation is still that of the guids.
      const cms = options?.cms ?? Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)
      const created = Math.floor(cms / 1000)
      return {
        guid: id,
        entity,
        created,
        updated: created,
        cms,
        ums: cms,
        removed: 0,
        expiry: options?.expiry ?? -1,
        update_hash: updateHash(),
      }
    },
    changed(meta, removed) {
      const ums = Math.max(clock(), meta.ums)
      const updated = Math.floor(ums / 1000)
      return {
        ...meta,
        updated,
        ums,
        removed: removed === undefined ? meta.removed : removed ? updated : 0,
        update_hash: updateHash(),
      }
    },
  }
}

/**
 * The time from which a process counts on. The clock may have been set back while no process ran: documents that are created then
 * would sort before those that are there. So times continue from that of the newest document, until the clock has caught up.
 */
/** A document that is further ahead is of a clock that was wrong, and would take all later ones with it. */
const MOST_AHEAD = 86_400_000
/** Less is what clocks of machines differ by: nothing is said of it. */
const WORTH_A_WORD = 60_000

/** `newest`: milliseconds, of any storage. Gives the time that the next document is later than; undefined: any. */
export function lastTime(
  newest: number | undefined,
  now: number,
  notice: (message: string) => void = () => undefined,
): number | undefined {
  if (newest === undefined || newest <= now) return undefined
  const ahead = newest - now
  const behind = `The clock is ${Math.round(ahead / 1000)} seconds behind the newest document, so it was set back, or was ahead before.`
  if (ahead > MOST_AHEAD) {
    notice(
      `${behind} New documents have the time of the clock, and sort before that document. Check the clock.`,
    )
    return undefined
  }
  if (ahead >= WORTH_A_WORD)
    notice(
      `${behind} New documents have times behind that document until the clock has caught up. Check the clock.`,
    )
  return newest
}
