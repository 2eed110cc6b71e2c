import { expect, test } from 'vitest'
import { changesOf } from '../../api/request.ts'
import { bodyOfUser, draftOfUser, lacksMail } from './user-draft.ts'

test.each([
  ['both are set', ['environment', 'setting'], false],
  ['there is no mail server', ['default', 'setting'], true],
  ['there is no public address', ['environment', 'default'], true],
] as const)('mail is set up or not: %s', (_what, [mail, address], lacks) => {
  const settings = [
    { name: 'QUOIN_MAIL_URL', source: mail },
    { name: 'QUOIN_PUBLIC_URL', source: address },
    { name: 'QUOIN_POOL', source: 'default' },
  ] as const
  expect(lacksMail(settings)).toBe(lacks)
})

test('nothing is claimed where the settings may not be read', () => {
  expect(lacksMail(undefined)).toBe(false)
})

const stored = { firstname: 'Eve', lastname: 'Mil', groups: ['a', 'b'], scopes: [], isActive: true }
const shown = { ...draftOfUser(undefined), ...stored }

test.each<[string, Partial<typeof stored>, object, object]>([
  ['nothing typed', {}, {}, {}],
  [
    'a name, while the user was set inactive',
    { lastname: 'Mill' },
    { is_active: false },
    { lastname: 'Mill' },
  ],
  [
    'a group added, while one was taken',
    { groups: ['a', 'b', 'c'] },
    { groups: ['a'] },
    { groups: ['a', 'c'] },
  ],
  [
    'a group taken, while one was added',
    { groups: ['b'] },
    { groups: ['a', 'b', 'd'] },
    { groups: ['b', 'd'] },
  ],
  ['all groups taken, while one was added', { groups: [] }, { groups: ['a', 'd'] }, { groups: ['d'] }],
  ['a list that is no longer there', { groups: ['b'] }, { groups: null }, { groups: ['b'] }],
])('a form sends what was typed: %s', (_what, typed, now, sent) => {
  const before = bodyOfUser(shown)
  expect(changesOf(bodyOfUser({ ...shown, ...typed }), before, { ...before, ...now })).toEqual(sent)
})
