import { describe, expect, test } from 'vitest'
import { firstMissingScope, holds, mayEnter, scopeNameProblem } from './scopes.ts'

const holding = (...names: string[]) => ({ scopes: new Set(names) })

describe('mayEnter', () => {
  test.each([
    ['*loggedin', undefined, false],
    ['writers', undefined, false],
    ['*', undefined, false],
    ['writers', holding(), false],
    ['writers', holding('readers'), false],
    ['writers', holding('WRITERS'), false],
    ['*', holding('readers'), false],
    ['readers writers', holding('others'), false],
    ['', undefined, true],
    ['*public', undefined, true],
    ['writers *public', undefined, true],
    ['*loggedin', holding(), true],
    ['writers', holding('writers'), true],
    ['readers writers', holding('writers'), true],
    ['writers', holding('*'), true],
    ['*', holding('*'), true],
  ])('asked for "%s"', (required, identity, expected) => {
    expect(mayEnter(required.split(' ').filter(Boolean), identity)).toBe(expected)
  })
})

test.each([
  [[], 'users_view', false],
  [['users_create'], 'users_view', false],
  [['users_create'], '*', false],
  [['users_view'], 'users_view', true],
  [['*'], 'anything', true],
])('%j holds %s: %s', (scopes, name, expected) => {
  expect(holds(new Set(scopes), name)).toBe(expected)
})

test.each([
  [['a'], ['a', 'b', 'c'], 'b'],
  [['a'], ['*'], '*'],
  [['a', 'b'], ['b', 'a'], undefined],
  [['*'], ['*', 'a'], undefined],
])('of %j the first of %j not held is %s', (scopes, names, expected) => {
  expect(firstMissingScope(new Set(scopes), names)).toBe(expected)
})

test.each([
  ['', 'is empty'],
  ['*public', 'starts with *'],
  ['*loggedin', 'starts with *'],
  ['**', 'starts with *'],
  ['two words', 'spaces'],
  ['zero\u200bwidth', 'invisible'],
  ['x'.repeat(65), 'longer than 64'],
])('%j cannot be held', (name, problem) => {
  expect(scopeNameProblem(name)).toContain(problem)
})

test.each(['*', 'tasks-write', 'users_view', 'x'.repeat(64), 'schrijvers_é'])('%s can be held', (name) => {
  expect(scopeNameProblem(name)).toBeUndefined()
})
