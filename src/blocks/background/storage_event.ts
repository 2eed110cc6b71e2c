import { defineTrigger, PinError } from '../block.ts'
import { type DocumentEvent, documentEvents, isDocumentEvent } from '../document-event.ts'
import { jobRetriesIn, jobRetryPins } from '../job-retries.ts'
import { builderStorage } from '../names.ts'

export default defineTrigger({
  identifier: 'storage_event',
  title: 'Storage event',
  words: '{storage}: document {events}',
  summary:
    'Starts the flow after a document of a storage was created, changed, removed or deleted, by any writer. No event is lost. What the flow writes in one transaction is stored once, also after a crash. A flow that calls another server may call it twice, with the same job.',
  on: 'storage',
  in: {
    storage: { type: 'storage', required: true, help: 'The storage to watch.' },
    events: {
      type: 'array',
      required: true,
      help: 'A list of on_created, on_updated, on_saved (created or updated), on_removed and on_deleted.',
    },
    ...jobRetryPins,
  },
  out: {
    document: {
      type: 'document',
      help: 'The document right after the event. For on_deleted: its last state.',
    },
    previous: { type: 'document', help: 'The document before the event. Empty when it was created.' },
    fields_modified: {
      type: 'array',
      help: 'Names of the fields that changed, with dots where they are nested.',
    },
    revisions: {
      type: 'array',
      help: 'Each change: key, type (set.field, remove.field, array.add, array.remove), value, previous_value.',
    },
    event: { type: 'value', help: 'The event: the most specific of the chosen ones.' },
    job: { type: 'value', help: 'The same for every attempt of this event; use it to detect repeats.' },
  },
  settings: {},
  listen: (inputs) => ({
    storage: builderStorage(inputs.storage),
    events: chosen(inputs.events),
    retries: jobRetriesIn(inputs),
  }),
  start: ({ document, previous, fieldsModified, revisions, event, job }) => ({
    document,
    previous,
    fields_modified: fieldsModified,
    revisions,
    event,
    job,
  }),
})

function chosen(events: readonly unknown[]): readonly DocumentEvent[] {
  const known = events.filter(isDocumentEvent)
  if (known.length === 0 || known.length < events.length)
    throw new PinError('events', `must be a list of ${documentEvents.join(', ')}, of one at least`)
  return [...new Set(known)]
}
