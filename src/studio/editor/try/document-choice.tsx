import { Select } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { JsonObject } from '../../../shared/json.ts'
import { findDocuments, storageNamesQuery } from '../../api/storages.ts'
import { tryTexts } from '../../texts/try.ts'

const SHOWN = 20

/** One of the newest documents of a storage. Nothing where the user may not see them. */
export function DocumentChoice({
  storage,
  onChoose,
}: {
  readonly storage: string
  readonly onChoose: (document: JsonObject) => void
}) {
  const names = useQuery(storageNamesQuery)
  const guid = names.data?.find(({ name }) => name === storage)?.guid ?? ''
  const { data } = useQuery({
    queryKey: ['documents', guid, 'newest'],
    queryFn: ({ signal }) => findDocuments(guid, { limit: SHOWN, sort: [{ '_meta.cms': 'desc' }] }, signal),
    enabled: guid !== '',
  })
  if (!data || data.records.length === 0) return null
  return (
    <Select
      size="xs"
      label={tryTexts.documentOf(storage)}
      placeholder={tryTexts.documentOfExample}
      searchable
      data={data.records.map((document) => ({ value: document._meta.guid, label: labelOf(document) }))}
      onChange={(chosen) => {
        const found = data.records.find(({ _meta }) => _meta.guid === chosen)
        if (found) onChoose(JSON.parse(JSON.stringify(found)))
      }}
    />
  )
}

/** Its first short values; documents have no name. */
function labelOf({ _meta, ...fields }: { readonly _meta: { readonly guid: string } }): string {
  const values = Object.values(fields).filter(
    (value) => typeof value === 'string' || typeof value === 'number',
  )
  return `${values.slice(0, 2).join(', ').slice(0, 60)} …${_meta.guid.slice(-6)}`.trim()
}
