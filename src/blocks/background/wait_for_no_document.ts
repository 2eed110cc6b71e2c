import { defineFlow } from '../block.ts'
import { waitSettings } from '../pins/wait-time.ts'
import { awaitDocuments, awaitingIn, awaitingOut } from './await-documents.ts'

export default defineFlow({
  identifier: 'wait_for_no_document',
  title: 'Wait until no document fits',
  words: 'Wait until none of {storage} is left[ where {where|query}]',
  summary:
    'Continues when no document fits a condition any more: the last one is removed, or changed so that it does not fit, or there is none at once. The run is stored in its own transaction.',
  effects: { sends: ['job'] },
  ends: true,
  awaitsDocuments: true,
  waits: ['gone', 'timeout'],
  in: awaitingIn,
  out: { gone: { type: 'flow', help: 'Continues here, later, when no document fits.' }, ...awaitingOut },
  settings: waitSettings,
  run: (inputs, context) => awaitDocuments(inputs, context, true),
})
