import { dataTexts } from '../../../texts/data.ts'
import type { FieldType } from './document-shape.ts'

/** How a filter compares, with the words for it. */
export const comparisons = {
  is: 'is',
  not: dataTexts.isNot,
  contains: dataTexts.contains,
  gte: dataTexts.atLeast,
  lte: dataTexts.atMost,
  exists: 'exists',
  missing: dataTexts.isMissing,
} as const

export type Comparison = keyof typeof comparisons

export interface DocumentFilter {
  readonly field: string
  readonly comparison: Comparison
  /** As it was typed; nothing for `exists` and `missing`. */
  readonly value: string
}

export function isComparison(word: string): word is Comparison {
  return Object.hasOwn(comparisons, word)
}

export function needsValue(comparison: Comparison): boolean {
  return comparison !== 'exists' && comparison !== 'missing'
}

/** A filter as a word of the address: `status~is~open`. */
export function filterWord({ field, comparison, value }: DocumentFilter): string {
  return [field, comparison, value].join('~')
}

/** Reads what {@link filterWord} wrote; undefined for anything else. */
export function readFilterWord(word: string): DocumentFilter | undefined {
  const [field = '', comparison = '', ...value] = word.split('~')
  return field !== '' && isComparison(comparison) ? { field, comparison, value: value.join('~') } : undefined
}

type ServerFilter = string | number | boolean | Readonly<Record<string, unknown>>

/**
 * What the API takes. The server compares types strictly, so a value is a number or a truth only where the field held
 * such. Several filters on one field are joined where they can be.
 */
export function serverFilters(
  filters: readonly DocumentFilter[],
  typesOf: (field: string) => readonly FieldType[],
): Record<string, ServerFilter> {
  const all: Record<string, ServerFilter> = {}
  for (const { field, comparison, value } of filters) {
    const typed = typedValue(value, typesOf(field))
    const before = all[field]
    if (comparison === 'is') all[field] = typed
    else if (comparison === 'contains') all[field] = { ...objectOf(before), contains: value }
    else {
      const one =
        comparison === 'exists'
          ? { exists: true }
          : comparison === 'missing'
            ? { exists: false }
            : { [comparison]: typed }
      all[field] = { ...objectOf(before), ...one }
    }
  }
  return all
}

function objectOf(filter: ServerFilter | undefined): Readonly<Record<string, unknown>> {
  return typeof filter === 'object' ? filter : {}
}

function typedValue(text: string, types: readonly FieldType[]): string | number | boolean {
  const trimmed = text.trim()
  if (types.includes('number') && trimmed !== '' && Number.isFinite(Number(trimmed))) return Number(trimmed)
  if (types.includes('boolean') && (trimmed === 'true' || trimmed === 'false')) return trimmed === 'true'
  return text
}
