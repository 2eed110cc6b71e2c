import { expect, test } from 'vitest'
import { changesOf, type Dispute } from '../../api/save-changes.ts'
import { typedOver, withTyped } from '../../controls/hooks.ts'
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
])('a form sends what was typed: %s', (_what, typed, now, sent) => {
  const before = bodyOfUser(shown)
  const { changes, disputes } = changesOf(bodyOfUser({ ...shown, ...typed }), before, { ...before, ...now })
  expect([changes, disputes]).toEqual([sent, []])
})

const rule = (field: string, message = field) => ({ rule: `doc.${field} > 0`, message, field })

/** What was shown, what one has made of it, and another person; what is sent, and what is asked first. */
test.each<[string, object, object, object, object, readonly Dispute[]]>([
  [
    'the same text to different ones: asked',
    { css: 'a' },
    { css: 'b' },
    { css: 'c' },
    { css: 'b' },
    [{ at: 'css', mine: 'b', theirs: 'c' }],
  ],
  [
    'a text that another has emptied: asked',
    { css: 'a' },
    { css: 'b' },
    { css: null },
    { css: 'b' },
    [{ at: 'css', mine: 'b', theirs: null }],
  ],
  [
    'a list that is no longer there: asked',
    { groups: ['a', 'b'] },
    { groups: ['b'] },
    { groups: null },
    { groups: ['b'] },
    [{ at: 'groups', mine: ['b'], theirs: null }],
  ],
  [
    'the same permission: asked',
    { rules: { see: 'a', create: '' } },
    { rules: { see: 'b', create: '' } },
    { rules: { see: 'c', create: 'd' } },
    { rules: { see: 'b', create: 'd' } },
    [{ at: 'rules.see', mine: 'b', theirs: 'c' }],
  ],
  [
    'the same constraint: asked',
    { constraints: [rule('a'), rule('b')] },
    { constraints: [rule('a', 'mine'), rule('b')] },
    { constraints: [rule('a', 'theirs'), rule('b')] },
    { constraints: [rule('a', 'mine'), rule('b')] },
    [
      {
        at: 'constraints',
        mine: [rule('a', 'mine'), rule('b')],
        theirs: [rule('a', 'theirs'), rule('b')],
      },
    ],
  ],
  [
    'a list in which places count: asked',
    { value: [1, 2] },
    { value: [1, 2, 3] },
    { value: [0, 1, 2] },
    { value: [1, 2, 3] },
    [{ at: 'value', mine: [1, 2, 3], theirs: [0, 1, 2] }],
  ],
  ['both to the same: nothing is left to do', { css: 'a' }, { css: 'b' }, { css: 'b' }, {}, []],
  ['only another person: it stays', { css: 'a' }, { css: 'a' }, { css: 'b' }, {}, []],
  [
    'another permission: both stay',
    { rules: { see: '', create: '' } },
    { rules: { see: 'mine', create: '' } },
    { rules: { see: '', create: 'theirs' } },
    { rules: { see: 'mine', create: 'theirs' } },
    [],
  ],
  [
    'a member is removed, and another one added: both',
    { headers: { a: '1', b: '2' } },
    { headers: { b: '2' } },
    { headers: { a: '1', b: '2', c: '3' } },
    { headers: { b: '2', c: '3' } },
    [],
  ],
  [
    'a constraint each: both stay',
    { constraints: [rule('a')] },
    { constraints: [rule('a'), rule('mine')] },
    { constraints: [rule('a'), rule('theirs')] },
    { constraints: [rule('a'), rule('mine'), rule('theirs')] },
    [],
  ],
  [
    'a constraint removed, while one was added: both',
    { constraints: [rule('a')] },
    { constraints: [] },
    { constraints: [{ field: 'a', message: 'a', rule: 'doc.a > 0' }, rule('theirs')] },
    { constraints: [rule('theirs')] },
    [],
  ],
])('two people change a form: %s', (_what, shownBefore, mine, theirs, sent, asked) => {
  const { changes, disputes } = changesOf(mine, shownBefore, theirs)
  expect([changes, disputes]).toEqual([sent, asked])
})

test.each([
  ['mine', { css: 'b', js: 'y' }],
  ['theirs', { js: 'y' }],
] as const)('of a dispute that was decided, %s is stored', (whose, sent) => {
  const decided = changesOf({ css: 'b', js: 'y' }, { css: 'a', js: 'x' }, { css: 'c', js: 'x' }, () => whose)
  expect([decided.changes, decided.disputes]).toEqual([sent, []])
})

test('a form remembers what it showed before it was typed over, not what was stored later', () => {
  const first = withTyped({ typed: {}, before: {} }, { css: 'a', js: 'x' }, 'css', 'b')
  const second = withTyped(first, { css: 'theirs', js: 'x' }, 'css', 'bc')
  expect(second).toEqual({ typed: { css: 'bc' }, before: { css: 'a' } })
  // What was typed while it was sent is over what was sent; the rest is as it is stored.
  const both = withTyped(second, { css: 'theirs', js: 'x' }, 'js', 'y')
  expect(typedOver(both, { css: 'b', js: 'y' })).toEqual({ typed: { css: 'bc' }, before: { css: 'b' } })
})
