import { expect, test } from 'vitest'
import { managementScopes } from '../../shared/management-scopes.ts'
import { scopeWords } from './scope-words.ts'

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
  expect(scopeWords(scope)).toBe(words)
})

test('every scope of the management API has words', () => {
  expect(managementScopes.filter((scope) => scopeWords(scope) === scope)).toEqual([])
})
