import { andThen } from '../../shared/maybe-promise.ts'
import { asSettings } from '../as-user.ts'
import { defineFlow } from '../block.ts'
import { builderStorage } from '../names.ts'
import { orTaken, takenOut, writingPins, writtenMutations } from './document-writes.ts'

export default defineFlow({
  identifier: 'function_create_document_from_mutations',
  title: 'Create document',
  words: 'Create in {storage}[ from {set|mutations}]',
  summary: 'Stores a new document with the fields that set, or mutations, name.',
  effects: { writes: 'creates' },
  in: {
    storage: { type: 'storage', required: true, help: 'The storage for the document.' },
    ...writingPins,
  },
  out: {
    document: { type: 'document', help: 'The stored document, with its _meta and guid.' },
    conflict: {
      type: 'flow',
      help: 'Continues here if another document has the value of a unique field; nothing was stored.',
    },
    ...takenOut,
  },
  settings: asSettings,
  run(inputs, { session }) {
    const storage = builderStorage(inputs.storage)
    const mutations = writtenMutations(inputs)
    return orTaken(
      () => andThen(session.create(storage, mutations), (document) => ({ document })),
      (taken) => ({ taken, next: 'conflict' as const }),
    )
  },
})
