/** Sign-in providers of the settings: what cannot be one ends the start; the others come, change and go with the file, and by no other way. */
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { readOptions } from '../../src/options/options.ts'
import { readConfiguredProviders } from '../../src/quoin/configured-providers.ts'
import { openQuoin } from '../../src/quoin/quoin.ts'
import type { JsonObject, JsonValue } from '../../src/shared/json.ts'
import { clientId, clientSecret, type OidcServer, openBrowser, openOidcServer } from '../oidc-server.ts'
import { freePort } from '../postgres/postgres-server.ts'
import { copyQuoinFile, quoinTemplate } from '../quoin-template.ts'
import { openTemporaryDatabase, type TemporaryDatabase } from '../temporary-database.ts'
import { guidOf, objectOf, objectsOf, openTestQuoin, type TestQuoin } from './harness.ts'

const path = '/_system/signin-providers'
let data: string
let file: string
let temporary: TemporaryDatabase | undefined
let oidc: OidcServer
let port: number
let quoin: TestQuoin | undefined
const site = () => `http://127.0.0.1:${port}`
beforeAll(async () => {
  data = await mkdtemp(join(tmpdir(), 'quoin-providers-'))
  file = join(data, 'providers.json')
  if (inject('engine') === 'postgres') temporary = await openTemporaryDatabase(quoinTemplate)
  else await copyQuoinFile(data)
  port = await freePort()
  oidc = await openOidcServer(site(), 'acme')
})
afterAll(async () => {
  await quoin?.close()
  await oidc?.close()
  await temporary?.drop()
  await rm(data, { recursive: true, force: true })
})

/** The next start of the node: with these providers in the file, without the setting for none, or with another setting. */
async function start(providers: JsonObject | string | undefined): Promise<TestQuoin> {
  await quoin?.close()
  quoin = undefined
  if (typeof providers === 'object') await writeFile(file, JSON.stringify({ providers }))
  const setting = typeof providers === 'object' ? file : providers
  quoin = await openTestQuoin({
    ...{ QUOIN_DATA: data, QUOIN_PORT: String(port), QUOIN_HOST: '127.0.0.1', QUOIN_PUBLIC_URL: site() },
    ...{ QUOIN_SECRETS_KEY: '0f'.repeat(32), QUOIN_ALLOWED_HOSTS: `127.0.0.1:${oidc.port}` },
    ...{ QUOIN_RATE_LIMIT: '0' },
    ...(temporary && { DATABASE_URL: temporary.url }),
    ...(setting !== undefined && { QUOIN_SIGNIN_PROVIDERS: setting }),
  })
  await quoin.quoin.server.listen()
  return quoin
}

const acme = (more: JsonObject = {}): JsonObject => ({
  ...{ title: 'Acme', issuer: oidc.issuer, client_id: clientId, secret: 'acme_client' },
  ...{ create_users: true, ...more },
})
const listed = async (node: TestQuoin) => objectsOf(await node.manage('POST', `${path}/search`, {}))
const audited = async (node: TestQuoin, category: string) =>
  objectsOf(await node.manage('POST', '/_system/auditlogs', { limit: 1_000, filters: { category } })).map(
    ({ action, name, user }) => [action, name, objectOf(user).username],
  )

