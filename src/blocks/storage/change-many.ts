/** What the blocks have in common that change, remove and delete all documents that match. */
import { QuoinError } from '../../shared/errors.ts'
import type { Mutation } from '../../shared/mutation.ts'
import type { Query } from '../../shared/query.ts'
import { changeAtOnce } from '../../storage/many/change-documents.ts'
import { type ManyChange, type ManyKind, restoring } from '../../storage/many/many-change.ts'
import { actsAsUser } from '../as-user.ts'
import { PinError } from '../block.ts'
import type { FlowContext } from '../context.ts'
import { builderStorage } from '../names.ts'
import type { InPin, OutPin } from '../pin.ts'
import { refuseReferring } from '../referring-query.ts'

/**
 * Documents in one transaction. 1,000 updates of documents of 1 KB with a unique field, free text and an event took 0.35 s on
 * SQLite and 1.6 s on PostgreSQL, of the five that a transaction may take, and no turn of the event loop was over 16 ms.
 */
const MOST_AT_ONCE = 1_000

export const manyIn = {
  storage: { type: 'storage', required: true, help: 'The storage that holds the documents.' },
  where: {
    type: 'query',
    language: 'where',
    maybe: false,
    required: true,
    help: 'Condition on each document, doc: doc.status == "open" && doc.due < today(). For all documents: true.',
  },
} as const satisfies Readonly<Record<string, InPin>>

export const backgroundIn = {
  in_background: {
    type: 'condition',
    default: false,
    help: `For any number of documents: a job goes through them in batches, each in a transaction of its own, and continues after a crash. It skips and counts documents whose change is refused. Without it more than ${MOST_AT_ONCE.toLocaleString('en-US')} documents are refused, and all are changed or none.`,
  },
} as const satisfies Readonly<Record<string, InPin>>

export const manyOut = {
  count: {
    type: 'number',
    help: 'Number of documents changed; with in_background, number that match when the job is stored.',
  },
  job: {
    type: 'value',
    help: 'The guid of the job, with in_background. Its progress is at GET /queue/{guid}; DELETE cancels it between two batches.',
  },
} as const satisfies Readonly<Record<string, OutPin>>

interface Requested {
  readonly kind: ManyKind
  readonly storage: string
  readonly where: Query
  readonly inBackground: boolean
  readonly includeRemoved?: boolean
  readonly mutations?: readonly Mutation[]
}

export async function changeMany(
  { kind, storage, where, inBackground, includeRemoved = false, mutations = [] }: Requested,
  context: Pick<FlowContext, 'session' | 'signal' | 'changeLater' | 'references' | 'settings'>,
): Promise<{ readonly count: number; readonly job?: string }> {
  const name = builderStorage(storage)
  const change: ManyChange =
    kind === 'restore'
      ? restoring(name, where)
      : { kind, storage: name, query: where, includeRemoved, mutations }
  await refuseReferring(context, change.storage, where)
  const { session, signal } = context
  const count = await session.count(change.storage, change.query, change.includeRemoved)
  if (inBackground) {
    if (actsAsUser(context.settings))
      throw new PinError('in_background', 'cannot be used as the user: a job is run by the application')
    const job = await context.changeLater(change)
    return { count, ...(job !== undefined && { job }) }
  }
  if (count > MOST_AT_ONCE) throw tooMany(change.storage, count)
  return { count: await changeAtOnce(session, change, signal) }
}

function tooMany(storage: string, count: number): QuoinError {
  const [matching, most] = [count, MOST_AT_ONCE].map((number) => number.toLocaleString('en-US'))
  return new QuoinError(
    'INVALID_QUERY',
    `The condition matches ${matching} documents of the storage ${storage}, and at most ${most} are changed at once. Narrow it, or set in_background on the block.`,
  )
}
