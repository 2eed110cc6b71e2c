import { andThen } from '../../shared/maybe-promise.ts'
import { defineFlow } from '../block.ts'
import { builderStorage } from '../builder-storage.ts'
import { documentGuid } from './document-guid.ts'

export default defineFlow({
  identifier: 'function_remove_document',
  title: 'Remove document',
  summary: 'Marks a document as removed. Searches and reads no longer find it; it can be restored.',
  in: {
    storage: { type: 'storage', required: true, help: 'The storage that holds the document.' },
    guid: { type: 'value', help: 'The _meta.guid of the document to remove.' },
    document: { type: 'document', help: 'The document to remove, if guid is empty.' },
  },
  out: {
    document: { type: 'document', help: 'The removed document; _meta.removed is the time.' },
    not_found: {
      type: 'flow',
      help: 'Continues here if there is no such document, or it is already removed.',
    },
  },
  settings: {},
  run(inputs, { session }) {
    return andThen(
      session.setRemoved(builderStorage(inputs.storage), documentGuid(inputs), true),
      (written) =>
        written.outcome === 'not_found' ? { next: 'not_found' as const } : { document: written.document },
    )
  },
})
