import { andThen } from '../../shared/maybe-promise.ts'
import { asSettings } from '../as-user.ts'
import { defineFlow } from '../block.ts'
import { builderStorage } from '../names.ts'
import { documentGuid } from './document-queries.ts'
import { conditionOut, conditionPin, writeCondition } from './document-writes.ts'

export default defineFlow({
  identifier: 'function_remove_document',
  title: 'Remove document',
  words: 'Remove {guid|document} from {storage}',
  summary: 'Marks a document as removed. Searches and reads no longer find it; it can be restored.',
  effects: { writes: 'removes' },
  in: {
    storage: { type: 'storage', required: true, help: 'The storage that holds the document.' },
    guid: { type: 'value', help: 'The _meta.guid of the document to remove.' },
    document: { type: 'document', help: 'The document to remove, if guid is empty.' },
    if: conditionPin,
  },
  out: {
    document: { type: 'document', help: 'The removed document; _meta.removed is the time.' },
    not_found: {
      type: 'flow',
      help: 'Continues here if there is no such document, or it is already removed.',
    },
    ...conditionOut,
  },
  settings: asSettings,
  run(inputs, { session }) {
    const condition = writeCondition(inputs.if)
    const change = session.setRemoved(builderStorage(inputs.storage), documentGuid(inputs), true, condition)
    return andThen(change, (written) => {
      if (written.outcome === 'not_found') return { next: 'not_found' as const }
      const { document, outcome } = written
      return outcome === 'refused' ? { document, next: 'refused' as const } : { document }
    })
  },
})
