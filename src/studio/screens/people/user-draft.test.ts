import { expect, test } from 'vitest'
import { lacksMail } from './user-draft.ts'

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