const one = '"title": "Acme", "issuer": "https://id.acme.test", "client_id": "quoin"'
test.each<[string, string, string]>([
  ['', '1:1', 'not JSON'],
  ['{ "providers": { "acme": { }, } }', '1:31', 'not JSON'],
  ['[]', '1:1', 'it must be object'],
  ['{ "provider": {} }', '1:15', 'Did you mean providers?'],
  [`{ "providers": { "acme": { ${one} }, "acme": { ${one} } } }`, '1:103', '"acme" stands twice'],
  [`{ "providers": {\n "Acme": { ${one} } } }`, '2:10', 'Acme cannot be the name'],
  [`{ "providers": { "acme": { ${one},\n "isuer": "" } } }`, '2:11', 'Did you mean issuer?'],
  [
    `{ "providers": { "acme": { ${one},\n "client_secret": "xyzzy" } } }`,
    '2:19',
    'does not belong in a file',
  ],
  [`{ "providers": { "acme": { ${one},\n "secret": "x y" } } }`, '2:12', 'secret must match'],
  [`{ "providers": { "acme": { ${one},\n "kind": "saml" } } }`, '2:10', 'must be oidc or github'],
  [`{ "providers": { "acme": { ${one},\n "groups": "Sales" } } }`, '2:12', 'groups must be array'],
  [`{ "providers": { "acme": { ${one},\n "from_settings": false } } }`, '2:19', 'is unknown here'],
  [
    '{ "providers": { "acme": { "title": "Acme",\n "issuer": "http://id.acme.test", "client_id": "quoin" } } }',
    '2:12',
    'must begin with https://',
  ],
  [
    `{ "providers": { "acme": { ${one},\n "groups_expression": "claims." } } }`,
    '2:23',
    'groups_expression: ',
  ],
])('%j is refused', async (text, place, reason) => {
  const wrong = join(data, 'wrong.json')
  await writeFile(wrong, text)
  const refused = await readConfiguredProviders(wrong).catch((error: Error) => error.message)
  expect(refused).toContain(`${wrong}:${place}: `)
  expect(refused).toContain(reason)
  expect(refused).not.toContain('xyzzy')
})

test('a wrong setting ends the start before anything is opened', async () => {
  const never = join(data, 'never')
  const begin = (setting: string) =>
    openQuoin(readOptions({ QUOIN_DATA: never, QUOIN_SIGNIN_PROVIDERS: setting }), {
      clock: Date.now,
      random: (bytes) => void crypto.getRandomValues(bytes),
    })
  await expect(begin(join(data, 'no.json'))).rejects.toThrow('no.json, which cannot be read (ENOENT)')
  await expect(begin(data)).rejects.toThrow('which cannot be read (EISDIR)')
  await expect(begin('{ "providers": [] }')).rejects.toThrow('QUOIN_SIGNIN_PROVIDERS:1:16: ')
  await expect(stat(never)).rejects.toThrow('ENOENT')
})

test('a provider of the file is shown as such, and neither changed nor removed by any other way', async () => {
  const node = await start({ acme: acme({ groups: ['VIEWER', 'Sales'] }) })
  const groups = objectsOf(await node.manage('POST', '/_system/authentication-groups/search', {}))
  const viewer = guidOf(groups.find(({ name }) => name === 'viewer'))
  const [record] = await listed(node)
  expect(record).toMatchObject({ name: 'acme', title: 'Acme', from_settings: true, groups: [viewer] })
  const guid = guidOf(record)
  for (const [method, to, body] of [
    ['PUT', `${path}/${guid}`, { title: 'Other' }],
    ['PUT', `${path}/${guid}`, { from_settings: false }],
    ['DELETE', `${path}/${guid}`, undefined],
    ['POST', path, { name: 'acme', ...acme() }],
  ] satisfies [string, string, JsonValue | undefined][]) {
    const sent = { as: 'admin', ...(body !== undefined && { body }) }
    const { status, text } = await node.send(
      method === 'PUT' ? 'PUT' : method === 'POST' ? 'POST' : 'DELETE',
      to,
      sent,
    )
    expect([method, body, status]).toEqual([method, body, body && 'from_settings' in body ? 400 : 409])
    if (method !== 'POST' && status === 409)
      expect(text).toContain(
        'acme comes from QUOIN_SIGNIN_PROVIDERS. Change it there, and start the nodes again.',
      )
  }
  expect(await listed(node)).toEqual([record])
  expect(await audited(node, 'signin_providers')).toEqual([['created', 'acme', 'system']])
  const warned = (await node.systemLog()).filter(({ message }) =>
    String(message).includes('QUOIN_SIGNIN_PROVIDERS'),
  )
  expect(warned.map(({ level, message }) => [level, String(message).includes('not there: Sales.')])).toEqual([
    ['warn', true],
  ])
})

