import { describe, expect, test } from 'vitest'
import { type Query, type Search, type SortKey, search } from '../../shared/query.ts'
import { adviseIndex, type SearchedStorage } from './index-advice.ts'
import { queryShape, searchAdvisor } from './search-advisor.ts'

const term = (field: string, value: string | number = 'secret'): Query => ({ kind: 'term', field, value })
const range = (field: string): Query => ({ kind: 'range', field, bounds: { gte: 1, lt: 5 } })
const text = (...fields: string[]): Query => ({ kind: 'simple_query_string', fields, text: 'secret' })
const not = (query: Query): Query => ({ kind: 'not', query })
const and = (...queries: Query[]): Query => ({ kind: 'and', queries })
const or = (...queries: Query[]): Query => ({ kind: 'or', queries })
const by = (field: string, order: SortKey['order'] = 'asc'): SortKey => ({ field, order, missing: 'last' })

test.each<[Query, string]>([
  [{ kind: 'all' }, ''],
  [term('a.b'), 'a.b = ?'],
  [{ kind: 'terms', field: 'a', values: ['secret', 1] }, 'a in ?'],
  [range('n'), 'n >= ? and n < ?'],
  [{ kind: 'exists', field: 'a' }, 'a exists'],
  [not(term('a')), 'not (a = ?)'],
  [and(term('a'), or(term('b'), text())), 'a = ? and (b = ? or free text)'],
  [{ kind: 'filter', query: text('title', 'note') }, 'free text in title, note'],
  [or(...Array.from({ length: 900 }, (_, n) => term('a', n))), 'a = ?'],
  [and(), ''],
])('the shape of %j is %s', (query, shape) => {
  expect(queryShape(query)).toBe(shape)
})

test('a shape is of bounded length, whatever the query is', () => {
  const wide = or(...Array.from({ length: 900 }, (_, n) => term(`field_${n}`)))
  expect(queryShape(wide).length).toBeLessThanOrEqual(1_001)
})

const searched = (changes: Partial<SearchedStorage> = {}): SearchedStorage => ({
  indexes: [],
  text: false,
  holdsLists: () => false,
  ...changes,
})
const has = (...indexes: string[][]): SearchedStorage =>
  searched({ indexes: indexes.map((fields) => ({ fields })) })

const requested: readonly [string, Partial<Search>, SearchedStorage, readonly string[] | undefined][] = [
  ['a filter', { query: term('a') }, searched(), ['a']],
  [
    'filters, then the sort',
    { query: and(term('a'), term('b')), sort: [by('n')] },
    searched(),
    ['a', 'b', 'n'],
  ],
  ['a sort', { sort: [by('n', 'desc')] }, searched(), ['n']],
  ['a filter and a range', { query: and(range('n'), term('a')) }, searched(), ['a', 'n']],
  ['a sort by what is equal', { query: term('a'), sort: [by('a')] }, searched(), ['a']],
  ['creation behind the filter', { query: term('a'), sort: [by('_meta.created')] }, searched(), ['a']],
  ['sorts in two directions', { query: term('a'), sort: [by('n'), by('m', 'desc')] }, searched(), ['a']],
  ['what another index does in part', { query: term('a'), sort: [by('n')] }, has(['a']), ['a', 'n']],
  [
    'equality in a list beside it',
    { query: and(term('a'), term('l')) },
    searched({ holdsLists: (f) => f === 'l' }),
    ['a'],
  ],
]

test.each(requested)('%s: an index helps', (_what, changes, known, fields) => {
  expect(adviseIndex(search(changes), known, false)?.index?.fields).toEqual(fields)
})

const served: readonly [string, Partial<Search>, SearchedStorage][] = [
  ['newest first', {}, searched()],
  ['a filter by the index', { query: term('a') }, has(['a'])],
  ['filters in any order', { query: and(term('a'), term('b')), sort: [by('n')] }, has(['b', 'a', 'n'])],
  ['what the index has more', { query: term('a'), sort: [by('n')] }, has(['x'], ['a', 'n', 'm'])],
]

