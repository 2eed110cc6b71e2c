import { describe, expect, test } from 'vitest'
import {
  type Access,
  accessOf,
  accessProblem,
  changeOf,
  grantsFor,
  scopeNames,
  scopesOf,
  usualAccess,
  withReaderGroups,
  withReaders,
} from './application-access.ts'

const groups: Access = {
  readers: 'groups',
  readerGroups: ['sales'],
  writers: 'groups',
  writerGroups: ['boss'],
}

test('the scopes are named after the storage, never like one of Quoin itself, and are not too long', () => {
  expect(scopeNames('contracts')).toEqual({ read: 'contracts_read', write: 'contracts_write' })
  for (const storage of ['s'.repeat(63), 'users', 'queue'])
    for (const name of Object.values(scopeNames(storage))) expect(name.length).toBeLessThanOrEqual(64)
})

test.each<[string, Access, readonly string[], readonly string[]]>([
  ['as before groups could be chosen', usualAccess, ['*loggedin'], ['*loggedin']],
  ['everyone reads', { ...usualAccess, readers: 'public' }, ['*public'], ['*loggedin']],
  ['some write', { ...groups, readers: 'loggedin' }, ['*loggedin'], ['contracts_write']],
  ['those who write also read', groups, ['contracts_read', 'contracts_write'], ['contracts_write']],
])('%s', (_, access, read, write) => {
  expect(scopesOf('contracts', access)).toEqual({ read, write })
})

test('where groups read, no others write', () => {
  const narrowed = withReaders({ ...usualAccess, readerGroups: ['sales'] }, 'groups')
  expect(narrowed).toMatchObject({ writers: 'groups', writerGroups: ['sales'] })
  expect(withReaderGroups(narrowed, ['sales', 'office']).writerGroups).toEqual(['sales', 'office'])
  expect(withReaderGroups({ ...narrowed, writerGroups: ['boss'] }, ['office']).writerGroups).toEqual(['boss'])
  expect(withReaders(usualAccess, 'public').writers).toBe('loggedin')
})

test.each<[Access, ReturnType<typeof accessProblem>]>([
  [usualAccess, undefined],
  [groups, undefined],
  [{ ...groups, writers: 'loggedin' }, 'writers'],
  [{ ...groups, writerGroups: [] }, 'writers'],
  [{ ...groups, readerGroups: [] }, undefined],
])('%j has a problem with %s', (access, problem) => {
  expect(accessProblem(access)).toBe(problem)
})

describe('groups are given and lose exactly the two scopes', () => {
  const held = [
    { guid: 'sales', scopes: ['mail'] },
    { guid: 'boss', scopes: ['contracts_write'] },
    { guid: 'office', scopes: ['contracts_read', 'mail'] },
  ]

  test('chosen ones get them, others lose them', () => {
    expect(grantsFor('contracts', groups, held)).toEqual([
      { guid: 'sales', scopes: ['mail', 'contracts_read'] },
      { guid: 'office', scopes: ['mail'] },
    ])
  })

  test('where signed-in users may, no group is touched', () => {
    expect(grantsFor('contracts', usualAccess, held)).toEqual([])
  })

  test('what triggers ask for is shown by groups', () => {
    const { read, write } = scopesOf('contracts', groups)
    expect(accessOf('contracts', { read: [read], write: [write] }, held)).toEqual({
      ...{ readers: 'groups', readerGroups: ['office'], writers: 'groups', writerGroups: ['boss'] },
    })
    expect(accessOf('contracts', { read: [['*public'], ['*loggedin']], write: [] }, held)).toMatchObject({
      ...{ readers: 'loggedin', writers: 'loggedin' },
    })
    expect(accessOf('contracts', { read: [['*public'], ['own']], write: [] }, held).readers).toBe('groups')
  })
})

test.each<[readonly string[], readonly string[], string]>([
  [['*loggedin'], ['*loggedin'], 'same'],
  [[], ['*public'], 'same'],
  [['*loggedin'], ['a'], 'narrower'],
  [['*public'], ['*loggedin'], 'narrower'],
  [['a'], ['*loggedin'], 'wider'],
  [['a', 'b'], ['a'], 'narrower'],
  [['a'], ['b', 'a'], 'wider'],
  [['a'], ['b'], 'other'],
])('from %j to %j is %s', (before, after, change) => {
  expect(changeOf(before, after)).toBe(change)
})
