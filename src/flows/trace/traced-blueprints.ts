/**
 * Which blueprints are traced, and where their runs pause: documents of `_tracing` under the blueprint's own guid. Each
 * node keeps them in memory and watches the storage: the reply to a request that turns tracing on or off is sent when all
 * nodes have applied it.
 */

import type { Actor } from '../../records/records.ts'
import type { Clock } from '../../shared/clock.ts'
import { isJsonObject, type JsonObject } from '../../shared/json.ts'
import { setFields } from '../../shared/mutation.ts'
import { matchAll } from '../../shared/query.ts'
import { type Database, documentOf } from '../../storage/database.ts'
import { guidOf, numberIn, textsIn } from '../../storage/document-fields.ts'
import { findAll } from '../../storage/find-documents.ts'
import { systemStorages } from '../../storage/system-storages.ts'
import { transact } from '../../storage/transact.ts'

export interface TracingRules {
  readonly on: boolean
  /** When it turns itself off, in milliseconds since 1970. */
  readonly until: number
  /** How many runs are kept. */
  readonly keepLast: number
  /** Guids of flow blocks. */
  readonly breakpoints: readonly string[]
}

export interface TracedBlueprints {
  /** Whether nothing is traced at this moment: the one question that every run costs. */
  readonly none: boolean
  /** The rules of a blueprint that is traced now. */
  of(blueprint: string): TracingRules | undefined
  /** How many of its runs are kept, also while it is not traced. */
  keepLast(blueprint: string): number
  /** Whether runs pause before this block, in whatever blueprint it is. */
  pausesAt(block: string): boolean
  /** What was last asked for, also if it is over. */
  read(blueprint: string): Promise<TracingRules>
  set(blueprint: string, name: string, rules: TracingRules, by: Actor): Promise<void>
  /** Told when rules have changed, on this node or another one. Gives a function that ends it. */
  onChange(listener: () => void): () => void
  close(): void
}

export const KEEP_LAST = 50
/** More blueprints than are ever traced at once; the bound limits what one request loads. */
const MOST = 1_000

export async function openTracedBlueprints(database: Database, clock: Clock): Promise<TracedBlueprints> {
  await database.ensure(systemStorages.tracing)
  const known = new Map<string, TracingRules>()
  /** Those of them that are on. */
  const traced = new Map<string, TracingRules>()
  const listeners = new Set<() => void>()

  function keep(blueprint: string, rules: TracingRules): void {
    known.set(blueprint, rules)
    if (rules.on && rules.until > clock()) traced.set(blueprint, rules)
    else traced.delete(blueprint)
  }

  async function readAgain(guids: readonly string[] | undefined): Promise<void> {
    const session = database.session()
    if (guids) {
      for (const guid of guids) {
        const stored = await session.get(systemStorages.tracing, guid)
        // They are never deleted, only turned off.
        if (stored) keep(guid, rulesIn(documentOf(stored)))
      }
    } else {
      const all = await findAll(session, systemStorages.tracing, matchAll, MOST)
      known.clear()
      traced.clear()
      for (const document of all) keep(guidOf(document), rulesIn(document))
    }
    for (const listener of listeners) listener()
  }

  /** The rules, unless their time is over: then they are forgotten, and runs pass by again without a look. */
  function of(blueprint: string): TracingRules | undefined {
    const rules = traced.get(blueprint)
    if (rules === undefined || rules.until > clock()) return rules
    traced.delete(blueprint)
    return undefined
  }

  const unwatch = database.capabilities.changes.watch(systemStorages.tracing, readAgain)
  await readAgain(undefined)

  return {
    get none() {
      return traced.size === 0
    },
    of,
    keepLast: (blueprint) => known.get(blueprint)?.keepLast ?? KEEP_LAST,
    pausesAt: (block) => [...traced.keys()].some((blueprint) => of(blueprint)?.breakpoints.includes(block)),
    read: (blueprint) => storedRules(database, blueprint),
    async set(blueprint, name, rules, by) {
      await storeRules(database, { blueprint, name }, rules, by)
      await readAgain([blueprint])
    },
    onChange(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    close: unwatch,
  }
}

async function storedRules(database: Database, blueprint: string): Promise<TracingRules> {
  const stored = await database.session().get(systemStorages.tracing, blueprint)
  return rulesIn(stored ? documentOf(stored) : {})
}

/** Writes over the rules that the blueprint had, if any. */
async function storeRules(
  database: Database,
  { blueprint, name }: { readonly blueprint: string; readonly name: string },
  { on, until, keepLast, breakpoints }: TracingRules,
  by: Actor,
): Promise<void> {
  const fields = {
    name,
    on,
    until,
    keep_last: keepLast,
    breakpoints: [...breakpoints],
    modified_by: { ...by },
  }
  await transact(
    database,
    async (session) => {
      const update = await session.update(systemStorages.tracing, blueprint, setFields(fields))
      if (update.outcome !== 'written')
        await session.create(systemStorages.tracing, setFields(fields), { guid: blueprint })
    },
    { user: by },
  )
}

function rulesIn(document: JsonObject): TracingRules {
  const { on, until, keep_last: keepLast, breakpoints } = isJsonObject(document) ? document : {}
  return {
    on: on === true,
    until: numberIn(until),
    keepLast: numberIn(keepLast) || KEEP_LAST,
    breakpoints: textsIn(breakpoints),
  }
}
