import { useDebouncedValue } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import type { FieldRecord } from '../../../../shared/api/blueprints/blueprint-fields.ts'
import type { Document } from '../../../../shared/api/data/documents.ts'
import { fieldsQuery, findDocuments } from '../../../api/storages.ts'
import { documentsTexts } from '../../../texts/documents.ts'

const MOST_OFFERED = 30

export interface OfferedDocuments {
  readonly offered: readonly { readonly value: string; readonly label: string }[]
  /** Shown where nothing is offered. */
  readonly nothing: string
  /** It is the answer to what is typed. */
  readonly isAnswered: boolean
}

/** Documents of a storage by name: those that a search for what is typed finds. `isOpen`: whether they are shown. */
export function useOfferedDocuments(storage: string, typed: string, isOpen = true): OfferedDocuments {
  const [requested] = useDebouncedValue(typed.trim(), 150)
  const { data: fields } = useQuery({ ...fieldsQuery(storage), retry: false, enabled: isOpen })
  const { data, error, isFetching } = useQuery({
    queryKey: ['documents', storage, 'offered', requested],
    enabled: isOpen,
    queryFn: ({ signal }) =>
      findDocuments(
        storage,
        { limit: MOST_OFFERED, ...(requested !== '' && { query: words(requested) }) },
        signal,
      ),
  })
  const offered = (data?.records ?? []).map((record) => ({
    value: record._meta.guid,
    label: documentName(record, fields),
  }))
  const isAnswered = requested === typed.trim() && !isFetching && data !== undefined
  return {
    offered,
    isAnswered,
    nothing: error
      ? documentsTexts.couldNotSearch
      : isFetching
        ? documentsTexts.searching
        : documentsTexts.noMatch,
  }
}

/** Words as free text, the last one as the beginning of one. */
function words(typed: string): string {
  return `${typed.replaceAll(/["|*()~+-]/g, ' ').trim()}*`
}

// What people would call a document.

const usual = ['title', 'name', 'subject', 'email', 'label']

/** Its first text field, as data tables of pages show it; else a field with a usual name; else its guid. */
export function documentName(document: Document, fields: readonly FieldRecord[] = []): string {
  const first = fields.find(({ type, reference }) => type === 'string' && !reference)?.name
  for (const name of first === undefined ? usual : [first, ...usual]) {
    const value = document[name]
    if (typeof value === 'string' && value !== '') return value
  }
  return document._meta.guid
}
