import { expect, test } from 'vitest'
import { OptionError } from './option-kinds.ts'
import { optionsHelp, optionTable, readOptions } from './options.ts'

test.each([
  ['QUOIN_PORT', 'http', 'QUOIN_PORT is "http"; it must be a whole number from 0 to 65535.'],
  ['QUOIN_PORT', '70000', 'QUOIN_PORT is "70000"; it must be a whole number from 0 to 65535.'],
  ['QUOIN_JOBS_AT_ONCE', '0', /^QUOIN_JOBS_AT_ONCE is "0"; it must be a whole number from 1 to 512/],
  ['QUOIN_JOBS_AT_ONCE', '64, mail=0', /^QUOIN_JOBS_AT_ONCE is "64, mail=0"/],
  ['QUOIN_JOBS_AT_ONCE', '64, Mail=4', /^QUOIN_JOBS_AT_ONCE is "64, Mail=4"/],
  ['QUOIN_PORT', '-1', 'QUOIN_PORT is "-1"; it must be a whole number from 0 to 65535.'],
  ['QUOIN_EXAMPLES', 'yes', 'QUOIN_EXAMPLES is "yes"; it must be empty, 0 or 1.'],
  [
    'QUOIN_LOG_LEVEL',
    'loud',
    'QUOIN_LOG_LEVEL is "loud"; it must be trace, debug, info, warn, error, fatal, silent.',
  ],
  [
    'QUOIN_TIME_ZONE',
    'Mars/Olympus',
    'QUOIN_TIME_ZONE is "Mars/Olympus"; it must be a time zone such as Europe/Berlin.',
  ],
  ['QUOIN_LOCALE', 'e_n', 'QUOIN_LOCALE is "e_n"; it must be a language tag such as en-US.'],
  ['QUOIN_ALLOWED_HOSTS', 'http://x/', /^QUOIN_ALLOWED_HOSTS is "http:\/\/x\/"; it must be a list/],
  [
    'DATABASE_URL',
    'mysql://me:hush@db/quoin',
    'DATABASE_URL cannot be used; it must be empty, or postgres://',
  ],
  ['DATABASE_URL', 'postgres://me:hush@db', 'DATABASE_URL cannot be used'],
  [
    'QUOIN_ASSETS_URL',
    's3://ab',
    'QUOIN_ASSETS_URL names no bucket: 3 to 63 of a–z, 0–9, . and - after s3://.',
  ],
  ['QUOIN_PORTT', '1', 'QUOIN_PORTT is not a setting: did you mean QUOIN_PORT?'],
  ['QUOIN_TRUST_PROXIES', '1', 'QUOIN_TRUST_PROXIES is not a setting: did you mean QUOIN_TRUST_PROXY?'],
  [
    'QUOIN_SOMETHING_ELSE',
    '1',
    'QUOIN_SOMETHING_ELSE is not a setting: quoin start --help lists all settings',
  ],
  ['QUOIN_METRICS_TOKEN', 'too short', 'QUOIN_METRICS_TOKEN cannot be used'],
  ['QUOIN_WORKERS', '2', /^QUOIN_WORKERS is no longer .* PostgreSQL .* one node for each core\.$/],
  ['QUOIN_WORKERS', ' 64', /^QUOIN_WORKERS is no longer .* PostgreSQL .* one node for each core\.$/],
  ['QUOIN_WORKERS', 'four', /^QUOIN_WORKERS is no longer a setting/],
])('%s=%s is refused in one line', (variable, value, message) => {
  const read = () => readOptions({ [variable]: value })
  expect(read).toThrow(OptionError)
  expect(read).toThrow(message)
})

test('every option of the table is read, and nothing else', () => {
  expect(Object.keys(readOptions({})).sort()).toEqual([...Object.keys(optionTable), 'texts'].sort())
})

test('without settings the defaults hold, and an empty one is the same as none', () => {
  expect(readOptions({ QUOIN_PORT: '' })).toEqual(readOptions({}))
  expect(readOptions({})).toMatchObject({
    port: 8080,
    host: '127.0.0.1',
    data: './data',
    examples: true,
    rateLimit: 100,
  })
})

