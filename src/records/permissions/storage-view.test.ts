/** Rules that cannot be evaluated: they allow and show nothing, and are reported by storage and name. */
import { describe, expect, test } from 'vitest'
import { matchAll, type Query } from '../../shared/query.ts'
import { referencesIn } from '../../storage/reference/references.ts'
import { StoredJson } from '../../storage/stored-json.ts'
import type { StorageRules } from '../fields/field-rules.ts'
import { compiledRules } from './compiled-rules.ts'
import { subjectOf } from './judge.ts'
import { openPermissions } from './permissions.ts'
import { permittedAggregate, permittedSearch } from './permitted-query.ts'
import { storageView } from './storage-view.ts'

/** Fails where the user is in no group. */
const failing = 'doc.n > 1 / length(user.groups)'
const failingField = '1 / length(user.groups) > 0'
const storageRules: StorageRules = {
  rules: [
    {
      ...{ name: 'price', storage: 'deals', type: 'number', required: false, defaultValue: undefined },
      ...{ limits: {}, visibleTo: failingField, settableBy: failingField },
    },
  ],
  closed: false,
  permissions: { see: failing, create: failing, change: failing, remove: failing },
}
const document = new StoredJson('{"n":5,"price":1}')
const user = { guid: 'a', username: 'ann', groups: [], scopes: [] }

function viewOf(groups: readonly string[], rules: StorageRules = storageRules) {
  const reported: string[] = []
  const reasons: string[] = []
  const compiled = compiledRules('deals', rules)
  if (!compiled) throw new Error('The storage has rules.')
  const context = () => ({
    ...{ timeZone: 'UTC', locale: 'en', now: () => 0 },
    ...{ random: () => new Uint8Array(), spend: () => undefined },
  })
  const failed = (storage: string, rule: string, error: unknown) => {
    reported.push(`${storage} ${rule}`)
    reasons.push(error instanceof Error ? error.message : '')
  }
  const view = storageView('deals', compiled, { user: { ...user, groups: [...groups] }, context, failed })
  return { view, reported, reasons }
}

test('a rule that cannot be evaluated shows and allows nothing, and is reported', () => {
  const { view, reported } = viewOf([])
  const allowed = (['create', 'change', 'remove'] as const).map((name) => view.allows(name, document))
  expect([view.sees(document), ...allowed]).toEqual([false, false, false, false])
  expect([view.hidden, view.unsettable]).toEqual([['price'], ['price']])
  expect(reported.toSorted()).toEqual([
    ...['deals change', 'deals create', 'deals remove', 'deals see'],
    ...['deals settable_by of price', 'deals visible_to of price'],
  ])
})

test('a hidden field is so under former names that no other field has', () => {
  const [price] = storageRules.rules
  if (!price) throw new Error('There is a field.')
  const { visibleTo: _, settableBy: __, ...open } = { ...price, name: 'cost' }
  const rules = [{ ...price, formerNames: ['cost', 'fee'] }, open]
  const { view } = viewOf([], { ...storageRules, rules })
  expect([view.hidden, view.unsettable]).toEqual([
    ['price', 'fee'],
    ['price', 'fee'],
  ])
})

test('a rule that compares a field with a list shows nothing, and the reason is reported', () => {
  const see = 'doc.n == (length(user.groups) == 0 ? 5 : user.groups)'
  const compares = { ...storageRules, permissions: { see } }
  expect(viewOf([], compares).view.sees(document)).toBe(true)
  const { view, reasons } = viewOf(['sales'], compares)
  expect(view.sees(document)).toBe(false)
  expect(reasons.join()).toContain('must be a text, a number, true or false; this is a list.')
})

test('the same rules are evaluated for a user in a group, and nothing is reported', () => {
  const { view, reported } = viewOf(['sales'])
  expect([view.sees(document), view.allows('change', document)]).toEqual([true, true])
  expect([view.hidden, view.unsettable, reported]).toEqual([[], [], []])
})

test('a rule that fails in each request is logged once', async () => {
  const logged: string[] = []
  const rules = { storageRules: () => storageRules, noPermissions: () => false }
  const permissions = openPermissions({ rules, clock: () => 0, warn: (message) => logged.push(message) })
  const subject = subjectOf({ _meta: { guid: 'a' }, username: 'ann' }, new Set())
  for (let n = 0; n < 3; n++) expect(await permissions.hidden('deals', subject)).toEqual(['price'])
  expect(logged.filter((message) => message.includes('visible_to of price'))).toEqual([
    expect.stringContaining(
      'The rule visible_to of price of the storage deals cannot be evaluated, and allows nothing: ',
    ),
  ])
})

