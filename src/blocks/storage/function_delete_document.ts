import { andThen } from '../../shared/maybe-promise.ts'
import { defineFlow } from '../block.ts'
import { builderStorage } from '../builder-storage.ts'
import { documentGuid } from './document-guid.ts'

export default defineFlow({
  identifier: 'function_delete_document',
  title: 'Delete document',
  summary:
    'Deletes a document permanently, also a removed one. It cannot be restored; use Remove document if it should be.',
  in: {
    storage: { type: 'storage', required: true, help: 'The storage that holds the document.' },
    guid: { type: 'value', help: 'The _meta.guid of the document to delete.' },
    document: { type: 'document', help: 'The document to delete, if guid is empty.' },
  },
  out: {
    document: { type: 'document', help: 'The last state of the document.' },
    not_found: { type: 'flow', help: 'Continues here if there is no such document.' },
  },
  settings: {},
  run(inputs, { session }) {
    return andThen(session.delete(builderStorage(inputs.storage), documentGuid(inputs)), (written) =>
      written.outcome === 'not_found' ? { next: 'not_found' as const } : { document: written.document },
    )
  },
})
