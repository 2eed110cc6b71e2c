import { describe, expect, test } from 'vitest'
import { QuoinError } from '../shared/errors.ts'
import type { JsonValue } from '../shared/json.ts'
import { checkPassword, userInput, weakPassword } from './user-input.ts'

function refusal(work: () => unknown): QuoinError {
  try {
    work()
  } catch (error) {
    if (error instanceof QuoinError) return error
    throw error
  }
  throw new Error('It was accepted.')
}

const guid = '01890a5d-ac96-774b-bcce-b302099a8057'

describe('refused, naming the field', () => {
  test.each<[string, string, JsonValue]>([
    ['no text', 'username', 5],
    ['empty', 'username', ''],
    ['only a space', 'username', ' '],
    ['space in front', 'username', ' ada'],
    ['space behind', 'username', 'ada '],
    ['control character', 'username', 'a\u0007da'],
    ['invisible character', 'username', 'ada\u200b'],
    ['too long', 'username', 'x'.repeat(65)],
    ['null', 'username', null],
    ['no text', 'password', 1234567890],
    ['too short', 'password', 'nine char'],
    ['too few characters in many units', 'password', '😀'.repeat(9)],
    ['too long', 'password', 'x'.repeat(1025)],
    ['half a surrogate pair', 'password', `${'x'.repeat(10)}\ud800`],
    ['no at sign', 'email', 'ada.example.com'],
    ['two at signs', 'email', 'ada@@example.com'],
    ['a space', 'email', 'ada @example.com'],
    ['a header break', 'email', 'ada@example.com\r\nBcc:x@example.com'],
    ['too long', 'email', `${'x'.repeat(250)}@a.nl`],
    ['too long', 'firstname', 'x'.repeat(101)],
    ['control character', 'lastname', 'a\u0000b'],
    ['no text', 'first_name', {}],
    ['unknown', 'timezone', 'Mars/Olympus'],
    ['no tag', 'language', 'not a language'],
    ['no list', 'settings', {}],
    ['no key', 'settings', [{ value: 'on' }]],
    ['no value', 'settings', [{ key: 'theme' }]],
    ['too large', 'settings', [{ key: 'x', value: 'x'.repeat(20_000) }]],
    ['no list', 'custom_scopes', '*'],
    ['kept name', 'custom_scopes', ['*public']],
    ['no text', 'custom_scopes', [1]],
    ['too many', 'custom_scopes', Array.from({ length: 201 }, (_, index) => `s${index}`)],
    ['no guid', 'groups', ['administrators']],
    ['no boolean', 'is_active', 'true'],
    ['no boolean', 'active', 0],
    ['secret', 'password_hash', 'x'],
    ['internal', 'username_key', 'x'],
    ['unknown', 'nonsense', 1],
    ['a name of the language', 'constructor', 1],
  ])('%s: %s', (_name, field, value) => {
    const error = refusal(() => userInput({ [field]: value }))
    expect(error.code).toBe('INVALID_BODY')
    expect(error.fields).toEqual([field])
    expect(error.message).toMatch(new RegExp(`^${field} .+\\.$`, 's'))
  })

  test('all at once, with what is missing', () => {
    const error = refusal(() => userInput({ email: 'x', nonsense: 1 }, ['username', 'password']))
    expect(error.fields).toEqual(['email', 'nonsense', 'username', 'password'])
  })

  test('a field and its other name together', () => {
    expect(refusal(() => userInput({ firstname: 'A', first_name: 'B' })).fields).toEqual(['first_name'])
    expect(refusal(() => userInput({ active: true, is_active: false })).fields).toEqual(['is_active'])
  })

  test('the password is never in the message', () => {
    expect(refusal(() => userInput({ password: 'hunter2' })).message).not.toContain('hunter2')
  })
})

test('everything that fits', () => {
  const fields = {
    username: 'x'.repeat(64),
    email: 'ada@example.com',
    firstname: 'Ada',
    lastname: '',
    timezone: 'Europe/Amsterdam',
    language: 'nl-NL',
    settings: [{ key: 'theme', value: 'dark' }],
    custom_scopes: ['*', 'tasks-write'],
    groups: [guid],
    is_active: false,
  }
  expect(userInput({ ...fields, password: 'x'.repeat(1024) })).toEqual({ fields, password: 'x'.repeat(1024) })
})

test('other names of fields are taken, read-only fields are ignored, no address is null', () => {
  const input = { first_name: 'A', last_name: 'B', active: true, email: '' }
  const readOnly = { _meta: { guid }, login_attempts: 0, locked_until: 0, last_activity: 5 }
  expect(userInput({ ...input, ...readOnly })).toEqual({
    fields: { firstname: 'A', lastname: 'B', is_active: true, email: null },
    password: undefined,
  })
})

test('checkPassword', async () => {
  const wrong = (password: string, username: string) => checkPassword(password, username).catch(String)
  expect(await wrong('too short', '')).toContain('at least 10 characters')
  await expect(checkPassword('Augusta Ada King', 'augusta')).rejects.toMatchObject({
    ...{ code: 'INVALID_BODY', fields: ['password'], details: { weak: 'username' } },
  })
  expect(await wrong('long enough', '')).toBeUndefined()
})

test.each([
  ['1234567890', 'digits'],
  ['0123456789012', 'digits'],
  ['9876543210', 'digits'],
  ['5678901234', 'digits'],
  ['aaaaaaaaaa', 'repeated'],
  ['ababababab', 'repeated'],
  ['abcabcabca', 'repeated'],
  ['\u{1f511}'.repeat(10), 'repeated'],
  ['Ada Lovelace 1815', 'username'],
  ['xLOVELACEx!', 'username'],
  ['qwertyuiop', 'common'],
  ['QwertyUiop', 'common'],
  ['1qaz2wsx3edc', 'common'],
  ['basketball', 'common'],
  ['password2026!', 'common'],
  ['!!Welcome2026', 'common'],
  ['ｐａｓｓｗｏｒｄ１２３', 'common'],
])('%s is refused: %s', async (password, reason) => {
  expect(await weakPassword(password, 'lovelace')).toBe(reason)
})

test.each([
  'correct horse battery staple',
  '1358924670',
  '1234507698',
  'aaaaaaaaab',
  'abcdabceab',
  'my passwords',
  'k7m2p-q9x4t-h3n8v-b6r5w',
  `${'x'.repeat(1023)}y`,
])('%s is accepted', async (password) => {
  // A short username is part of too many words.
  expect(await weakPassword(password, 'ada')).toBeUndefined()
  expect(await weakPassword(password, '')).toBeUndefined()
})
