import { andThen } from '../../shared/maybe-promise.ts'
import { defineFlow } from '../block.ts'
import { builderStorage } from '../builder-storage.ts'
import { documentGuid } from './document-guid.ts'

export default defineFlow({
  identifier: 'function_update_document_mutations',
  title: 'Update document',
  summary:
    'Changes the fields of a document that the mutations name, and leaves the others as they are. Changes by several requests at once all take effect, one after another.',
  in: {
    storage: { type: 'storage', required: true, help: 'The storage that holds the document.' },
    guid: { type: 'value', help: 'The _meta.guid of the document to change.' },
    document: { type: 'document', help: 'The document to change, if guid is empty.' },
    mutations: { type: 'mutations', required: true, help: 'What to change.' },
    update_hash: {
      type: 'value',
      help: 'The _meta.update_hash that the document must still have. Use it when somebody edited a copy that may be out of date. Empty: not checked.',
    },
  },
  out: {
    document: { type: 'document', help: 'The document as it is now, changed or, after conflict, unchanged.' },
    not_found: {
      type: 'flow',
      help: 'Taken instead of flow when there is no such document, or it was removed.',
    },
    conflict: {
      type: 'flow',
      help: 'Taken instead of flow when update_hash is not the document’s any more; nothing was changed.',
    },
  },
  settings: {},
  run(inputs, { session }) {
    const options = inputs.update_hash ? { updateHash: inputs.update_hash } : {}
    const update = session.update(
      builderStorage(inputs.storage),
      documentGuid(inputs),
      inputs.mutations,
      options,
    )
    return andThen(update, (written) => {
      if (written.outcome === 'not_found') return { next: 'not_found' as const }
      if (written.outcome === 'conflict') return { document: written.document, next: 'conflict' as const }
      return { document: written.document }
    })
  },
})
