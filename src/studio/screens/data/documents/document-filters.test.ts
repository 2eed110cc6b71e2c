import { describe, expect, it } from 'vitest'
import { filterWord, readFilterWord, serverFilters } from './document-filters.ts'
import type { FieldType } from './document-shape.ts'

const types: Readonly<Record<string, readonly FieldType[]>> = {
  n: ['number'],
  done: ['boolean'],
  mixed: ['string', 'number'],
}
const sent = (...words: string[]) =>
  serverFilters(
    words.flatMap((word) => readFilterWord(word) ?? []),
    (field) => types[field] ?? ['string'],
  )

describe('filters of documents', () => {
  it.each([
    ['', undefined],
    ['status~like~x', undefined],
    ['~is~x', undefined],
    ['status~toString~x', undefined],
  ])('%j is none', (word, filter) => {
    expect(readFilterWord(word)).toBe(filter)
  })

  it('come back from the address as they were', () => {
    const filter = { field: 'a.b', comparison: 'is', value: 'x~y z' } as const
    expect(readFilterWord(filterWord(filter))).toEqual(filter)
  })

  it.each([
    [['s~is~5'], { s: '5' }],
    [['n~is~5'], { n: 5 }],
    [['n~is~five'], { n: 'five' }],
    [['n~gte~'], { n: { gte: '' } }],
    [['done~not~true'], { done: { not: true } }],
    [['s~contains~ив', 's~not~x'], { s: { contains: 'ив', not: 'x' } }],
    [['n~contains~5'], { n: { contains: '5' } }],
    [['mixed~is~5'], { mixed: 5 }],
    [['n~gte~1', 'n~lte~9'], { n: { gte: 1, lte: 9 } }],
    [['a~exists~', 'b~missing~'], { a: { exists: true }, b: { exists: false } }],
  ])('%j are sent as %j', (words, filters) => {
    expect(sent(...words)).toEqual(filters)
  })
})
