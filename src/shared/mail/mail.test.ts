import { expect, test } from 'vitest'
import { mailAddress } from './mail.ts'

test.each([
  '',
  'ann',
  'ann@example',
  'ann@example.com, bob@example.com',
  'ann@example.com;bob@example.com',
  'ann@example.com\r\nBcc: eve@example.com',
  'Ann\r\nBcc: eve@example.com <ann@example.com>',
  'Ann\u2028Lee <ann@example.com>',
  'Ann <ann@example.com> <bob@example.com>',
  '<ann@example.com',
  'ann @example.com',
  '"a b"@example.com',
  `${'a'.repeat(64)}@${'b'.repeat(200)}.example`,
  `${'n'.repeat(129)} <ann@example.com>`,
])('%j is refused', (text) => {
  expect(mailAddress(text)).toBeUndefined()
})

test.each([
  [' ann@example.com ', '', 'ann@example.com'],
  ['<ann@example.com>', '', 'ann@example.com'],
  ['Ann Lee <ann@example.com>', 'Ann Lee', 'ann@example.com'],
  ['"Lee, Ann" <ann@example.com>', 'Lee, Ann', 'ann@example.com'],
  ['Änne <änne@bücher.example>', 'Änne', 'änne@bücher.example'],
])('%j is %j, %j', (text, name, address) => {
  expect(mailAddress(text)).toEqual({ name, address })
})
