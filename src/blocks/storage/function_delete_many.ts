import { asSettings } from '../as-user.ts'
import { defineFlow } from '../block.ts'
import { backgroundIn, changeMany, manyIn, manyOut } from './change-many.ts'

export default defineFlow({
  identifier: 'function_delete_many',
  title: 'Delete many documents',
  words: 'Delete all of {storage}[ where {where}]',
  summary:
    'Deletes all documents that match permanently, in one transaction: all of them, or none. They cannot be restored; use Remove many documents if they should be.',
  effects: { reads: true, writes: 'deletes' },
  in: {
    ...manyIn,
    include_removed: {
      type: 'condition',
      default: false,
      help: 'Also delete removed documents that match.',
    },
    ...backgroundIn,
  },
  out: manyOut,
  settings: asSettings,
  run: ({ storage, where, include_removed: includeRemoved, in_background: inBackground }, context) =>
    changeMany({ kind: 'delete', storage, where, includeRemoved, inBackground }, context),
})
