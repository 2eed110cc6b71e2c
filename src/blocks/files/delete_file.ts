import { guidOf } from '../../storage/document-fields.ts'
import { assetNamed, assetRecord } from '../asset-record.ts'
import { defineFlow } from '../block.ts'
import { authorOf, fileValue } from './store-file.ts'

export default defineFlow({
  identifier: 'delete_file',
  title: 'Delete file',
  words: 'Delete file {file}',
  summary:
    'Deletes a file (an asset) permanently, and at once: a run that fails later does not bring it back.',
  effects: { calls: 'external' },
  deployScopes: ['assets_remove'],
  in: {
    file: {
      type: 'any',
      required: true,
      help: 'The file: its guid, its name (the newest of that name), or the value of a field of the type file.',
    },
  },
  out: { file: { type: 'object', help: 'Guid, name, type and size of the file that was deleted.' } },
  settings: {},
  async run({ file }, context) {
    const record = await assetRecord('file', assetNamed('file', file), context.session)
    await context.services.files.remove(guidOf(record), authorOf(context))
    return { file: fileValue(record) }
  },
})
