import { andThen } from '../../shared/maybe-promise.ts'
import { asSettings } from '../as-user.ts'
import { defineFlow } from '../block.ts'
import { builderStorage } from '../names.ts'
import { documentGuid } from './document-queries.ts'
import {
  conditionOut,
  conditionPin,
  orTaken,
  takenOut,
  writeCondition,
  writingPins,
  writtenMutations,
} from './document-writes.ts'

export default defineFlow({
  identifier: 'function_update_document_mutations',
  title: 'Update document',
  words: 'Update {guid|document} in {storage}[ with {set|mutations}]',
  summary:
    'Changes the fields of a document that set, or mutations, name; other fields stay unchanged. Simultaneous changes all take effect, one after another.',
  effects: { writes: 'changes' },
  in: {
    storage: { type: 'storage', required: true, help: 'The storage that holds the document.' },
    guid: { type: 'value', help: 'The _meta.guid of the document to change.' },
    document: { type: 'document', help: 'The document to change, if guid is empty.' },
    ...writingPins,
    if: conditionPin,
    update_hash: {
      type: 'value',
      help: 'The _meta.update_hash that the document must still have. Use it when the change is based on a copy that may be outdated. Empty: not checked.',
    },
  },
  out: {
    document: {
      type: 'document',
      help: 'The current document: changed or, after conflict and refused, unchanged.',
    },
    not_found: {
      type: 'flow',
      help: 'Continues here if there is no such document, or it is removed.',
    },
    conflict: {
      type: 'flow',
      help: 'Continues here if update_hash is outdated, or another document has the value of a unique field; nothing was changed.',
    },
    ...takenOut,
    ...conditionOut,
  },
  settings: asSettings,
  run(inputs, { session }) {
    const storage = builderStorage(inputs.storage)
    const guid = documentGuid(inputs)
    const mutations = writtenMutations(inputs)
    const condition = writeCondition(inputs.if, inputs.update_hash)
    const update = () =>
      andThen(session.update(storage, guid, mutations, condition), (written) => {
        if (written.outcome === 'not_found') return { next: 'not_found' as const }
        const { document, outcome } = written
        return outcome === 'written' ? { document } : { document, next: outcome }
      })
    return orTaken(update, (taken) =>
      andThen(session.get(storage, guid), (document) => ({
        ...(document && { document }),
        taken,
        next: 'conflict' as const,
      })),
    )
  },
})
