/** Settings of the cluster: texts of options that change without a restart, one record for each. */

import { oneAtATime } from '../../shared/cooperative.ts'
import type { JsonObject } from '../../shared/json.ts'
import type { Database } from '../../storage/database.ts'
import { guidOf, textIn } from '../../storage/document-fields.ts'
import { systemStorages } from '../../storage/system-storages.ts'
import { openNamedRecords } from '../named-records.ts'
import type { Actor } from '../records.ts'

/** More than there are options; records of options that a later version no longer has stay. */
const MOST = 200

export interface Settings {
  /** The records by the names of options: the same map until one of them changes. */
  present(): ReadonlyMap<string, JsonObject>
  /** The texts of the records. */
  texts(): ReadonlyMap<string, string>
  set(name: string, value: string, by: Actor): Promise<void>
  /** False where there was none. */
  unset(name: string, by: Actor): Promise<boolean>
  /** Called behind each change, also of another node. Gives what ends it. */
  watch(listener: () => void): () => void
  close(): void
}

export async function openSettings(database: Database): Promise<Settings> {
  const listeners = new Set<() => void>()
  const records = await openNamedRecords(database, {
    storage: systemStorages.settings,
    noun: 'setting',
    most: MOST,
    changed: () => {
      for (const listener of listeners) listener()
    },
  })
  const inTurn = oneAtATime()
  let from = records.present()
  let texts = textsOf(from)
  return {
    present: records.present,
    texts() {
      const now = records.present()
      if (now !== from) {
        from = now
        texts = textsOf(now)
      }
      return texts
    },
    set: (name, value, by) =>
      inTurn(name, async () => {
        const known = records.present().get(name)
        if (known) await records.update(guidOf(known), () => ({ value }), by)
        else await records.create({ name, value }, by)
      }),
    unset: (name, by) =>
      inTurn(name, async () => {
        const known = records.present().get(name)
        if (known) await records.remove(guidOf(known), by)
        return known !== undefined
      }),
    watch(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    close: records.close,
  }
}

function textsOf(records: ReadonlyMap<string, JsonObject>): ReadonlyMap<string, string> {
  return new Map([...records].map(([name, { value }]) => [name, textIn(value)]))
}
