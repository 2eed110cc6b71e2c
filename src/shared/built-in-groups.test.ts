import { expect, test } from 'vitest'
import { builtInGroups } from '../access/ensure-groups.ts'
import { equalsAdministrator, managementScopes } from './management-scopes.ts'

const scopesOf = (name: string) => builtInGroups().find((group) => group.name === name)?.scopes ?? []

test('there are five, and all but the owner hold known scopes, none of which gives all others', () => {
  expect(builtInGroups().map(({ name }) => name)).toEqual([
    'owner',
    'developer',
    'operator',
    'editor',
    'viewer',
  ])
  expect(scopesOf('owner')).toEqual(['*'])
  for (const { name, scopes } of builtInGroups().slice(1)) {
    expect([name, scopes.filter((scope) => !managementScopes.includes(scope))]).toEqual([name, []])
    expect([name, scopes.filter(equalsAdministrator)]).toEqual([name, []])
    expect([name, new Set(scopes).size]).toEqual([name, scopes.length])
  }
})

test.each([
  ['viewer', /_(?!view$)\w+$/],
  ['editor', /^(?:users|secrets|settings|blueprints|queue|backups)_/],
  [
    'operator',
    /^(?:blueprint\w*|applications|drafts|storages|users|authentication_groups|secrets)_(?!view$)/,
  ],
  ['developer', /^(?:users|authentication_groups|backups|settings|signin_providers)_(?!view$)/],
])('%s holds nothing like %s', (name, refused) => {
  const scopes = scopesOf(name)
  expect(scopes.length).toBeGreaterThan(3)
  expect(scopes.filter((scope) => refused.test(scope))).toEqual([])
})
