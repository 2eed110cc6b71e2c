/**
 * What a space may store and run. Counted in its own database: at most every ten seconds, and again before something is refused.
 * Between two counts this node adds what it has created itself, and always what its transactions have created that did not end yet: so
 * one node never stores more; of several, each may add what it creates in these seconds.
 */
import type { RunFlow } from '../flows/run/run-start.ts'
import type { SpaceQuotas, SpaceUsage } from '../shared/api/operate/spaces.ts'
import type { Clock } from '../shared/clock.ts'
import { QuoinError } from '../shared/errors.ts'
import { andThen, type MaybePromise, recover } from '../shared/maybe-promise.ts'
import type { Mutation } from '../shared/mutation.ts'
import { matchAll } from '../shared/query.ts'
import type { CreateOptions, Database, NewDocument, Session, WriteCondition } from '../storage/database.ts'
import { numberIn, objectsIn } from '../storage/document-fields.ts'
import type { NewJob } from '../storage/job.ts'
import { isOwnStorage, systemStorages } from '../storage/system-storages.ts'
import { SerializationConflict } from '../storage/unit-of-work.ts'
import { keepsRules, type RawDatabase } from '../storage/validated.ts'
import { TransparentSession, wrappedDatabase } from '../storage/wrapped-session.ts'

const FRESH_MS = 10_000
/** Between two counts of a space that is full. */
const AGAIN_MS = 1_000
const MINUTE = 60_000

export interface SpaceLimits {
  /** The database with sessions that refuse what is too much. */
  readonly database: RawDatabase
  /** The same runs; those of requests are refused beyond the runs of a minute. */
  limited(run: RunFlow): RunFlow
  usage(): Promise<SpaceUsage>
}

export function spaceLimits(database: RawDatabase, quotas: () => SpaceQuotas, clock: Clock): SpaceLimits {
  const counts = new SpaceCounts(database, quotas, clock)
  const limited = wrappedDatabase(database, {
    session: (origin) => new CountingSession(database.session(origin), counts),
  })
  return {
    database: { ...limited, [keepsRules]: false },
    limited: (run) => (start) => {
      const late = counts.addRun()
      if (late === undefined || start.request === undefined) return run(start)
      const message = 'The space has run as often as it may in a minute. Try again.'
      const error = new QuoinError('RATE_LIMITED', message, { retryAfter: late })
      return { run: '', replied: false, error, result: undefined }
    },
    usage: async () => ({ ...(await counts.count()), runs: counts.runs() }),
  }
}

type Counted = Omit<SpaceUsage, 'runs'>
type Added = Pick<Counted, 'documents' | 'jobs'>

class SpaceCounts {
  readonly #database: Database
  readonly #quotas: () => SpaceQuotas
  readonly #clock: Clock
  #known: Counted | undefined
  #at = Number.NEGATIVE_INFINITY
  #counting: Promise<Counted> | undefined
  /** Of transactions that did not end when the last count began, and of those that began since. */
  readonly #added = { documents: 0, jobs: 0 }
  /** Those of them that are committed: the next count sees them. */
  readonly #committed = { documents: 0, jobs: 0 }
  #minute = 0
  #runs = 0

  constructor(database: Database, quotas: () => SpaceQuotas, clock: Clock) {
    this.#database = database
    this.#quotas = quotas
    this.#clock = clock
  }

  /** Before documents are written; `more`: how many of them are new. Gives how many count until {@link takeBack} or {@link commit}. */
  beforeWrite(storage: string, more: number): MaybePromise<number> {
    const { documents, bytes } = this.#quotas()
    if (documents + bytes === 0 || !isCounted(storage)) return 0
    const added = isOwnStorage(storage) ? 0 : more
    return andThen(
      this.#fresh((known) => this.#problem(known, added) !== undefined),
      (known) => {
        const problem = this.#problem(known, added)
        if (problem !== undefined) throw full(problem)
        this.#added.documents += added
        return added
      },
    )
  }

