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
  /** New documents are later than this time, in milliseconds: see `last-time.ts`. */
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
