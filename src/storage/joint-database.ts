/**
 * A database for services that each make transactions of their own, where all that they write is to be one transaction: each of its
 * sessions is the same session, and what they commit is committed together, or not at all.
 *
 * What is no part of a transaction (tables, indexes) cannot be made meanwhile: the embedded engine has one writer, which the joint
 * session has. So the work is done twice: as a trial that is rolled back and lists what the services ask for, and again when all of
 * that is there. A storage that a trial asks for and that is not there yet has no documents.
 */
import { matchAll, search } from '../shared/query.ts'
import type { Database, Origin, Session, Transaction } from './database.ts'
import type { Needs } from './document-index.ts'
import { systemStorages } from './system-storages.ts'
import { keepsRules, type ValidatedDatabase } from './validated.ts'
import { TransparentSession, wrappedDatabase } from './wrapped-session.ts'

export interface JointWork {
  readonly database: ValidatedDatabase
  /** What the work asks for, in its order. */
  readonly needed: readonly (readonly [storage: string, needs: Needs | undefined])[]
  /** Rolled back whatever comes of it. */
  readonly isTrial: boolean
  /** Storages that go once the work is committed. */
  readonly dropped: readonly string[]
}

export interface JointOptions {
  readonly origin: Origin
  /** What a trial has asked for, and is there by now. */
  readonly prepared?: JointWork['needed']
  /** Rolled back whatever comes of it. */
  readonly trial: boolean
}

/** Commits what `work` has written, unless it throws or one of its services rolled back. */
export async function jointly<T>(
  database: ValidatedDatabase,
  { origin, trial, prepared = [] }: JointOptions,
  work: (joint: JointWork) => Promise<T>,
): Promise<T> {
  // Services compute between its statements, and a machine may be busy.
  const whole = database.session({ ...origin, isLong: true })
  const needed: [string, Needs | undefined][] = []
  const dropped: string[] = []
  const asked = new Set<string>()
  const ready = new Set(prepared.map((need) => JSON.stringify(need)))
  const session = new JointSession(whole, (storage) => asked.has(storage) && !database.has(storage))
  const { capabilities } = database
  const joint = wrappedDatabase(database, {
    session: () => session,
    has: (name) => database.has(name) || asked.has(name),
    async ensure(name, needs) {
      needed.push([name, needs])
      asked.add(name)
      if (!trial && !ready.has(JSON.stringify([name, needs]))) await database.ensure(name, needs)
    },
    async drop(name) {
      dropped.push(name)
    },
    capabilities: {
      ...capabilities,
      // The caller holds what it needs.
      withClusterLock: (_key, alone) => alone(),
      indexes: {
        of: (storage) => capabilities.indexes.of(storage),
        release: async () => undefined,
        slow: (storage) => capabilities.indexes.slow(storage),
        preparing: () => capabilities.indexes.preparing(),
      },
    },
  } satisfies Partial<Database>)
  try {
    const result = await work({ database: { ...joint, [keepsRules]: true }, needed, dropped, isTrial: trial })
    if (session.wasRolledBack)
      throw new TypeError('A part of the work was rolled back, and the rest went on.')
    if (trial) await whole.transaction.rollback()
    else await whole.transaction.commit()
    return result
  } catch (error) {
    await whole.transaction.rollback()
    throw error
  }
}

/** Its transaction ends with that of the whole. */
class JointSession extends TransparentSession implements Transaction {
  wasRolledBack = false
  readonly #isEmpty: (storage: string) => boolean

  constructor(session: Session, isEmpty: (storage: string) => boolean) {
    super(session)
    this.#isEmpty = isEmpty
  }

  override find(storage: string, requested: Parameters<Session['find']>[1]) {
    if (!this.#isEmpty(storage)) return super.find(storage, requested)
    const query = { kind: 'not', query: matchAll } as const
    return super.find(systemStorages.storages, search({ query, limit: 1 }))
  }

  override count(storage: string, ...rest: [Parameters<Session['count']>[1], boolean?]) {
    return this.#isEmpty(storage) ? 0 : super.count(storage, ...rest)
  }

  override commit(): undefined {
    return undefined
  }

  override rollback(): undefined {
    this.wasRolledBack = true
    return undefined
  }
}