test('a start with the same file writes nothing, one with a changed file what changed', async () => {
  const before = await listed(await start({ acme: acme({ groups: ['VIEWER', 'Sales'] }) }))
  expect(await audited(await start({ acme: acme({ groups: ['viewer'] }) }), 'signin_providers')).toHaveLength(
    1,
  )
  const text = JSON.stringify({ providers: { acme: acme({ title: 'Acme Ltd' }) } })
  const node = await start(text)
  const [record] = await listed(node)
  expect(record).toMatchObject({ title: 'Acme Ltd', groups: [], from_settings: true })
  expect(guidOf(record)).toBe(guidOf(before[0]))
  expect((await audited(node, 'signin_providers')).map(([action]) => action).toSorted()).toEqual([
    'created',
    'updated',
  ])
})

async function visit(node: TestQuoin): Promise<[string, JsonValue | undefined]> {
  const browser = openBrowser()
  const { url } = await browser.visit(`${site()}/_signin/acme?next=%2Fdocs`)
  const token = browser.cookie(new URL(site()).host, 'access_token')
  if (token === undefined) return [url.pathname, undefined]
  const { body } = await node.send('GET', '/users/me', { headers: { authorization: `Bearer ${token}` } })
  return [url.pathname, objectOf(body).username]
}

test('taken out of the file it is gone with its button; users, accounts and sessions stay, and it knows them when it is back', async () => {
  const first = await start({ acme: acme() })
  await first.manage('POST', '/_system/secrets', { name: 'acme_client', value: clientSecret })
  const own = { name: 'own', title: 'Own', issuer: oidc.issuer, client_id: clientId }
  await first.manage('POST', path, own)
  const guid = guidOf((await listed(first)).find(({ name }) => name === 'acme'))
  oidc.accounts.set('ada', { email: 'ada@acme.test', email_verified: true })
  oidc.account = 'ada'
  expect(await visit(first)).toEqual(['/docs', 'ada@acme.test'])
  const tokens = (await first.documents('_tokens')).filter(({ provider }) => provider === guid)
  expect(tokens).toHaveLength(1)

  const without = await start(undefined)
  expect((await listed(without)).map(({ name }) => name)).toEqual(['own'])
  expect(objectsOf((await without.send('GET', '/auth/providers')).body).map(({ name }) => name)).toEqual([
    'own',
  ])
  expect((await visit(without))[1]).toBeUndefined()
  expect((await without.documents('_provider_accounts')).map(({ provider }) => provider)).toEqual([guid])
  expect((await without.documents('_tokens')).filter(({ provider }) => provider === guid)).toEqual(tokens)
  expect((await audited(without, 'signin_providers'))[0]).toEqual(['removed', 'acme', 'system'])

  // Its address is not verified any more: only the account says whose it is. No user is made.
  oidc.accounts.set('ada', { email: 'ada@acme.test', email_verified: false })
  const back = await start({ acme: acme({ create_users: false }) })
  expect(guidOf((await listed(back)).find(({ name }) => name === 'acme'))).toBe(guid)
  expect(await visit(back)).toEqual(['/docs', 'ada@acme.test'])
})

test('one that was made in the studio becomes that of the file, whole, with its guid', async () => {
  const node = await start(undefined)
  const own = (await listed(node)).find(({ name }) => name === 'own')
  await node.manage('PUT', `${path}/${guidOf(own)}`, { description: 'By hand', domains: ['acme.test'] })
  const configured = await start({ own: acme({ title: 'Own of the file' }) })
  const [record, ...others] = await listed(configured)
  expect(others).toEqual([])
  expect(record).toMatchObject({
    title: 'Own of the file',
    description: '',
    domains: [],
    from_settings: true,
  })
  expect(guidOf(record)).toBe(guidOf(own))
})