describe('a field that is hidden', () => {
  const { view } = viewOf([])
  const viewFor = (storage: string) => (storage === 'deals' ? { ...view, see: undefined } : undefined)
  const search = { query: matchAll, sort: [], limit: 10, offset: 0, includeRemoved: false }
  const term: Query = { kind: 'term', field: 'price', value: 1 }
  const open: Query = { kind: 'term', field: 'n', value: 1 }

  test.each<[string, Query]>([
    ['a value', term],
    ['some values', { kind: 'terms', field: 'price', values: [1, 2] }],
    ['a part of it', { kind: 'term', field: 'price.net', value: 1 }],
    ['a range', { kind: 'range', field: 'price', bounds: { gte: 1 } }],
    ['whether it is there', { kind: 'exists', field: 'price' }],
    ['whether it is empty', { kind: 'empty', field: 'price' }],
    ['what is in it', { kind: 'contains', field: 'price', value: 'a' }],
    ['its text', { kind: 'caseless', field: 'price', test: 'equals', value: 'a' }],
    ['a comparison with another one', { kind: 'fields', field: 'price', operator: '<', other: 'n' }],
    ['a comparison of another one with it', { kind: 'fields', field: 'n', operator: '<', other: 'price' }],
    ['free text', { kind: 'simple_query_string', fields: ['n', 'price'], text: 'a' }],
    ['what it refers to', { kind: 'through', field: 'price', storage: 'prices', query: matchAll }],
    [
      'a document that refers back',
      {
        kind: 'through',
        field: 'n',
        storage: 'other',
        query: { kind: 'through', field: 'a', storage: 'deals', query: term },
      },
    ],
    [
      'it within others',
      {
        kind: 'and',
        queries: [
          open,
          { kind: 'or', queries: [open, { kind: 'not', query: { kind: 'filter', query: term } }] },
        ],
      },
    ],
  ])('is not asked for %s', (_what, query) => {
    const hidden = /The field price[.\w]* of the storage deals is hidden from you/
    expect(() => permittedSearch('deals', { ...search, query }, viewFor)).toThrow(hidden)
    const requested = { query, groups: [], values: [], order: [], limit: 1 }
    expect(() => permittedAggregate('deals', requested, viewFor)).toThrow(hidden)
  })

  test('is not sorted or grouped by, and other fields are', () => {
    const by = (field: string) => ({ ...search, sort: [{ field, order: 'asc', missing: 'first' } as const] })
    expect(() => permittedSearch('deals', by('price'), viewFor)).toThrow('hidden from you')
    expect(permittedSearch('deals', { ...by('n'), query: open }, viewFor)).toEqual({
      ...by('n'),
      query: open,
    })
    const groups = (field: string) => ({
      query: matchAll,
      groups: [{ field, as: 'a' }],
      values: [],
      order: [],
      limit: 1,
    })
    expect(() => permittedAggregate('deals', groups('price'), viewFor)).toThrow('hidden from you')
    expect(permittedAggregate('deals', groups('n'), viewFor)).toEqual(groups('n'))
  })

  test('is in no text that is searched, and a storage without rules is searched as a whole', () => {
    const query: Query = { kind: 'simple_query_string', fields: [], text: 'a' }
    expect(permittedSearch('deals', { ...search, query }, viewFor).query).toEqual({ kind: 'or', queries: [] })
    expect(permittedSearch('other', { ...search, query }, viewFor).query).toEqual(query)
  })
})

test.each(['see', 'create', 'change', 'remove'] as const)(
  '%s alone, which leads to another document, needs it to decide',
  (name) => {
    const reference = { storage: 'people', onDelete: 'refuse' } as const
    const owner = {
      name: 'owner',
      storage: 'deals',
      type: 'string',
      required: false,
      defaultValue: undefined,
    } as const
    const references = referencesIn([{ ...owner, limits: {}, reference }])
    const leads = (rule: string) =>
      compiledRules('deals', { rules: [], references, closed: false, permissions: { [name]: rule } })?.leads
    expect(leads('doc.owner == user.guid')).toBe(false)
    expect(leads('doc.owner.boss == user.guid')).toBe(true)
  },
)
