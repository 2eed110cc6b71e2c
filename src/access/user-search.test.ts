import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { TestAccess } from '../../test/open-test-access.ts'
import { openTestAccess } from '../../test/open-test-access.ts'
import type { Query } from '../shared/query.ts'
import { search } from '../shared/query.ts'

let fixture: TestAccess
beforeAll(async () => {
  fixture = await openTestAccess()
  await fixture.user({
    username: 'ada',
    firstname: 'Ada',
    email: 'ada@example.com',
    custom_scopes: ['maths'],
  })
  fixture.pass(1)
  await fixture.user({ username: 'grace', firstname: 'Grace', language: 'nl' })
  fixture.pass(1)
  await fixture.user({ username: 'alan', is_active: false })
})
afterAll(() => fixture.close())

const secrets = [
  'password_hash',
  'username_key',
  'email_key',
  'password',
  'settings',
  '_meta.update_hash',
  'nonsense',
]

describe.each(secrets)('%s cannot be looked at', (field) => {
  const inner: Query[] = [
    { kind: 'term', field, value: 'x' },
    { kind: 'terms', field, values: ['x'] },
    { kind: 'range', field, bounds: { gte: '$argon2id' } },
    { kind: 'exists', field },
    { kind: 'simple_query_string', fields: ['username', field], text: 'argon2id*' },
  ]
  const queries = inner.flatMap((query): Query[] => [
    query,
    { kind: 'not', query },
    { kind: 'filter', query },
    { kind: 'and', queries: [{ kind: 'all' }, query] },
    { kind: 'or', queries: [{ kind: 'not', query: { kind: 'and', queries: [query] } }] },
  ])
  test.each(queries)('%j', async (query) => {
    await expect(fixture.access.searchUsers(search({ query }))).rejects.toMatchObject({
      code: 'INVALID_QUERY',
    })
  })
  test('by sorting', async () => {
    const sort = [
      { field: 'username', order: 'asc', missing: 'last' },
      { field, order: 'asc', missing: 'last' },
    ] as const
    await expect(fixture.access.searchUsers(search({ sort }))).rejects.toMatchObject({
      code: 'INVALID_QUERY',
    })
  })
})

test('free text over everything does not reach into hashes', async () => {
  const [ada] = (await fixture.records('_users')).filter(({ username }) => username === 'ada')
  const parts = String(ada?.password_hash)
    .split(/[^A-Za-z0-9]+/)
    .filter((part) => part.length > 1)
  expect(parts).toContain('argon2id')
  for (const text of [...parts, 'argon2id*', '"v 19 m 12288"']) {
    const query = { kind: 'simple_query_string', fields: [], text } as const
    expect(await fixture.access.searchUsers(search({ query }))).toMatchObject({ records: [], total: 0 })
  }
})

test.each<[string, Query, string[]]>([
  ['all, newest first', { kind: 'all' }, ['alan', 'grace', 'ada', 'admin']],
  ['a field', { kind: 'term', field: 'language', value: 'nl' }, ['grace']],
  ['a scope', { kind: 'term', field: 'custom_scopes', value: 'maths' }, ['ada']],
  ['inactive', { kind: 'not', query: { kind: 'term', field: 'is_active', value: true } }, ['alan']],
  ['with an address', { kind: 'exists', field: 'email' }, ['ada']],
  ['text in any name', { kind: 'simple_query_string', fields: [], text: 'grace' }, ['grace']],
  ['text in one', { kind: 'simple_query_string', fields: ['email'], text: 'example*' }, ['ada']],
])('found: %s', async (_name, query, usernames) => {
  const found = await fixture.access.searchUsers(search({ query }))
  expect(found.records.map(({ username }) => username)).toEqual(usernames)
  expect(found.total).toBe(usernames.length)
})

test('pages, with the total and a cursor', async () => {
  const sort = [{ field: 'username', order: 'asc', missing: 'last' }] as const
  const first = await fixture.access.searchUsers(search({ sort, limit: 3 }))
  expect(first.records.map(({ username }) => username)).toEqual(['ada', 'admin', 'alan'])
  expect(first).toMatchObject({ total: 4, next: expect.any(String) })
  const second = await fixture.access.searchUsers(search({ sort, limit: 3, after: first.next ?? '' }))
  expect(second.records.map(({ username }) => username)).toEqual(['grace'])
  expect(second.next).toBeUndefined()
})
