/**
 * The same change to many documents of a storage, for the management API: up to 1,000 in one transaction, all of them or none;
 * any number as a job, which goes through them in batches and continues after a crash.
 */
import { auditMany } from '../../records/audited-documents.ts'
import { refuseReferring } from '../../records/documents/referred-documents.ts'
import type { Actor } from '../../records/records.ts'
import { type PermittedContext, storageNamed } from '../../records/storage-records.ts'
import { QuoinError } from '../../shared/errors.ts'
import { changeAtOnce } from '../../storage/many/change-documents.ts'
import type { ManyChange } from '../../storage/many/many-change.ts'
import { transact } from '../../storage/transact.ts'
import { manyChangeJob } from '../run/job-payload.ts'

/** Documents in one transaction, as in blocks: 1,000 updates take 0.35 s on SQLite and 1.6 s on PostgreSQL. */
const MOST_AT_ONCE = 1_000

export interface StoredChange extends Omit<ManyChange, 'storage'> {
  readonly inBackground: boolean
}

export interface StoredChanges {
  /** Documents changed; with a job, those that match when it is stored. */
  readonly count: number
  readonly job: string | null
  /** The guid under which the history has the writes. */
  readonly run: string
}

/** `guid`: of the storage. INVALID_QUERY for more documents than go at once; INVALID_BODY and CONFLICT where one is refused. */
export async function changeStored(
  context: PermittedContext,
  guid: string,
  { inBackground, ...requested }: StoredChange,
  { by, run }: { readonly by: Actor; readonly run: string },
): Promise<StoredChanges> {
  const storage = await storageNamed(context, guid)
  const change: ManyChange = { ...requested, storage }
  const { database } = context.records
  return transact(
    database,
    async (session) => {
      await refuseReferring(session, storage, change.query)
      const matching = await session.count(storage, change.query, change.includeRemoved)
      if (!inBackground && matching > MOST_AT_ONCE) throw tooMany(matching)
      const job = inBackground
        ? await session.enqueue({ ...manyChangeJob(change, { user: by }), requested: true })
        : undefined
      const count = inBackground
        ? matching
        : await changeAtOnce(session, change, new AbortController().signal)
      await auditMany(context.audit, session, change, { documents: count, ...(job !== undefined && { job }) })
      return { count, job: job ?? null, run: job ?? run }
    },
    { user: by, run },
  )
}

function tooMany(matching: number): QuoinError {
  const [count, most] = [matching, MOST_AT_ONCE].map((number) => number.toLocaleString('en-US'))
  return new QuoinError(
    'INVALID_QUERY',
    `The filters match ${count} documents, and at most ${most} are changed at once. Narrow them, or send in_background.`,
    { fields: ['filters'] },
  )
}
