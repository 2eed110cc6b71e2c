/** Patches in the forms that Entra and Okta send (`test/end-to-end/scim-vendors.test.ts` says where they are published), and patches that are refused. */
import { expect, test } from 'vitest'
import { patchedGroup } from './scim-group.ts'
import { patchedUser, userFields } from './scim-user.ts'

const one = '019a0000-0000-7000-8000-000000000001'
const two = '019a0000-0000-7000-8000-000000000002'
const patch = (...operations: unknown[]) => ({
  schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
  Operations: operations,
})

test.each([
  ['no body', undefined, 'must be an object'],
  ['a list', [], 'must be an object'],
  ['no operations', {}, 'at least one operation'],
  ['an empty list', patch(), 'at least one operation'],
  [
    '1,001 operations',
    patch(...Array(1_001).fill({ op: 'add', path: 'active', value: true })),
    'at most 1000 operations',
  ],
  ['another op', patch({ op: 'move', path: 'active', value: true }), 'op must be add'],
  ['an operation that is a text', patch('add'), 'must be an object'],
  ['a path that is a number', patch({ op: 'add', path: 5, value: true }), 'path must be a text'],
  [
    'a path that is not closed',
    patch({ op: 'add', path: 'emails[type eq "work"', value: 'a@b.c' }),
    'cannot be read',
  ],
  ['a path of 600 characters', patch({ op: 'add', path: 'a'.repeat(600), value: 1 }), 'cannot be read'],
  ['a removal without a path', patch({ op: 'remove' }), 'needs a path'],
  ['a value without a path that is no object', patch({ op: 'replace', value: 'x' }), 'must be an object'],
  ['a user without a name', patch({ op: 'remove', path: 'userName' }), 'cannot be removed'],
  ['active: maybe', patch({ op: 'replace', path: 'active', value: 'maybe' }), 'true or false'],
  [
    'an external id with an invisible character',
    patch({ op: 'add', path: 'externalId', value: 'a\u200bb' }),
    'invisible',
  ],
  [
    'an external id of 201 characters',
    patch({ op: 'add', path: 'externalId', value: 'a'.repeat(201) }),
    'at most 200',
  ],
  ['a name that is a text', patch({ op: 'add', path: 'name', value: 'Ada' }), 'name must be an object'],
  [
    'an address that is none',
    patch({ op: 'add', path: 'emails', value: [{ value: 'no' }] }),
    'name@example.com',
  ],
  ['emails that are numbers', patch({ op: 'add', path: 'emails', value: [1] }), 'list of objects'],
  ['a user name with a space at its end', patch({ op: 'add', path: 'userName', value: 'ada ' }), 'space'],
])('a patch of a user with %s is refused', (_, body, problem) => {
  expect(() => patchedUser(body)).toThrow(problem)
})

