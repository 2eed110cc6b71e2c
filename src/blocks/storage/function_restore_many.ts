import { asSettings } from '../as-user.ts'
import { defineFlow } from '../block.ts'
import { backgroundIn, changeMany, manyIn, manyOut } from './change-many.ts'

export default defineFlow({
  identifier: 'function_restore_many',
  title: 'Restore many documents',
  words: 'Restore all of {storage}[ where {where}]',
  summary:
    'Restores all removed documents that match, in one transaction: all of them, or none. If another document has a unique value of one by now, or one refers to a removed document, the error lists them in details.',
  effects: { reads: true, writes: 'changes' },
  in: { ...manyIn, ...backgroundIn },
  out: manyOut,
  settings: asSettings,
  run: ({ storage, where, in_background: inBackground }, context) =>
    changeMany({ kind: 'restore', storage, where, inBackground }, context),
})