test.each<[Record<string, string>, string, boolean]>([
  [{}, 'development', true],
  [{ QUOIN_HOST: 'localhost' }, 'development', true],
  [{ QUOIN_HOST: '127.0.0.2' }, 'development', true],
  [{ QUOIN_HOST: '::1' }, 'development', true],
  [{ QUOIN_HOST: '0.0.0.0' }, 'production', false],
  [{ QUOIN_HOST: '::' }, 'production', false],
  [{ QUOIN_HOST: '192.0.2.1' }, 'production', false],
  [{ QUOIN_HOST: '127.0.0.1.example.org' }, 'production', false],
  [{ QUOIN_TRUST_PROXY: '127.0.0.1' }, 'production', false],
  [{ QUOIN_HOST: '0.0.0.0', QUOIN_ENVIRONMENT: 'development' }, 'development', true],
  [{ QUOIN_ENVIRONMENT: 'production' }, 'production', false],
  [{ QUOIN_ENVIRONMENT: 'production', QUOIN_EXAMPLES: '1' }, 'production', true],
  [{ QUOIN_EXAMPLES: '0' }, 'development', false],
])('%j: %s, and the tasks example: %s', (input, environment, examples) => {
  expect(readOptions(input)).toMatchObject({ environment, examples })
})

test.each<[Record<string, string>, number]>([
  [{}, 43_200],
  [{ QUOIN_HOST: '0.0.0.0' }, 300],
  [{ QUOIN_ENVIRONMENT: 'production' }, 300],
  [{ QUOIN_CONFIRM_SECONDS: '60' }, 60],
  [{ QUOIN_ENVIRONMENT: 'production', QUOIN_CONFIRM_SECONDS: '0' }, 0],
])('with %j a session is confirmed for %d seconds', (input, seconds) => {
  expect(readOptions(input).confirmSeconds).toBe(seconds)
})

test.each(['1', ' 1 ', ''])('QUOIN_WORKERS=%j, which was the default, still starts', (value) => {
  expect(readOptions({ QUOIN_WORKERS: value })).toEqual(readOptions({}))
})

test('names of other programs are none of our concern', () => {
  expect(readOptions({ PORT: '1', XQUOIN_PORT: '1', quoin_port: '1' })).toEqual(readOptions({}))
})

test('what is given counts', () => {
  const options = readOptions({
    QUOIN_PORT: '0',
    QUOIN_CORS_ORIGINS: 'https://a.example, https://b.example',
    QUOIN_EXAMPLES: '0',
  })
  expect(options).toMatchObject({
    port: 0,
    corsOrigins: ['https://a.example', 'https://b.example'],
    examples: false,
  })
})

test('a secret is not shown when it is refused', () => {
  const read = () => readOptions({ DATABASE_URL: 'mysql://me:hush@db/quoin' })
  expect(read).toThrow(expect.objectContaining({ message: expect.not.stringContaining('hush') }))
})

test('--help lists every setting, and every variable but those that all programs share starts with QUOIN_', () => {
  const help = optionsHelp()
  for (const { variable, help: text } of Object.values(optionTable)) {
    expect(variable).toMatch(/^(QUOIN_[A-Z_]+|OTEL_[A-Z_]+|DATABASE_URL|XDG_CONFIG_HOME)$/)
    expect(help).toContain(variable)
    expect(help).toContain(text)
  }
})

test('jobs at once are a number for the node and further ones for queues', () => {
  expect(readOptions({}).jobsAtOnce).toEqual({ concurrency: 64, queues: new Map() })
  const queues = new Map([
    ['mail', 4],
    ['_schedules', 16],
  ])
  expect(readOptions({ QUOIN_JOBS_AT_ONCE: '100, mail=4,_schedules=16' }).jobsAtOnce).toEqual({
    concurrency: 100,
    queues,
  })
})
