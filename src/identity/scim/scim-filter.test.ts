import { expect, test } from 'vitest'
import { QuoinError } from '../../shared/errors.ts'
import type { Query } from '../../shared/query.ts'
import { scimFilter } from './scim-filter.ts'

const read = (text: string) =>
  scimFilter(text, (path, operator, value): Query | undefined =>
    path === 'secret' ? undefined : { kind: 'term', field: `${path} ${operator}`, value },
  )
const eq = (field: string, value: string | boolean | number) => ({
  kind: 'term',
  field: `${field} eq`,
  value,
})

test.each([
  ['', 'no attribute'],
  ['   ', 'no attribute'],
  ['userName', 'use one of eq'],
  ['userName eq', 'ends before a value'],
  ['userName eq bob', 'quotation marks'],
  ['userName eq "bob', 'not closed'],
  ['userName eq "a\\x"', 'quotation marks'],
  ['userName like "bo"', 'use one of eq'],
  ['userName co bo', 'quotation marks'],
  ['userName ew', 'ends before a value'],
  ['secret ne "x"', 'cannot compare "secret" with ne'],
  ['not userName eq "a"', 'has "username" behind "not"'],
  ['not not (a pr)', 'has "not" behind "not"'],
  ['not (a pr', 'not closed'],
  ['not ()', 'no attribute'],
  [`${'not ('.repeat(11)}a pr${')'.repeat(11)}`, 'more than 10 deep'],
  [Array(51).fill('not (a pr)').join(' and '), 'more than 50 comparisons'],
  ['userName eq null', 'quotation marks'],
  ['"userName" eq "bob"', 'no attribute'],
  ['secret eq "x"', 'cannot compare "secret"'],
  ['(userName eq "bob"', 'not closed'],
  ['userName eq "bob")', 'goes on with ")"'],
  ['userName eq "a" userName eq "b"', 'goes on with "userName"'],
  ['emails[type eq "home"].value eq "a@b.c"', 'goes on with'],
  [`${'('.repeat(11)}a eq 1${')'.repeat(11)}`, 'more than 10 deep'],
  [Array(51).fill('a pr').join(' or '), 'more than 50 comparisons'],
  [Array(6).fill('a co "b"').join(' or '), 'more than 5 comparisons with co and ew'],
  ['a eq 1'.padEnd(4_001), 'longer than 4000'],
  ['a eq 1e999', 'quotation marks'],
])('%j is refused: %s', (text, problem) => {
  expect(() => read(text)).toThrow(problem)
  try {
    read(text)
  } catch (error) {
    expect(error instanceof QuoinError && [error.code, error.details]).toEqual([
      'INVALID_QUERY',
      { scimType: 'invalidFilter' },
    ])
  }
})

test.each([
  ['userName eq "bob"', eq('username', 'bob')],
  ['USERNAME EQ "Bob"', eq('username', 'Bob')],
  ['urn:ietf:params:scim:schemas:core:2.0:User:userName eq "bob"', eq('username', 'bob')],
  ['externalId eq "a \\"b\\" \\u00e9"', eq('externalid', 'a "b" é')],
  ['emails[type eq "work"].value eq "a@b.c"', eq('emails.value', 'a@b.c')],
  ['active eq True', eq('active', true)],
  ['n eq 5', eq('n', 5)],
  ['title pr', { kind: 'term', field: 'title pr', value: true }],
  ['a eq "(or)"', eq('a', '(or)')],
  [
    'a eq 1 and b eq 2 or c eq 3',
    { kind: 'or', queries: [{ kind: 'and', queries: [eq('a', 1), eq('b', 2)] }, eq('c', 3)] },
  ],
  [
    'a eq 1 and (b eq 2 or c eq 3)',
    { kind: 'and', queries: [eq('a', 1), { kind: 'or', queries: [eq('b', 2), eq('c', 3)] }] },
  ],
  ['not (a eq 1)', { kind: 'not', query: eq('a', 1) }],
  ['a ne 1', { kind: 'not', query: eq('a', 1) }],
  ['not pr', { kind: 'term', field: 'not pr', value: true }],
  ['a co "b"', { kind: 'term', field: 'a co', value: 'b' }],
  [
    'a sw "b" and NOT(c ew "d" or not (e pr))',
    {
      kind: 'and',
      queries: [
        { kind: 'term', field: 'a sw', value: 'b' },
        {
          kind: 'not',
          query: {
            kind: 'or',
            queries: [
              { kind: 'term', field: 'c ew', value: 'd' },
              { kind: 'not', query: { kind: 'term', field: 'e pr', value: true } },
            ],
          },
        },
      ],
    },
  ],
  [`${'('.repeat(10)}a eq 1${')'.repeat(10)}`, eq('a', 1)],
])('%j is understood', (text, query) => {
  expect(read(text)).toEqual(query)
})

test('50 alternatives in brackets, joined by and, are read in one pass', () => {
  let comparisons = 0
  const text = Array(25).fill('(a eq 1 or b eq 2)').join(' and ')
  scimFilter(text, (field) => {
    comparisons += 1
    return { kind: 'term', field, value: 1 }
  })
  expect(comparisons).toBe(50)
})
