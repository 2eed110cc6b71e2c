import { describe, expect, it } from 'vitest'
import type { Group, User } from '../../../shared/api/people/users.ts'
import { changedByProvider, changedRights, meaningOf, scopeUses } from './known-scopes.ts'

const _meta = {
  guid: 'g',
  entity: 1,
  created: 0,
  updated: 0,
  cms: 0,
  ums: 0,
  removed: 0,
  expiry: -1,
  update_hash: '',
}
const group = (name: string, scopes: string[]): Group => ({
  _meta,
  name,
  description: '',
  scopes,
  is_active: true,
  second_factor_days: null,
})
const user = (username: string, custom_scopes: string[]): User => ({
  _meta,
  username,
  email: null,
  firstname: null,
  lastname: null,
  timezone: null,
  language: null,
  is_active: true,
  custom_scopes,
})

describe('scopes', () => {
  it('are listed with who holds them and what they open', () => {
    const uses = scopeUses(
      [group('Desk', ['orders', 'users_view'])],
      [user('ann', ['orders']), user('bob', [])],
      [
        { scopes: ['orders', '*public'], blueprint_guid: 'b1' },
        { scopes: ['orders'], blueprint_guid: 'b1' },
      ],
    )
    expect(uses).toEqual([
      { scope: '*public', groups: [], users: [], blueprints: ['b1'] },
      { scope: 'orders', groups: ['Desk'], users: ['ann'], blueprints: ['b1'] },
      { scope: 'users_view', groups: ['Desk'], users: [], blueprints: [] },
    ])
  })

  it.each([
    ['orders', ''],
    ['*', 'Everything.'],
    ['authentication_groups_view', 'May view groups.'],
    ['queue_view', 'Sees jobs with the data that flows gave them, also of other users.'],
  ])('%s means %j', (scope, meaning) => {
    expect(meaningOf(scope)).toBe(meaning)
  })
})

describe('a change of rights', () => {
  const desk = { ...group('Desk', ['orders', 'users_view']), _meta: { ..._meta, guid: 'desk' } }
  const old = { ...group('Old', ['ships']), _meta: { ..._meta, guid: 'old' }, is_active: false }
  const nothing = { scopes: [], groups: [] }
  it.each([
    ['nothing', nothing, nothing, [], []],
    ['a group', nothing, { scopes: [], groups: ['desk'] }, ['orders', 'users_view'], []],
    [
      'a group of what is held',
      { scopes: ['orders'], groups: [] },
      { scopes: ['orders'], groups: ['desk'] },
      ['users_view'],
      [],
    ],
    ['a group that is not active', nothing, { scopes: [], groups: ['old'] }, [], []],
    ['everything', { scopes: ['orders'], groups: [] }, { scopes: ['*'], groups: [] }, ['*'], []],
    ['a group beside everything', { scopes: ['*'], groups: [] }, { scopes: ['*'], groups: ['desk'] }, [], []],
    [
      'a group less',
      { scopes: ['orders'], groups: ['desk'] },
      { scopes: ['orders'], groups: [] },
      [],
      ['users_view'],
    ],
    ['everything less', { scopes: ['*'], groups: ['desk'] }, { scopes: [], groups: ['desk'] }, [], ['*']],
  ])('by %s', (_name, before, after, added, removed) => {
    expect(changedRights(before, after, [desk, old])).toEqual({ added, removed })
  })
})

describe('a change of a provider', () => {
  const guid = 'desk'
  const desk = { ...group('Desk', ['orders', 'users_view']), _meta: { ..._meta, guid } }
  const scopes = ['orders', 'users_view']
  const off = { is_active: true, create_users: false, groups: [guid], groups_expression: '' }
  const makes = { ...off, create_users: true }
  const asks = { ...off, groups_expression: 'claims.groups' }
  const none = { ...makes, groups: [] }
  it.each([
    ['makes no users and asks for no claims', undefined, off, 'new', [], []],
    ['is not active', undefined, { ...asks, is_active: false }, 'named', [], []],
    ['only has a space as expression', undefined, { ...off, groups_expression: ' ' }, 'new', [], []],
    ['has no group', undefined, none, 'new', [], []],
    ['is as before', asks, asks, 'named', [], []],
    ['makes users', undefined, makes, 'new', scopes, []],
    ['begins to make users', off, makes, 'new', scopes, []],
    ['makes users into one group more', none, makes, 'new', scopes, []],
    ['makes users into one group less', makes, none, 'new', [], scopes],
    ['makes no users any longer', makes, off, 'new', [], scopes],
    ['asks the claims from then on', makes, asks, 'named', scopes, []],
    ['asks the claims no longer', asks, makes, 'new', scopes, []],
    ['asks the claims in another way', asks, { ...asks, groups_expression: '["Desk"]' }, 'named', [], []],
    ['is switched off', asks, { ...asks, is_active: false }, 'named', [], scopes],
  ] as const)('that %s', (_name, before, after, who, added, removed) => {
    expect(changedByProvider(before, after, [desk])).toEqual({ who, added, removed })
  })
})
