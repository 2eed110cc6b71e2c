import { andThen } from '../../shared/maybe-promise.ts'
import { applyMutations } from '../../storage/apply-mutations.ts'
import { upsertDocument } from '../../storage/upsert-document.ts'
import { asSettings } from '../as-user.ts'
import { defineFlow } from '../block.ts'
import { builderStorage } from '../names.ts'
import { keyFields, orUnknownKey, withoutKeyValue } from './document-queries.ts'
import { orTaken, takenOut, writtenMutations } from './document-writes.ts'

export default defineFlow({
  identifier: 'function_upsert_document',
  title: 'Create or update document',
  words: 'Create or update in {storage}[ by {by}]',
  summary:
    'Changes the document that has these values of unique fields, or creates it if there is none. Simultaneous requests with the same values write one document.',
  effects: { writes: 'creates' },
  in: {
    storage: { type: 'storage', required: true, help: 'The storage that holds the document.' },
    by: {
      type: 'array',
      required: true,
      help: 'The unique field by which the document is found, such as sku; of fields that are unique together a list, or the name that they share.',
    },
    set: {
      type: 'object',
      language: 'set',
      required: true,
      help: 'The fields to write, with those of by, such as { sku: body.sku, stock: increment(body.qty) }. Fields that are not named stay as they are.',
    },
    set_new: {
      type: 'object',
      language: 'set',
      help: 'Fields that only a new document gets, after those of set.',
    },
  },
  out: {
    document: { type: 'document', help: 'The stored document, created or changed.' },
    created: { type: 'condition', help: 'Whether the document is new.' },
    conflict: {
      type: 'flow',
      help: 'Continues here if another document has the value of another unique field; nothing was stored.',
    },
    ...takenOut,
  },
  settings: asSettings,
  run(inputs, { session }) {
    const storage = builderStorage(inputs.storage)
    const by = keyFields(inputs.by)
    const change = writtenMutations({ set: inputs.set, mutations: undefined })
    const added = inputs.set_new && writtenMutations({ set: inputs.set_new, mutations: undefined })
    const create = added ? [...change, ...added] : change
    const requested = applyMutations({}, create)
    const upsert = () =>
      andThen(upsertDocument(session, { storage, by, fields: requested, create, change }), (upserted) => {
        if (upserted) return upserted
        throw withoutKeyValue(by)
      })
    return orUnknownKey(() => orTaken(upsert, (taken) => ({ taken, next: 'conflict' as const })))
  },
})
