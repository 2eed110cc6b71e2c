import { expect, test } from 'vitest'
import { readOptions } from '../options/options.ts'
import { readSecretKey } from '../records/secrets/signing-secret.ts'
import { spaceKey, spaceOptions } from './space-options.ts'

const key = Buffer.alloc(32, 7).toString('base64')
const operator = readOptions({
  QUOIN_DATA: '/data',
  QUOIN_BACKUPS: '/backups',
  QUOIN_PUBLIC_URL: 'https://quoin.example.org:8443',
  QUOIN_ASSETS_URL: 's3://files/quoin?region=eu-central-1',
  QUOIN_SECRETS_KEY: key,
  QUOIN_SECRETS_OLD_KEYS: key,
  QUOIN_ADMIN_PASSWORD: 'correct horse battery staple',
  QUOIN_AUDIT_STREAM: 'https://audit.example.org/',
  QUOIN_ALLOWED_HOSTS: '10.0.0.1',
  QUOIN_KEEP_LOGS: '9',
  QUOIN_SIGNIN_PROVIDERS: '/etc/quoin/providers.json',
})
const of = (guid: string, title = '') =>
  spaceOptions(operator, { guid, title, hosts: [`${guid}.example.org`] })

test('what a space stores, signs and sends is in places and under keys of its own', () => {
  const [a, b] = [of('a'), of('b')]
  expect(a).toMatchObject({
    data: '/data/spaces/a',
    backups: '/backups/spaces/a',
    publicUrl: 'https://a.example.org:8443',
    assetsUrl: 's3://files/quoin/spaces/a?region=eu-central-1',
    adminPassword: '',
    signInProviders: '',
    auditStream: 'https://audit.example.org/',
    examples: false,
  })
  const all = [operator, a, b]
  for (const name of ['data', 'backups', 'publicUrl', 'assetsUrl', 'secretsKey'] as const)
    expect(new Set(all.map((options) => options[name])).size).toBe(3)
  const preview = { application: 'x', until: 1, outside: false, by: { guid: 'u', username: 'ada' } }
  const place = { guid: 'c', name: 'c', title: '', hosts: [], preview }
  expect(spaceOptions(operator, place).auditStream).toBe('')
  expect(a.secretsOldKeys).toEqual([a.secretsKey])
})

test('two spaces have no list in common: clients of other servers, with cached answers, belong to it', () => {
  const lists = [operator, of('a'), of('b')].map(({ allowedHosts }) => allowedHosts)
  expect(lists.map((list) => list.join())).toEqual(['10.0.0.1', '10.0.0.1', '10.0.0.1'])
  expect(new Set(lists).size).toBe(3)
})

test('on PostgreSQL each has a database of its own, and few connections', () => {
  const url = 'postgres://quoin:secret@db.example.org:5432/quoin'
  const options = readOptions({ DATABASE_URL: url, QUOIN_LISTEN_URL: url })
  const made = spaceOptions(options, { guid: '01a2-b3', title: '', hosts: [] })
  const own = 'postgres://quoin:secret@db.example.org:5432/quoin_space_01a2b3'
  expect([made.databaseUrl, made.listenUrl, made.pool]).toEqual([own, own, 4])
  expect([options.spacesOpen, operator.spacesOpen]).toEqual([10, 50])
})

test('settings of the environment are shown to a space only where they are its own', () => {
  expect(of('a').texts).toEqual({ QUOIN_KEEP_LOGS: '9' })
})

test('the key of a space is a key, the same each time, for both ways to write the key of the cluster', () => {
  const made = spaceKey(key, 'a')
  expect(readSecretKey(made)?.bytes.byteLength).toBe(32)
  expect([spaceKey(key, 'a'), spaceKey(Buffer.alloc(32, 7).toString('hex'), 'a')]).toEqual([made, made])
  expect([spaceKey('', 'a'), spaceKey(key, 'b') === made]).toEqual(['', false])
})

test('without addresses of the operator there are none of a space', () => {
  const bare = spaceOptions(readOptions({}), { guid: 'a', title: 'Sales', hosts: ['a.example.org'] })
  expect([bare.publicUrl, bare.assetsUrl, bare.secretsKey, bare.siteName]).toEqual(['', '', '', 'Sales'])
})
