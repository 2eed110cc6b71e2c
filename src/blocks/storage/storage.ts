import { defineValue } from '../block.ts'
import { builderStorage } from '../names.ts'

export default defineValue({
  identifier: 'storage',
  title: 'Storage',
  words: '{storage}',
  summary:
    'Selects the storage that other blocks read and write. A new storage is created when the blueprint is deployed.',
  in: {},
  out: {
    storage: {
      type: 'storage',
      help: 'The storage, for blocks that search, read or write documents.',
    },
  },
  settings: {
    storage: {
      kind: 'storage',
      required: true,
      help: 'Name of the storage: lower-case letters, digits, _ and -, starting with a letter.',
    },
  },
  value(_inputs, { settings }) {
    return { storage: builderStorage(settings.storage) }
  },
})
