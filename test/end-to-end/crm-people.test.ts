/** The CRM of the examples with the people of a company: invited by mail, with a second factor, and from the company's own provider. */
import { TOTP } from 'otpauth'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { installExample, readExample } from '../../src/applications/install-example.ts'
import { type MailServer, openMailServer } from '../mail-server.ts'
import { clientId, clientSecret, type OidcServer, openBrowser, openOidcServer } from '../oidc-server.ts'
import { openVisitor, type SeenPage, type Visitor } from '../page-visitor.ts'
import { freePort } from '../postgres/postgres-server.ts'
import { eventually } from './example-fixture.ts'
import { guidOf, objectsOf, openTestQuoin, type TestQuoin } from './harness.ts'

let mails: MailServer
let oidc: OidcServer
let quoin: TestQuoin
let site: string
/** Guids by name. */
const groups = new Map<string, string>()
beforeAll(async () => {
  mails = await openMailServer()
  const port = await freePort()
  site = `http://127.0.0.1:${port}`
  oidc = await openOidcServer(site, 'company')
  quoin = await openTestQuoin({
    ...{ QUOIN_PORT: String(port), QUOIN_HOST: '127.0.0.1', QUOIN_PUBLIC_URL: site, QUOIN_RATE_LIMIT: '0' },
    ...{ QUOIN_MAIL_URL: `smtp://127.0.0.1:${mails.port}?tls=off`, QUOIN_MAIL_FROM: 'crm@example.com' },
    ...{ QUOIN_SECRETS_KEY: '0f'.repeat(32), QUOIN_ALLOWED_HOSTS: `127.0.0.1:${oidc.port}` },
  })
  await installExample(quoin.quoin.applications, await readExample('crm'), { guid: '', username: 'test' })
  await quoin.quoin.server.listen()
  for (const group of objectsOf(await quoin.manage('POST', '/_system/authentication-groups/search', {})))
    groups.set(String(group.name), guidOf(group))
})
afterAll(async () => {
  await quoin?.close()
  await oidc?.close()
  await mails?.close()
})

const groupOf = (name: string) => groups.get(name) ?? ''
const statusOf = async (visitor: Visitor, path: string) => (await visitor.get(path)).status

/** Follows redirects as a browser does. */
async function followed(visitor: Visitor, page: SeenPage): Promise<SeenPage> {
  let next = page
  for (let count = 0; count < 5 && next.headers.has('location'); count++) next = await visitor.follow(next)
  return next
}

test('a person is invited to sales, chooses a password, sets up a second factor, and adds a customer', async () => {
  await quoin.manage('PUT', `/_system/authentication-groups/${groupOf('CRM sales')}`, {
    second_factor_days: 0,
  })
  const body = { username: 'ines', email: 'ines@example.com', groups: [groupOf('CRM sales')] }
  await quoin.manage('POST', '/users/invite', body)
  await eventually(() => mails.taken.filter(({ to }) => to.includes('ines@example.com')).length).toBe(1)
  const [mail] = mails.taken.filter(({ to }) => to.includes('ines@example.com'))
  const text = (mail?.body ?? '').replace(/=\r\n/g, '').replaceAll('=3D', '=')
  const link = /\/password\/set\?link=[\w-]+/.exec(text)?.[0] ?? ''
  const visitor = openVisitor(site)
  const password = 'seventeen green kettles sing'
  const chosen = await visitor.submit(await visitor.get(link), 'choose', { new: password, repeat: password })
  expect([chosen.status, chosen.text]).toEqual([303, ''])
  // The invitation is no sign-in.
  expect((await visitor.get('/crm/customers')).headers.get('location')).toMatch(/^\/login/)

  const signIn = await visitor.get('/login?next=%2Fcrm%2Fcustomers%2Fnew')
  const half = await followed(visitor, await visitor.submit(signIn, 'signin', { username: 'ines', password }))
  expect(half.text).toContain('Set up a second factor')
  expect((await visitor.get('/crm/customers')).headers.get('location')).toMatch(/^\/login/)
  const key = /Key: ([A-Z2-7 ]+)/.exec(half.text)?.[1] ?? ''
  const code = TOTP.generate({
    secret: new TOTP({ secret: key.replaceAll(' ', '') }).secret,
    timestamp: quoin.now(),
  })
  const codes = await visitor.submit(half, 'code', { code })
  expect(codes.text.match(/\b[a-z0-9]{4}(?:-[a-z0-9]{4}){3}\b/g)?.length).toBe(10)
  const form = await visitor.get('/crm/customers/new')
  expect(form.status).toBe(200)
  await visitor.submit(form, 'customer', { name: 'Alder Bakery' })
  expect((await quoin.documents('crm-customers')).map(({ name }) => name)).toContain('Alder Bakery')
  expect(await statusOf(visitor, '/crm/settings')).toBe(403)
})

test('people of the company come from its provider, with the groups that it names and no others', async () => {
  await quoin.manage('POST', '/_system/secrets', { name: 'company_client', value: clientSecret })
  await quoin.manage('POST', '/_system/signin-providers', {
    ...{
      name: 'company',
      title: 'Company',
      issuer: oidc.issuer,
      client_id: clientId,
      secret: 'company_client',
    },
    ...{ scopes: 'openid email profile groups', create_users: true },
    ...{ groups: [groupOf('CRM viewer'), groupOf('CRM administration')] },
    groups_expression: 'claims.groups',
  })
  const visits = async (subject: string, names: readonly string[], path: string) => {
    oidc.accounts.set(subject, { email: `${subject}@company.test`, email_verified: true, groups: [...names] })
    oidc.account = subject
    const browser = openBrowser()
    const { status, url } = await browser.visit(`${site}/_signin/company?next=${encodeURIComponent(path)}`)
    return [url.pathname, status]
  }
  expect(await visits('stranger', ['CRM sales', 'Owners'], '/crm/customers')).toEqual(['/crm/customers', 403])
  expect(await visits('vera', ['CRM viewer'], '/crm/customers')).toEqual(['/crm/customers', 200])
  expect(await visits('vera', ['CRM viewer'], '/crm/settings')).toEqual(['/crm/settings', 403])
  expect(await visits('chief', ['CRM administration'], '/crm/settings')).toEqual(['/crm/settings', 200])
  // Removed from the group there, she is out of it here with her next sign-in.
  expect(await visits('vera', [], '/crm/customers')).toEqual(['/crm/customers', 403])
})
