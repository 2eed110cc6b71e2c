import { isJsonObject } from '../../shared/json.ts'
import { andThen } from '../../shared/maybe-promise.ts'
import { type Query, search } from '../../shared/query.ts'
import { documentsOf } from '../../storage/find-documents.ts'
import { systemStorages } from '../../storage/system-storages.ts'
import { defineFlow } from '../block.ts'
import { fileValue } from './store-file.ts'

export default defineFlow({
  identifier: 'list_files',
  title: 'List files',
  summary: 'Lists files (assets) of a directory, or with a name, newest first.',
  deployScopes: ['assets_view'],
  effects: { reads: true },
  in: {
    directory: { type: 'value', help: 'Directory, without those in it. Empty: all files.' },
    name: { type: 'value', help: 'Name of the files. Empty: any.' },
    limit: {
      type: 'number',
      default: 100,
      min: 0,
      max: 1_000,
      integer: true,
      help: 'Maximum number of files.',
    },
    offset: {
      type: 'number',
      default: 0,
      min: 0,
      max: 10_000,
      integer: true,
      help: 'Number of files to skip.',
    },
  },
  out: { files: { type: 'array', help: 'Guid, name, type and size of each file.' } },
  settings: {},
  run({ directory, name, limit, offset }, { session }) {
    const terms = Object.entries({ directory, name }).flatMap(([field, value = '']): Query[] =>
      value.trim() === '' ? [] : [{ kind: 'term', field, value: value.trim() }],
    )
    const requested = search({
      query: { kind: 'and', queries: terms },
      sort: [{ field: '_meta.created', order: 'desc', missing: 'last' }],
      ...{ limit, offset },
    })
    return andThen(session.find(systemStorages.assets, requested), (found) => ({
      files: documentsOf(found).filter(isJsonObject).map(fileValue),
    }))
  },
})
