import { defineFlow } from '../block.ts'
import { waitSettings } from '../pins/wait-time.ts'
import { awaitDocuments, awaitingIn, awaitingOut } from './await-documents.ts'

export default defineFlow({
  identifier: 'wait_for_document',
  title: 'Wait for document',
  words: 'Wait for one of {storage}[ where {where|query}]',
  summary:
    'Continues when a document of the storage fits a condition: one that is created or changed so that it fits, or that fits already. The run is stored in its own transaction.',
  effects: { sends: ['job'] },
  ends: true,
  awaitsDocuments: true,
  waits: ['found', 'timeout'],
  in: awaitingIn,
  out: {
    found: { type: 'flow', help: 'Continues here, later, when a document fits.' },
    ...awaitingOut,
    guid: {
      type: 'value',
      help: 'At found: the guid of a document that fitted. It may have changed again since.',
    },
  },
  settings: waitSettings,
  run: (inputs, context) => awaitDocuments(inputs, context, false),
})