test.each(served)('%s: is served', (_what, changes, known) => {
  expect(adviseIndex(search(changes), known, false)).toBeUndefined()
})

const hopeless: readonly [string, Partial<Search>, SearchedStorage, string][] = [
  ['alternatives', { query: or(term('a'), term('b')) }, searched(), 'Alternatives'],
  ['exclusions', { query: not(term('a')) }, has(['a']), 'exclusions'],
  ['removed documents', { query: term('a'), includeRemoved: true }, has(['a']), 'removed'],
  ['lists', { query: term('l') }, searched({ holdsLists: () => true }), 'lists or objects in l'],
  ['the best of many hits', { query: text() }, searched({ text: true }), 'weighed'],
  ['free text without its index', { query: text() }, searched(), 'Free text'],
  ['a page far behind', { offset: 5_000 }, searched(), 'after'],
  ['a filtered page far behind', { query: term('a'), offset: 5_000 }, has(['a']), 'after'],
]

test.each(hopeless)('%s: no index over fields helps, and it says why', (_what, changes, known, why) => {
  const advice = adviseIndex(search(changes), known, false)
  expect(advice?.index).toBeUndefined()
  expect(advice?.why).toContain(why)
})

describe('the advisor', () => {
  const finished = (n: number, milliseconds = 10) => ({
    storage: 'doc_1',
    kind: 'find' as const,
    search: search({ query: term(`f${n}`) }),
    milliseconds,
  })

  test('keeps how often, and the worst; another storage knows nothing of it', () => {
    let now = 1_000
    const advisor = searchAdvisor(() => now)
    for (const [milliseconds, rows] of [
      [10, 2_000],
      [30, 3_000],
      [20, 0],
    ] as const) {
      now += 1_000
      const look = advisor.look(finished(1, milliseconds), searched())
      expect(look?.worse).toBe(rows > 0)
      look?.keep(rows)
    }
    expect(advisor.of('doc_1', searched())).toMatchObject([
      { filter: 'f1 = ?', times: 3, milliseconds: 30, rows: 3_000, first: 2_000, last: 4_000 },
    ])
    expect(advisor.of('doc_2', searched())).toEqual([])
    expect(advisor.of('doc_1', has(['f1']))).toEqual([])
  })

  test('leaves out who read little', () => {
    const advisor = searchAdvisor(() => 0)
    advisor.look(finished(1), searched())?.keep(999)
    expect(advisor.of('doc_1', searched())).toEqual([])
  })

  test.each<[string, (advisor: ReturnType<typeof searchAdvisor>) => void]>([
    ['read little', (advisor) => advisor.look(finished(1), searched())?.keep(999)],
    ['was served', (advisor) => void advisor.look(finished(1), has(['f1']))],
  ])('does not look at a storage for a tenth of a second after a search that %s', (_, look) => {
    let now = 1_000
    const advisor = searchAdvisor(() => now)
    look(advisor)
    now += 99
    expect(advisor.look(finished(2), searched())).toBeUndefined()
    expect(advisor.look({ ...finished(2), storage: 'doc_2' }, searched())).toBeDefined()
    now += 1
    expect(advisor.look(finished(2), searched())).toBeDefined()
    look(advisor)
    // Clocks are set back.
    now -= 5_000
    expect(advisor.look(finished(2), searched())).toBeDefined()
  })

  test('looks again at once after a search that an index would help', () => {
    const advisor = searchAdvisor(() => 0)
    for (const n of [1, 2]) advisor.look(finished(n), searched())?.keep(2_000)
    expect(advisor.of('doc_1', searched())).toHaveLength(2)
  })

  test('keeps a bounded number of shapes: the one seen longest ago goes', () => {
    const advisor = searchAdvisor(() => 0, { milliseconds: 5, rows: 0 }, 3)
    for (const n of [1, 2, 3, 1, 4]) advisor.look(finished(n), searched())?.keep(1)
    const shapes = advisor.of('doc_1', searched()).map(({ filter }) => filter)
    expect(shapes.toSorted()).toEqual(['f1 = ?', 'f3 = ?', 'f4 = ?'])
  })
})
