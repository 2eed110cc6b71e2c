import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { useSearchParams } from 'wouter'
import type { DocumentSearch } from '../../../shared/api/documents.ts'
import { fieldTypeEntries, isFieldType } from '../../../shared/fields/field-type.ts'
import { fieldsQuery, findDocuments } from '../../api/storages.ts'
import { type DocumentFilter, filterWord, readFilterWord, serverFilters } from './document-filters.ts'
import { type FieldType, type ShapeField, shapeOf } from './document-shape.ts'

/** So many of the newest documents are looked at to know which fields there are. */
const SAMPLE = 50
const COLUMNS = 6

export interface DocumentList {
  /** All known fields: those with rules first. */
  readonly fields: readonly ShapeField[]
  /** Names of fields that are shown. */
  readonly columns: readonly string[]
  readonly filters: readonly DocumentFilter[]
  /** Removed documents instead of those that are there. */
  readonly removed: boolean
  readonly body: DocumentSearch
  setColumns(names: readonly string[]): void
  setFilters(filters: readonly DocumentFilter[]): void
  setRemoved(removed: boolean): void
}

/** Which documents a storage's table shows, and which of their fields, as its address says. */
export function useDocumentList(storage: string, name: string): DocumentList {
  const [words, setWords] = useSearchParams()
  const { data: sample } = useQuery({
    queryKey: ['documents', storage, 'sample'],
    queryFn: ({ signal }) => findDocuments(storage, { limit: SAMPLE }, signal),
    staleTime: 30_000,
  })
  const { data: rules } = useQuery({ ...fieldsQuery(name), enabled: name !== '', retry: false })
  const fields = useMemo(() => {
    const seen = shapeOf(sample?.records ?? [])
    const ruled = (rules ?? []).map((rule): ShapeField => {
      const found = seen.find((field) => field.name === rule.name)
      return found ?? { name: rule.name, types: [typeOfRule(rule.type)], count: 0 }
    })
    return [...ruled, ...seen.filter(({ name: one }) => !ruled.some((field) => field.name === one))]
  }, [sample, rules])
  const removed = words.get('removed') === '1'
  const filterText = words.getAll('filter').join('\n')
  const filters = useMemo(
    () => filterText.split('\n').flatMap((word) => readFilterWord(word) ?? []),
    [filterText],
  )
  const body = useMemo((): DocumentSearch => {
    const typesOf = (field: string) => fields.find((one) => one.name === field)?.types ?? metaTypes(field)
    const all = serverFilters(filters, typesOf)
    return removed
      ? { filters: { ...all, '_meta.removed': { gt: 0 } }, include_removed: true }
      : Object.keys(all).length > 0
        ? { filters: all }
        : {}
  }, [filters, fields, removed])
  const change = (edit: (next: URLSearchParams) => void) =>
    setWords((before) => {
      const next = new URLSearchParams(before)
      next.delete('page')
      next.delete('after')
      edit(next)
      return next
    })
  const chosen = words.get('columns')
  return {
    fields,
    columns: chosen === null ? fields.slice(0, COLUMNS).map((field) => field.name) : split(chosen),
    filters,
    removed,
    body,
    setColumns: (names) => change((next) => next.set('columns', names.join(','))),
    setFilters: (list) =>
      change((next) => {
        next.delete('filter')
        for (const filter of list) next.append('filter', filterWord(filter))
      }),
    setRemoved: (yes) => change((next) => (yes ? next.set('removed', '1') : next.delete('removed'))),
  }
}

function split(names: string): string[] {
  return names.split(',').filter((name) => name !== '')
}

function metaTypes(field: string): readonly FieldType[] {
  return field.startsWith('_meta.') && field !== '_meta.guid' ? ['number'] : ['string']
}

const shapes = {
  text: 'string',
  any: 'string',
  number: 'number',
  condition: 'boolean',
  object: 'object',
  list: 'array',
} as const

function typeOfRule(type: string): FieldType {
  return isFieldType(type) ? shapes[fieldTypeEntries[type].value] : 'string'
}
