import { andThen } from '../../shared/maybe-promise.ts'
import { defineFlow } from '../block.ts'
import { builderStorage } from '../builder-storage.ts'

export default defineFlow({
  identifier: 'function_create_document_from_mutations',
  title: 'Create document',
  summary: 'Stores a new document with the fields that the mutations set.',
  in: {
    storage: { type: 'storage', required: true, help: 'The storage for the document.' },
    mutations: { type: 'mutations', required: true, help: 'Mutations that set the fields.' },
  },
  out: {
    document: { type: 'document', help: 'The stored document, with its _meta and guid.' },
  },
  settings: {},
  run(inputs, { session }) {
    return andThen(session.create(builderStorage(inputs.storage), inputs.mutations), (document) => ({
      document,
    }))
  },
})
