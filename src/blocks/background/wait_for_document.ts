import { andThen } from '../../shared/maybe-promise.ts'
import { defineFlow, PinError } from '../block.ts'
import { builderStorage } from '../builder-storage.ts'
import { versionIn, waitSettings, waitTime } from '../pins/wait-time.ts'
import { whereIn } from '../pins/where-pin.ts'
import { referringQuery, refuseReferring } from '../referring-query.ts'

export default defineFlow({
  identifier: 'wait_for_document',
  title: 'Wait for document',
  words: 'Wait for one of {storage}[ where {where|query}]',
  summary:
    'Stores the run in its own transaction and continues it when a document of the storage fits a condition: one that is created or changed so that it fits, or that fits already.',
  enqueues: true,
  ends: true,
  awaitsDocuments: true,
  waits: ['found', 'timeout'],
  in: {
    storage: { type: 'storage', required: true, help: 'The storage of the document.' },
    query: { type: 'query', help: 'Query that the document fits.' },
    where: whereIn,
    for: { type: 'value', help: 'How long: seconds, or 30s, 5m, 2h, 1d. Then the run continues at timeout.' },
    until: { type: 'date', help: 'Until when. Without for and until, it waits until a document fits.' },
  },
  out: {
    found: { type: 'flow', help: 'Continues here, later, when a document fits.' },
    timeout: { type: 'flow', help: 'Continues here when its time is over and no document fitted.' },
    now: { type: 'flow', help: 'Goes on at once in the present run, which ends without waiting.' },
    wait: { type: 'value', help: 'The guid of the wait.' },
    guid: {
      type: 'value',
      help: 'At found: the guid of a document that fitted. It may have changed again since.',
    },
  },
  settings: waitSettings,
  run({ storage: name, query, where, for: duration, until }, context) {
    const storage = builderStorage(name)
    if (!query && !where)
      throw new PinError('where', 'or query must have a condition: else any document ends the wait')
    const time = waitTime(duration, until, context.now())
    const title = context.settings.title || `Document of ${storage}`
    const refused = where && refuseReferring(context, storage, where)
    const asked = andThen(refused, () => referringQuery(context, storage, { query, where }))
    const wait = andThen(asked, (condition) =>
      context.wait({
        ...{ kind: 'document', title, awaits: { storage, query: condition } },
        ...(time !== undefined && { until: { time, gives: { next: 'timeout' } } }),
        version: versionIn(context.settings),
      }),
    )
    return andThen(wait, ({ guid }) => ({ wait: guid, next: 'now' }))
  },
})
