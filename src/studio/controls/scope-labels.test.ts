import { expect, test } from 'vitest'
import { managementScopes } from '../../shared/management-scopes.ts'
import { scopeLabels } from './scope-labels.ts'

test.each([
  ['*', 'everything'],
  ['*loggedin', 'signed-in users'],
  ['users_view', 'view users'],
  ['authentication_groups_update', 'change groups'],
  ['runs_view', 'view traced runs'],
  ['deals_all', 'deals_all'],
  ['orders_view', 'orders_view'],
  ['constructor', 'constructor'],
])('%s is called %j', (scope, words) => {
  expect(scopeLabels(scope)).toBe(words)
})

test('every scope of the management API has words', () => {
  expect(managementScopes.filter((scope) => scopeLabels(scope) === scope)).toEqual([])
})
