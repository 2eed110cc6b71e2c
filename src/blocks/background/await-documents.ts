/** What `wait_for_document` and `wait_for_no_document` share: their pins, and how the run is stored until documents end it. */
import { andThen, type MaybePromise } from '../../shared/maybe-promise.ts'
import type { Query } from '../../shared/query.ts'
import { PinError } from '../block.ts'
import type { FlowContext } from '../context.ts'
import { builderStorage } from '../names.ts'
import type { InPin, OutPin } from '../pin.ts'
import { whereIn } from '../pins/query-pins.ts'
import { versionIn, type waitSettings, waitTime } from '../pins/wait-time.ts'
import { referringQuery, refuseReferring } from '../referring-query.ts'

export const awaitingIn = {
  storage: { type: 'storage', required: true, help: 'The storage of the documents.' },
  query: { type: 'query', help: 'Query that documents fit.' },
  where: whereIn,
  for: { type: 'value', help: 'How long: seconds, or 30s, 5m, 2h, 1d. Then the run continues at timeout.' },
  until: { type: 'date', help: 'Until when. Without for and until, it waits without an end.' },
} as const satisfies Record<string, InPin>

export const awaitingOut = {
  timeout: { type: 'flow', help: 'Continues here when its time is over.' },
  now: { type: 'flow', help: 'Goes on at once in the present run, which ends without waiting.' },
  wait: { type: 'value', help: 'The guid of the wait.' },
} as const satisfies Record<string, OutPin>

interface Awaited {
  readonly storage: string
  readonly query: Query | undefined
  readonly where: Query | undefined
  readonly for: string | undefined
  readonly until: Date | undefined
}

/** Stores the run until a document fits; with `none`, until none does. */
export function awaitDocuments(
  { storage: name, query, where, for: duration, until }: Awaited,
  context: FlowContext<typeof waitSettings>,
  none: boolean,
): MaybePromise<{ readonly wait: string; readonly next: 'now' }> {
  const storage = builderStorage(name)
  if (!query && !where)
    throw new PinError(
      'where',
      `or query must have a condition: else any document ${none ? 'keeps' : 'ends'} the wait`,
    )
  const time = waitTime(duration, until, context.now())
  const title = context.settings.title || `${none ? 'No document' : 'Document'} of ${storage}`
  const refused = where && refuseReferring(context, storage, where)
  const asked = andThen(refused, () => referringQuery(context, storage, { query, where }))
  const wait = andThen(asked, (condition) =>
    context.wait({
      ...{ kind: 'document', title, awaits: { storage, query: condition, ...(none && { none }) } },
      ...(time !== undefined && { until: { time, gives: { next: 'timeout' } } }),
      version: versionIn(context.settings),
    }),
  )
  return andThen(wait, ({ guid }) => ({ wait: guid, next: 'now' }))
}