  /** Gives how many jobs count from now on. Own work is never refused: a wait that has ended, the rest of a mail, a deploy. */
  beforeJob({ requested = false }: NewJob): MaybePromise<number> {
    const { jobs } = this.#quotas()
    if (jobs === 0) return 0
    if (!requested) {
      this.#added.jobs += 1
      return 1
    }
    const isFull = (known: Counted) => known.jobs + this.#added.jobs >= jobs
    return andThen(this.#fresh(isFull), (known) => {
      if (isFull(known)) throw full(`has ${jobs} jobs that wait or run, as many as it may`)
      this.#added.jobs += 1
      return 1
    })
  }

  /** What was not stored after all. */
  takeBack({ documents, jobs }: Added): void {
    this.#added.documents -= documents
    this.#added.jobs -= jobs
  }

  commit({ documents, jobs }: Added): void {
    this.#committed.documents += documents
    this.#committed.jobs += jobs
  }

  /** Seconds until there are runs again; undefined where there are. */
  addRun(): number | undefined {
    const now = this.#clock()
    const minute = Math.floor(now / MINUTE)
    if (minute !== this.#minute) this.#runs = 0
    this.#minute = minute
    const { runs_a_minute: most } = this.#quotas()
    if (most > 0 && this.#runs >= most) return Math.max(1, Math.ceil(((minute + 1) * MINUTE - now) / 1000))
    this.#runs += 1
    return undefined
  }

  /** Of this minute, on this node. */
  runs(): number {
    return Math.floor(this.#clock() / MINUTE) === this.#minute ? this.#runs : 0
  }

  /** Those who ask meanwhile share one count. */
  count(): Promise<Counted> {
    // What is committed meanwhile may be in it or not.
    const seen = { ...this.#committed }
    this.#counting ??= countAll(this.#database)
      .then((counted) => {
        this.#known = counted
        this.#at = this.#clock()
        this.takeBack(seen)
        this.#committed.documents -= seen.documents
        this.#committed.jobs -= seen.jobs
        return counted
      })
      .finally(() => {
        this.#counting = undefined
      })
    return this.#counting
  }

  #problem({ documents, bytes }: Counted, more: number): string | undefined {
    const most = this.#quotas()
    if (most.documents > 0 && more > 0 && documents + this.#added.documents + more > most.documents)
      return `holds at most ${most.documents} documents`
    return most.bytes > 0 && bytes >= most.bytes ? `holds at most ${most.bytes} bytes` : undefined
  }

  #fresh(isRefused: (known: Counted) => boolean): MaybePromise<Counted> {
    const age = this.#clock() - this.#at
    const known = this.#known
    if (known === undefined || age >= FRESH_MS || age < 0) return this.count()
    return age >= AGAIN_MS && isRefused(known) ? this.count() : known
  }
}

/** Documents of builders, uploaded files, and images that are made of them. Users, logs and deployments are written also in a space that is full. */
function isCounted(storage: string): boolean {
  return !isOwnStorage(storage) || storage === systemStorages.assets || storage === systemStorages.assetImages
}

function full(what: string): QuoinError {
  return new QuoinError('QUOTA_EXCEEDED', `The space ${what}. Nothing was stored.`)
}

async function countAll(database: Database): Promise<Counted> {
  const session = database.session()
  const { capabilities } = database
  let documents = 0
  for (const name of database.names())
    if (!isOwnStorage(name)) documents += await session.count(name, matchAll)
  const { sizeBytes, freeBytes } = await capabilities.figures()
  const queues = await capabilities.queues.list()
  const jobs = queues.reduce((sum, { waiting, running }) => sum + waiting + running, 0)
  return { documents, bytes: sizeBytes - freeBytes + (await fileBytes(database, session)), jobs }
}

/** Of uploaded files and images that were made of them, wherever they lie. */
async function fileBytes(database: Database, session: Session): Promise<number> {
  let bytes = 0
  for (const storage of [systemStorages.assets, systemStorages.assetImages]) {
    if (!database.has(storage)) continue
    const { rows } = await session.aggregate(storage, {
      ...{ query: matchAll, groups: [], order: [], limit: 1 },
      values: [{ figure: 'sum', field: 'size', as: 'bytes' }],
    })
    const [row] = objectsIn(rows.value)
    bytes += numberIn(row?.bytes)
  }
  return bytes
}

const NOTHING: Added = { documents: 0, jobs: 0 }

/** What it has added counts until it is rolled back, or committed and counted. */
class CountingSession extends TransparentSession {
  declare readonly counts: SpaceCounts
  declare added: Added
  /** Rolled back: what a write that was under way has added is not there. */
  declare isOver: boolean

  constructor(session: Session, counts: SpaceCounts) {
    super(session)
    this.counts = counts
    this.added = NOTHING
    this.isOver = false
  }

  override create(storage: string, mutations: readonly Mutation[], options?: CreateOptions) {
    const create = () => super.create(storage, mutations, options)
    return this.adding(storage, 1, create, () => 1)
  }

  override createAll(storage: string, documents: readonly NewDocument[]) {
    const create = () => super.createAll(storage, documents)
    return this.adding(storage, documents.length, create, (created) => created.documents.length)
  }

  override update(storage: string, guid: string, mutations: readonly Mutation[], options?: WriteCondition) {
    return andThen(this.counts.beforeWrite(storage, 0), () => super.update(storage, guid, mutations, options))
  }

  /** A restored document is one more; removing one works also in a space that is full. */
  override setRemoved(storage: string, guid: string, removed: boolean, options?: WriteCondition) {
    const set = () => super.setRemoved(storage, guid, removed, options)
    return removed ? set() : this.adding(storage, 1, set, ({ outcome }) => (outcome === 'written' ? 1 : 0))
  }

  override enqueue(job: NewJob) {
    const enqueue = () => super.enqueue(job)
    return andThen(this.counts.beforeJob(job), (jobs) =>
      this.writing({ documents: 0, jobs }, enqueue, (guid) => ({
        documents: 0,
        jobs: guid === undefined ? 0 : jobs,
      })),
    )
  }

  override commit() {
    const { added } = this
    this.added = NOTHING
    if (added === NOTHING) return super.commit()
    const commit = () => super.commit()
    const failed = (error: unknown) => {
      // Of another error it is not known whether it is stored.
      if (error instanceof SerializationConflict) this.counts.takeBack(added)
      else this.counts.commit(added)
      throw error
    }
    return andThen(recover(commit, failed), () => this.counts.commit(added))
  }

  override rollback() {
    this.isOver = true
    const takeBack = () => {
      this.counts.takeBack(this.added)
      this.added = NOTHING
    }
    const failed = (error: unknown) => {
      takeBack()
      throw error
    }
    return andThen(
      recover(() => super.rollback(), failed),
      takeBack,
    )
  }

  protected adding<T>(
    storage: string,
    more: number,
    write: () => MaybePromise<T>,
    made: (written: T) => number,
  ): MaybePromise<T> {
    return andThen(this.counts.beforeWrite(storage, more), (documents) =>
      this.writing({ documents, jobs: 0 }, write, (written) => ({
        documents: Math.min(documents, made(written)),
        jobs: 0,
      })),
    )
  }

  protected writing<T>(
    asked: Added,
    write: () => MaybePromise<T>,
    made: (written: T) => Added,
  ): MaybePromise<T> {
    if (asked.documents + asked.jobs === 0) return write()
    const failed = (error: unknown) => {
      this.counts.takeBack(asked)
      throw error
    }
    return andThen(recover(write, failed), (written) => {
      const { documents, jobs } = made(written)
      this.counts.takeBack({ documents: asked.documents - documents, jobs: asked.jobs - jobs })
      if (this.isOver) this.counts.takeBack({ documents, jobs })
      else this.added = { documents: this.added.documents + documents, jobs: this.added.jobs + jobs }
      return written
    })
  }
}
