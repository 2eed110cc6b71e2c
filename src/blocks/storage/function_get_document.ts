import { andThen } from '../../shared/maybe-promise.ts'
import { asSettings } from '../as-user.ts'
import { defineFlow, PinError } from '../block.ts'
import { builderStorage } from '../names.ts'
import { expanded, expandIn } from '../pins/query-pins.ts'

export default defineFlow({
  identifier: 'function_get_document',
  title: 'Get document',
  words: 'Get {guid} from {storage}',
  summary: 'Reads one document by its guid.',
  effects: { reads: true, cacheable: true },
  in: {
    storage: { type: 'storage', required: true, help: 'The storage that holds the document.' },
    guid: { type: 'value', required: true, help: 'The _meta.guid of the document.' },
    expand: expandIn,
  },
  out: {
    document: { type: 'document', help: 'The document.' },
    not_found: {
      type: 'flow',
      help: 'Continues here if there is no document with this guid, or it is removed.',
    },
  },
  settings: asSettings,
  run(inputs, context) {
    if (inputs.guid === '') throw new PinError('guid', 'is empty')
    const storage = builderStorage(inputs.storage)
    return andThen(context.session.get(storage, inputs.guid), (found) =>
      found
        ? andThen(expanded(context, storage, inputs.expand, found), (document) => ({ document }))
        : { next: 'not_found' as const },
    )
  },
})