test.each([
  ['Entra: disable a user', [{ op: 'Replace', path: 'active', value: 'False' }], { is_active: false }],
  [
    'Entra: disable a user, with the flag of 2020',
    [{ op: 'replace', path: 'active', value: false }],
    { is_active: false },
  ],
  [
    'Entra: several attributes',
    [
      { op: 'Replace', path: 'emails[type eq "work"].value', value: 'updatedEmail@microsoft.com' },
      { op: 'Replace', path: 'name.familyName', value: 'updatedFamilyName' },
    ],
    { email: 'updatedEmail@microsoft.com', lastname: 'updatedFamilyName' },
  ],
  [
    'Entra: add with dotted names and the enterprise extension, without a path',
    [
      {
        op: 'Add',
        value: {
          'name.givenName': 'Ada',
          'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:department': 'Maths',
          displayName: 'Ada L.',
        },
      },
    ],
    { firstname: 'Ada' },
  ],
  [
    'Entra: the manager',
    [{ op: 'Add', path: 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:manager', value: one }],
    {},
  ],
  [
    'Entra: a user name',
    [{ op: 'Replace', path: 'userName', value: '5b50642d@contoso.com' }],
    { username: '5b50642d@contoso.com' },
  ],
  ['Okta: deactivate, without a path', [{ op: 'replace', value: { active: false } }], { is_active: false }],
  [
    'Okta: a profile, without a path',
    [
      {
        op: 'replace',
        value: {
          userName: 'ada',
          name: { givenName: 'Ada', familyName: 'L' },
          emails: [{ primary: true, value: 'a@example.com', type: 'work' }],
        },
      },
    ],
    { username: 'ada', firstname: 'Ada', lastname: 'L', email: 'a@example.com' },
  ],
  ['a password, which is ignored', [{ op: 'replace', value: { password: 't1meMa$heen' } }], {}],
  [
    'an address at home, which is ignored',
    [{ op: 'add', path: 'emails[type eq "home"].value', value: 'h@example.com' }],
    {},
  ],
  ['a removed address', [{ op: 'remove', path: 'emails[type eq "work"]' }], { email: null }],
  ['a removed name', [{ op: 'remove', path: 'name' }], { firstname: '', lastname: '' }],
  [
    'an unknown language and time zone, which are ignored',
    [{ op: 'add', value: { locale: 'no such', timezone: 'Mars/Base' } }],
    {},
  ],
  [
    'a schema as part of the path',
    [{ op: 'add', path: 'urn:ietf:params:scim:schemas:core:2.0:User:name.givenName', value: 'A' }],
    { firstname: 'A' },
  ],
  [
    'the last of two operations',
    [
      { op: 'add', path: 'active', value: true },
      { op: 'add', path: 'active', value: false },
    ],
    { is_active: false },
  ],
  [
    'names of objects',
    [
      { op: 'add', path: 'constructor', value: 1 },
      { op: 'add', path: 'name', value: { toString: 'x' } },
    ],
    {},
  ],
])('%s', (_, operations, fields) => {
  expect(patchedUser(patch(...operations))).toEqual(fields)
})

test('a whole user empties what it leaves out, and stays active', () => {
  expect(
    userFields(
      {
        userName: 'ada',
        emails: [
          { value: 'h@e.org', type: 'home' },
          { value: 'w@e.org', type: 'work' },
        ],
      },
      true,
    ),
  ).toEqual({
    username: 'ada',
    email: 'w@e.org',
    external_id: '',
    firstname: '',
    lastname: '',
    language: 'en',
    timezone: 'UTC',
  })
  expect(() => userFields({ externalId: 'x' }, true)).toThrow('userName is required')
})

test.each([
  ['a member without a value', [{ op: 'add', path: 'members', value: [{}] }], 'A member is'],
  ['a member that is a name', [{ op: 'add', path: 'members', value: [{ value: 'ada' }] }], 'A member is'],
  [
    '1,001 members',
    [{ op: 'add', path: 'members', value: Array(1_001).fill({ value: one }) }],
    'at most 1000 members',
  ],
  [
    '1,001 members in two operations',
    [
      { op: 'add', path: 'members', value: Array(1_000).fill({ value: one }) },
      { op: 'remove', path: `members[value eq "${one}"]` },
    ],
    'at most 1000 members',
  ],
  ['members without a value', [{ op: 'add', path: 'members' }], 'must be a list'],
  ['a filter by another attribute', [{ op: 'remove', path: 'members[display eq "x"]' }], 'removed by'],
  ['a filter to add', [{ op: 'add', path: `members[value eq "${one}"]` }], 'removed by'],
  ['a name that is a number', [{ op: 'replace', path: 'displayName', value: 5 }], 'must be a text'],
])('a patch of a group with %s is refused', (_, operations, problem) => {
  expect(() => patchedGroup(patch(...operations))).toThrow(problem)
})

test.each([
  [
    'Entra: add members',
    [
      {
        op: 'Add',
        path: 'members',
        value: [
          { $ref: null, value: one },
          { $ref: null, value: two },
        ],
      },
    ],
    { members: [{ op: 'add', users: [one, two] }] },
  ],
  [
    'Entra: remove members by value',
    [{ op: 'Remove', path: 'members', value: [{ $ref: null, value: one }] }],
    { members: [{ op: 'remove', users: [one] }] },
  ],
  [
    'Entra: a name',
    [{ op: 'Replace', path: 'displayName', value: 'updated' }],
    { name: 'updated', members: [] },
  ],
  [
    'Okta: add and remove by a filter',
    [
      { op: 'remove', path: `members[value eq "${one}"]` },
      { op: 'add', path: 'members', value: [{ value: two, display: 'two@example.com' }] },
    ],
    {
      members: [
        { op: 'remove', users: [one] },
        { op: 'add', users: [two] },
      ],
    },
  ],
  [
    'Okta: a name without a path',
    [{ op: 'replace', value: { id: one, displayName: 'Test' } }],
    { name: 'Test', members: [] },
  ],
  [
    'Okta: replace members',
    [{ op: 'replace', path: 'members', value: [{ value: one, display: 'x' }] }],
    { members: [{ op: 'replace', users: [one] }] },
  ],
  ['remove all', [{ op: 'remove', path: 'members' }], { members: [{ op: 'remove', users: 'all' }] }],
])('%s', (_, operations, change) => {
  expect(patchedGroup(patch(...operations))).toEqual(change)
})
