import { asSettings } from '../as-user.ts'
import { defineFlow } from '../block.ts'
import { backgroundIn, changeMany, manyIn, manyOut } from './change-many.ts'

export default defineFlow({
  identifier: 'function_remove_many',
  title: 'Remove many documents',
  words: 'Remove all of {storage}[ where {where}]',
  summary:
    'Marks all documents that match as removed, in one transaction: all of them, or none. They can be restored.',
  effects: { reads: true, writes: 'removes' },
  in: { ...manyIn, ...backgroundIn },
  out: manyOut,
  settings: asSettings,
  run: ({ storage, where, in_background: inBackground }, context) =>
    changeMany({ kind: 'remove', storage, where, inBackground }, context),
})
