import { andThen } from '../../shared/maybe-promise.ts'
import { asSettings } from '../as-user.ts'
import { defineFlow } from '../block.ts'
import { builderStorage } from '../names.ts'
import { documentGuid } from './document-queries.ts'
import { conditionOut, conditionPin, writeCondition } from './document-writes.ts'

export default defineFlow({
  identifier: 'function_delete_document',
  title: 'Delete document',
  words: 'Delete {guid|document} from {storage}',
  summary:
    'Deletes a document permanently, also a removed one. It cannot be restored; use Remove document if it should be.',
  effects: { writes: 'deletes' },
  in: {
    storage: { type: 'storage', required: true, help: 'The storage that holds the document.' },
    guid: { type: 'value', help: 'The _meta.guid of the document to delete.' },
    document: { type: 'document', help: 'The document to delete, if guid is empty.' },
    if: conditionPin,
  },
  out: {
    document: { type: 'document', help: 'The last state of the document.' },
    not_found: { type: 'flow', help: 'Continues here if there is no such document.' },
    ...conditionOut,
  },
  settings: asSettings,
  run(inputs, { session }) {
    const condition = writeCondition(inputs.if)
    const change = session.delete(builderStorage(inputs.storage), documentGuid(inputs), condition)
    return andThen(change, (written) => {
      if (written.outcome === 'not_found') return { next: 'not_found' as const }
      const { document, outcome } = written
      return outcome === 'refused' ? { document, next: 'refused' as const } : { document }
    })
  },
})
