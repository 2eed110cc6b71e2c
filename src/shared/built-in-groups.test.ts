import { expect, test } from 'vitest'
import { builtInGroups } from '../access/ensure-groups.ts'
import { draftScopes, equalsAdministrator, managementScopes } from './management-scopes.ts'

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

test('only the developer, beside the owner, may change drafts, and holds each scope that they ask for', () => {
  const drafting = builtInGroups().filter(({ scopes }) => scopes.includes('drafts_create'))
  expect(drafting.map(({ name }) => name)).toEqual(['developer'])
  expect(draftScopes.filter((scope) => !scopesOf('developer').includes(scope))).toEqual([])
  // It spends tokens: an administrator grants it apart.
  expect(scopesOf('developer')).not.toContain('assistant_use')
})
