import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { quoinCommand } from '../../test/recording-terminal.ts'
import { commands } from './commands.ts'

test.each([
  { words: ['chek'], says: 'There is no command: quoin chek. Did you mean quoin check?' },
  { words: ['imp', 'a.json'], says: 'Did you mean quoin import?' },
  { words: ['xyz'], says: 'There is no command: quoin xyz. See quoin --help.' },
  { words: ['--port'], says: 'There is no command: quoin --port. See quoin --help.' },
  { words: ['help', 'exprot'], says: 'Did you mean quoin export?' },
  {
    words: ['user'],
    says: 'quoin user needs one of: create, import, reset-password, reset-second-factor, who-may. See quoin --help.',
  },
  { words: ['user', 'creat', 'ann'], says: 'Did you mean quoin user create?' },
  { words: ['uesr', 'create', 'ann'], says: 'Did you mean quoin user create?' },
  { words: ['user', 'delete', 'ann'], says: 'There is no command: quoin user delete ann. See quoin --help.' },
  { words: ['start', 'now'], says: 'Unexpected argument: now. Usage: quoin start [--example <name>]' },
  { words: ['export'], says: 'Missing argument: <blueprint>. Usage: quoin export <blueprint> [<file>]' },
  { words: ['export', 'a', 'b', 'c'], says: 'Unexpected argument: c.' },
  { words: ['export', 'a', '--url'], says: 'Option --url needs a value: --url <address>.' },
  { words: ['import', 'a', '--url', '--activate'], says: 'Option --url needs a value: --url <address>.' },
  { words: ['import', 'a', '--activate=yes'], says: 'Option --activate takes no value.' },
  { words: ['export', 'a', '--url', 'localhost'], says: '"localhost" is not an address' },
  { words: ['export', 'a', '--url', 'ftp://localhost'], says: '"ftp://localhost" is not an address' },
  { words: ['export', 'a', '--url', 'http://me:secret@localhost'], says: 'must not contain a password' },
  { words: ['login', 'localhost', 'ann'], says: '"localhost" is not an address' },
  { words: ['login'], says: 'Missing argument: <address>.' },
  { words: ['login', 'http://localhost', 'ann'], says: 'There is no password on the standard input.' },
  { words: ['import', '--activate'], says: 'Missing argument: <file>.' },
  {
    words: ['user', 'create', 'a', '--password', 'b'],
    says: 'Unknown option --password. Did you mean --password-stdin?',
  },
  { words: ['user', 'create', 'a', '--password-stdin'], says: 'no password on the standard input' },
  {
    words: ['user', 'create', 'a', '--toString'],
    says: 'Unknown option --toString. See quoin help user create.',
  },
  { words: ['backup'], says: 'Missing argument: <folder>.' },
  { words: ['restore', 'a', '--forced'], says: 'Unknown option --forced. Did you mean --force?' },
  { words: ['start', '-5'], says: 'Unexpected argument: -5. Usage:' },
  { words: ['restore', 'a', '-f'], says: 'Unknown option -f. Usage:' },
])('quoin $words is invalid usage: exit code 2 and one line', async ({ words, says }) => {
  const end = await quoinCommand(words, { QUOIN_TOKEN: 'a token' })
  expect(end).toMatchObject({ code: 2, printed: '' })
  expect(end.complained).toContain(says)
  expect(end.complained.split('\n')).toHaveLength(1)
})

test.each([[['help', 'user']], [['user', '--help']], [['user', '-h']]])(
  'quoin %j lists the commands that begin so',
  async (words) => {
    const end = await quoinCommand(words)
    expect(end).toMatchObject({ code: 0, complained: '' })
    const listed = end.printed.split('\n').filter((line) => line.startsWith('  quoin '))
    expect(listed.map((line) => line.split(/ {2,}/)[1])).toEqual([
      'quoin user create <name>',
      'quoin user import <file>',
      'quoin user reset-password <name>',
      'quoin user reset-second-factor <name>',
      'quoin user who-may <what>',
    ])
    expect(end.printed).toContain('quoin help user create shows the options')
  },
)

test('without a sign-in there is no work over HTTP', async () => {
  const end = await quoinCommand(['export', 'a', '--url', 'http://127.0.0.1:9'])
  expect(end).toMatchObject({ code: 2, printed: '' })
  expect(end.complained).toContain('quoin login http://127.0.0.1:9 <username>')
})

test('a browser is asked for no sign-in at an address where no server answers', async () => {
  const end = await quoinCommand(['login', 'http://127.0.0.1:9'])
  expect(end).toMatchObject({ code: 1, printed: '' })
  expect(end.complained).toContain('http://127.0.0.1:9')
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
  for (const { name, summary } of commands)
    expect(end.printed.replaceAll(/\s+/g, ' ')).toContain(`quoin ${name} ${summary}`)
})

test.each(['version', '--version', '-v'])('quoin %s prints the version and nothing else', async (word) => {
  const end = await quoinCommand([word])
  expect(end).toEqual({ code: 0, complained: '', printed: expect.stringMatching(/^\d+\.\d+\.\d+$/) })
})

test.each(commands)('quoin $name has help, and does nothing then', async ({ name, flags }) => {
  const settings = { QUOIN_DATA: '/nowhere/at/all' }
  const end = await quoinCommand([...name.split(' '), '--help'], settings)
  expect(end).toMatchObject({ code: 0, complained: '' })
  expect(end.printed).toContain(`quoin ${name}`)
  for (const flag of Object.keys(flags)) expect(end.printed).toContain(`\n  --${flag}`)
  expect(await quoinCommand(['help', ...name.split(' ')], settings)).toEqual(end)
})

test('no line of a help is wider than a terminal', async () => {
  const helps = commands.filter(({ name }) => !['start', 'completion'].includes(name))
  const all = [[], ...helps.map(({ name }) => ['help', ...name.split(' ')])].map((words) =>
    quoinCommand(words),
  )
  const lines = (await Promise.all(all)).flatMap(({ printed }) => printed.split('\n'))
  // An example with JSON is typed as it stands.
  expect(lines.filter((line) => line.length > 80 && !line.includes("'{"))).toEqual([])
})
