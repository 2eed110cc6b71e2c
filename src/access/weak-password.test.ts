import { expect, test } from 'vitest'
import { isCommonPassword } from './common-passwords.ts'
import { weakPasswordProblem } from './weak-password.ts'

test.each([
  ['1234567890', 'digits in a row'],
  ['0123456789012', 'digits in a row'],
  ['9876543210', 'digits in a row'],
  ['5678901234', 'digits in a row'],
  ['aaaaaaaaaa', 'repeat'],
  ['ababababab', 'repeat'],
  ['abcabcabca', 'repeat'],
  ['\u{1f511}'.repeat(10), 'repeat'],
  ['Ada Lovelace 1815', 'user name'],
  ['xLOVELACEx!', 'user name'],
  ['qwertyuiop', 'common password'],
  ['QwertyUiop', 'common password'],
  ['1qaz2wsx3edc', 'common password'],
  ['basketball', 'common password'],
  ['password2026!', 'common password'],
  ['!!Welcome2026', 'common password'],
  ['ｐａｓｓｗｏｒｄ１２３', 'common password'],
])('%s is refused: %s', (password, words) => {
  expect(weakPasswordProblem(password, 'lovelace')).toContain(words)
})

test.each([
  'correct horse battery staple',
  '1358924670',
  '1234567809',
  'aaaaaaaaab',
  'abcdabceab',
  'my passwords',
  'k7m2p-q9x4t-h3n8v-b6r5w',
  `${'x'.repeat(1023)}y`,
])('%s is accepted', (password) => {
  // A short username is part of too many words.
  expect(weakPasswordProblem(password, 'ada')).toBeUndefined()
  expect(weakPasswordProblem(password, '')).toBeUndefined()
})

test('the list is whole', () => {
  for (const first of ['0.0.0.000', 'adidas2004']) expect(isCommonPassword(first)).toBe(false)
  for (const known of ['manchester', 'password123', 'q1w2e3r4t5', 'changeme123', 'california'])
    expect([known, isCommonPassword(known)]).toEqual([known, true])
})
