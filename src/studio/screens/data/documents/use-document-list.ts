import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { useSearchParams } from 'wouter'
import type { FieldRecord } from '../../../../shared/api/blueprints/blueprint-fields.ts'
import type { DocumentSearch } from '../../../../shared/api/data/documents.ts'
import { fieldTypeEntries, isFieldType } from '../../../../shared/fields/field-type.ts'
import { fieldsQuery, findDocuments, inOrder } from '../../../api/storages.ts'
import { boundedWidth } from '../grid/grid-column.ts'
import { type DocumentFilter, filterWord, readFilterWord, serverFilters } from './document-filters.ts'
import { type FieldType, type ShapeField, shapeOf } from './document-shape.ts'

/** So many of the newest documents are looked at to know which fields there are. */
const SAMPLE = 50
const COLUMNS = 6
/** Columns that a storage with many fields begins with. */
const FIELD_COLUMNS = 12

export interface DocumentList {
  /** All known fields: those with rules first. */
  readonly fields: readonly ShapeField[]
  /** The fields of the storage, in their order. */
  readonly records: readonly FieldRecord[]
  /** Names of fields that are shown. */
  readonly columns: readonly string[]
  /** Of columns that are not as wide as usual, in pixels. */
  readonly widths: ReadonlyMap<string, number>
  readonly filters: readonly DocumentFilter[]
  /** Removed documents instead of those that are there. */
  readonly removed: boolean
  readonly body: DocumentSearch
  setColumns(names: readonly string[]): void
  setWidth(name: string, width: number): void
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
  const records = useMemo(() => inOrder(rules ?? []), [rules])
  const fields = useMemo(() => {
    const seen = shapeOf(sample?.records ?? [])
    const validated = records.map((rule): ShapeField => {
      const found = seen.find((field) => field.name === rule.name)
      return found ?? { name: rule.name, types: [typeOfRule(rule.type)], count: 0 }
    })
    return [...validated, ...seen.filter(({ name: one }) => !validated.some((field) => field.name === one))]
  }, [sample, records])
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
  const columns = useMemo(
    () => (chosen === null ? usualColumns(fields, records) : split(chosen)),
    [chosen, fields, records],
  )
  const widthText = words.get('widths') ?? ''
  const widths = useMemo(() => readWidths(widthText), [widthText])
  return {
    fields,
    records,
    columns,
    widths,
    filters,
    removed,
    body,
    setColumns: (names) => change((next) => next.set('columns', names.join(','))),
    setWidth: (name, width) =>
      setWords(
        (before) => {
          const next = new URLSearchParams(before)
          next.set('widths', widthsText(readWidths(next.get('widths') ?? '').set(name, boundedWidth(width))))
          return next
        },
        { replace: true },
      ),
    setFilters: (list) =>
      change((next) => {
        next.delete('filter')
        for (const filter of list) next.append('filter', filterWord(filter))
      }),
    setRemoved: (yes) => change((next) => (yes ? next.set('removed', '1') : next.delete('removed'))),
  }
}

function usualColumns(fields: readonly ShapeField[], records: readonly FieldRecord[]): readonly string[] {
  const most = records.length > 0 ? Math.min(FIELD_COLUMNS, Math.max(records.length, COLUMNS)) : COLUMNS
  return fields.slice(0, most).map(({ name }) => name)
}

/** `title:200,size:90`; names have no colons that matter, since the number is behind the last one. */
function readWidths(text: string): Map<string, number> {
  const widths = new Map<string, number>()
  for (const part of split(text)) {
    const at = part.lastIndexOf(':')
    const width = Number(part.slice(at + 1))
    if (at > 0 && Number.isFinite(width)) widths.set(part.slice(0, at), boundedWidth(width))
  }
  return widths
}

function widthsText(widths: ReadonlyMap<string, number>): string {
  return [...widths].map(([name, width]) => `${name}:${width}`).join(',')
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
