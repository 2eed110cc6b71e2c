/**
 * Sends the audit log to a receiver, in the order of its chain. The position is stored behind each batch, so every record arrives at least once; a
 * record that was sent and whose position was not stored comes again, with the same `place`. Writers never wait for it: a receiver that is down
 * costs nothing but records that wait in the database.
 */
import type { Clock } from '../../shared/clock.ts'
import { setFields } from '../../shared/mutation.ts'
import { isLeader } from '../../storage/capabilities.ts'
import type { Database } from '../../storage/database.ts'
import { guidOf, numberIn } from '../../storage/document-fields.ts'
import { findOne } from '../../storage/find-documents.ts'
import { systemStorages } from '../../storage/system-storages.ts'
import { transact } from '../../storage/transact.ts'
import { type ChainedRecord, endOfChain, readChain } from '../audit-chain.ts'
import { periodicTask } from '../periodic-task.ts'
import type { AuditReceiver } from './audit-receiver.ts'

const { auditStreams } = systemStorages
const NAME = 'audit'
/** Records of one batch: at most 130 KiB each. After a failure half as many, and one more after each batch that arrives. */
const BATCH = 50
/** Of a batch, or one record: many receivers take a megabyte. */
const MOST_BYTES = 512 * 1024
const EVERY = 1_000
/** Of each open space: there may be hundreds. */
const EVERY_OF_SPACE = 5_000
const LONGEST_WAIT = 60_000
/** From which on `/health/ready` says that records wait. */
const LATE = 60_000
/** Failures in a row that are reported: the third, and then about one an hour. */
const REPORTED = 3
const AGAIN = 60

export interface AuditStream {
  /** Whether a record has waited for more than a minute, as this node has seen it last. */
  isLate(): boolean
  /** Sends what waits, behind the look under way. */
  run(): Promise<void>
  close(): Promise<void>
}

interface StreamParts {
  readonly database: Database
  readonly clock: Clock
  readonly receiver: AuditReceiver
  readonly failed: (message: string) => void
  readonly ofSpace?: boolean
}

/** Records from before the first start with a receiver are not sent: an export has them. */
export async function openAuditStream(parts: StreamParts): Promise<AuditStream> {
  const { database, clock, failed, ofSpace = false } = parts
  await database.ensure(auditStreams, { indexes: [{ fields: ['name'], unique: true }] })
  const alone = <T>(work: () => Promise<T>) => database.capabilities.withClusterLock('audit stream', work)
  await alone(() => beginStream(database))
  const closing = new AbortController()
  let failures = 0
  let most = BATCH
  let oldest: number | undefined

  const progress = {
    most: () => most,
    arrived() {
      failures = 0
      most = Math.min(BATCH, most + 1)
    },
  }

  async function look(): Promise<void> {
    try {
      oldest = (await readChain(database, await positionOf(database), 1))[0]?.at
      if (oldest === undefined || !(await isLeader(database.capabilities))) return
      await alone(() => sendAll(parts, closing.signal, progress))
      oldest = undefined
      failures = 0
    } catch (error) {
      if (closing.signal.aborted) return
      failures += 1
      most = Math.ceil(most / 2)
      if (failures % AGAIN === REPORTED) failed(failureText(failures, error))
    }
  }
  const wait = () => Math.min(LONGEST_WAIT, (ofSpace ? EVERY_OF_SPACE : EVERY) * 2 ** Math.min(failures, 6))
  const looks = periodicTask(wait, look)
  return {
    isLate: () => oldest !== undefined && clock() - oldest > LATE,
    run: looks.run,
    async close() {
      closing.abort()
      await looks.close()
    },
  }
}

interface Progress {
  /** Records of the next batch. */
  readonly most: () => number
  readonly arrived: () => void
}

async function sendAll(
  { database, receiver }: StreamParts,
  signal: AbortSignal,
  { most, arrived }: Progress,
): Promise<void> {
  for (;;) {
    const entries = withinBytes(await readChain(database, await positionOf(database), most()))
    const last = entries.at(-1)
    if (last === undefined || signal.aborted) return
    await receiver.send(entries, signal)
    await storePosition(database, last.place)
    arrived()
  }
}

/** The first ones, as many as have so many bytes together; at least one. */
function withinBytes(entries: readonly ChainedRecord[]): readonly ChainedRecord[] {
  let bytes = 0
  const end = entries.findIndex((entry, at) => {
    bytes += Buffer.byteLength(JSON.stringify(entry))
    return at > 0 && bytes > MOST_BYTES
  })
  return end < 0 ? entries : entries.slice(0, end)
}

async function beginStream(database: Database): Promise<void> {
  if (await findOne(database.session(), auditStreams, 'name', NAME)) return
  const place = await endOfChain(database)
  await transact(database, async (session) => session.create(auditStreams, setFields({ name: NAME, place })))
}

async function positionOf(database: Database): Promise<number> {
  return numberIn((await findOne(database.session(), auditStreams, 'name', NAME))?.place)
}

/** Only forward: for a moment two nodes may take themselves for the one that sends. */
async function storePosition(database: Database, place: number): Promise<void> {
  await transact(database, async (session) => {
    const stored = await findOne(session, auditStreams, 'name', NAME)
    if (stored && numberIn(stored.place) < place)
      await session.update(auditStreams, guidOf(stored), setFields({ place }))
  })
}

function failureText(failures: number, error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? ` (${error.cause.message})` : ''
  return `The audit log could not be sent ${failures} times in a row: ${String(error)}${cause}. Its records are stored, and are sent when the receiver of QUOIN_AUDIT_STREAM answers again.`
}
