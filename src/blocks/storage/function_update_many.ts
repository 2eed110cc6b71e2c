import { asSettings } from '../as-user.ts'
import { defineFlow } from '../block.ts'
import { backgroundIn, changeMany, manyIn, manyOut } from './change-many.ts'
import { orTaken, takenOut, writtenMutations } from './document-writes.ts'

export default defineFlow({
  identifier: 'function_update_many',
  title: 'Update many documents',
  words: 'Update all of {storage}[ where {where}]',
  summary:
    'Makes the same change to all documents that match, in one transaction: all of them, or none. Rules, unique fields, events and history count as with single updates.',
  effects: { reads: true, writes: 'changes' },
  in: {
    ...manyIn,
    set: {
      type: 'object',
      language: 'set',
      required: true,
      help: 'The fields to write, the same for each document, such as { status: "closed", closed: now(), tries: increment(1) }. Fields that are not named stay as they are.',
    },
    ...backgroundIn,
  },
  out: {
    ...manyOut,
    conflict: {
      type: 'flow',
      help: 'Continues here if another document has the value of a unique field. Nothing was changed, and what the flow has written before, since its start or its reply, is undone too.',
    },
    ...takenOut,
  },
  settings: asSettings,
  run({ storage, where, set, in_background: inBackground }, context) {
    const mutations = writtenMutations({ set, mutations: undefined })
    return orTaken(
      () => changeMany({ kind: 'update', storage, where, inBackground, mutations }, context),
      (taken) => ({ taken, next: 'conflict' as const }),
    )
  },
})
