import { andThen } from '../../shared/maybe-promise.ts'
import { defineFlow } from '../block.ts'
import { builderStorage } from '../builder-storage.ts'
import { writingPins, writtenMutations } from './set-mutations.ts'

export default defineFlow({
  identifier: 'function_create_document_from_mutations',
  title: 'Create document',
  summary: 'Stores a new document with the fields that set, or mutations, name.',
  writes: 'creates',
  in: {
    storage: { type: 'storage', required: true, help: 'The storage for the document.' },
    ...writingPins,
  },
  out: {
    document: { type: 'document', help: 'The stored document, with its _meta and guid.' },
  },
  settings: {},
  run(inputs, { session }) {
    return andThen(session.create(builderStorage(inputs.storage), writtenMutations(inputs)), (document) => ({
      document,
    }))
  },
})
