import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { quoinCommand } from '../../test/recording-terminal.ts'
import { commands } from './run-command.ts'

test.each([
  { words: ['chek'], complaint: 'There is no command: quoin chek' },
  { words: ['user'], complaint: 'There is no command: quoin user' },
  { words: ['start', 'now'], complaint: 'There is a word too many: now.' },
  { words: ['check'], complaint: 'A word is missing. Usage: quoin check <file>' },
  { words: ['export'], complaint: 'A word is missing.' },
  { words: ['export', 'a', 'b', 'c'], complaint: 'There is a word too many: c.' },
  { words: ['export', 'a', '--url'], complaint: "'--url <value>' argument missing" },
  { words: ['export', 'a', '--url', 'localhost'], complaint: '--url takes an address' },
  { words: ['export', 'a', '--url', 'ftp://localhost'], complaint: '--url takes an address' },
  { words: ['export', 'a', '--url', 'http://me:secret@localhost'], complaint: 'must not hold a password' },
  { words: ['import', '--activate'], complaint: 'A word is missing.' },
  { words: ['user', 'create', 'a', '--password', 'b'], complaint: "Unknown option '--password'" },
  { words: ['user', 'create', 'a', '--password-stdin'], complaint: 'no password on the standard input' },
  { words: ['backup'], complaint: 'A word is missing.' },
  { words: ['restore', 'a', '--forced'], complaint: "Unknown option '--forced'" },
])('quoin $words makes no sense: exit code 2 and one line', async ({ words, complaint }) => {
  const end = await quoinCommand(words, { QUOIN_TOKEN: 'a token' })
  expect(end).toMatchObject({ code: 2, printed: '' })
  expect(end.complained).toContain(complaint)
  expect(end.complained.split('\n')).toHaveLength(1)
})

test('without a token there is no work over HTTP', async () => {
  const end = await quoinCommand(['export', 'a', '--url', 'http://127.0.0.1:9'])
  expect(end).toMatchObject({ code: 2, printed: '' })
  expect(end.complained).toContain('QUOIN_TOKEN')
})

test('a setting that is not accepted is one line that names it: exit code 1', async () => {
  const end = await quoinCommand(['start'], { QUOIN_PORT: 'abc' })
  expect(end).toMatchObject({ code: 1, printed: '' })
  expect(end.complained).toBe('QUOIN_PORT is "abc"; it must be a whole number from 0 to 65535.')
})

test.each(['192.0.2.1', 'no-such-host.invalid'])(
  'an address that this machine does not have (%s) is one line that names the setting',
  async (host) => {
    const data = await mkdtemp(join(tmpdir(), 'quoin-test-'))
    const settings = { QUOIN_HOST: host, QUOIN_DATA: data, QUOIN_EXAMPLES: '0', QUOIN_LOG_LEVEL: 'silent' }
    const end = await quoinCommand(['start'], { ...settings, QUOIN_PORT: '0' })
    await rm(data, { recursive: true })
    expect(end).toMatchObject({ code: 1, printed: '' })
    expect(end.complained).toBe(
      `QUOIN_HOST is "${host}"; it must be an address of this machine, such as 127.0.0.1, or 0.0.0.0 for all.`,
    )
  },
)

test.each([
  ['CHANGE-this-password', 'begins with CHANGE'],
  ['1234567890', 'must not be digits in a row'],
  ['short', 'must have at least 10 characters'],
])('the first password %s is refused in one line that names the setting', async (password, words) => {
  const data = await mkdtemp(join(tmpdir(), 'quoin-test-'))
  const settings = { QUOIN_DATA: data, QUOIN_PORT: '0', QUOIN_EXAMPLES: '0', QUOIN_LOG_LEVEL: 'silent' }
  const end = await quoinCommand(['start'], { ...settings, QUOIN_ADMIN_PASSWORD: password })
  await rm(data, { recursive: true })
  expect(end).toMatchObject({ code: 1, printed: '' })
  expect(end.complained).toContain(`QUOIN_ADMIN_PASSWORD ${words}`)
})

test.each([[], ['help'], ['--help'], ['-h']])('quoin %s lists every command', async (...words) => {
  const end = await quoinCommand(words)
  expect(end).toMatchObject({ code: 0, complained: '' })
  for (const { usage } of commands) expect(end.printed).toContain(`quoin ${usage}`)
})

test.each(['version', '--version', '-v'])('quoin %s prints the version and nothing else', async (word) => {
  const end = await quoinCommand([word])
  expect(end).toEqual({ code: 0, complained: '', printed: expect.stringMatching(/^\d+\.\d+\.\d+$/) })
})

test.each(commands.map(({ usage }) => usage))('quoin %s has help, and does nothing then', async (usage) => {
  const words = usage.split(' ').filter((word) => /^[a-z]/.test(word))
  const end = await quoinCommand([...words, '--help'], { QUOIN_DATA: '/nowhere/at/all' })
  expect(end).toMatchObject({ code: 0, complained: '' })
  expect(end.printed).toContain(`quoin ${usage}\n`)
  expect(end.printed.split('\n').length).toBeGreaterThan(4)
})
