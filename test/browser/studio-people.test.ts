/** API keys, sessions, invitations and the sign-in page with a real SMTP server; and names of 200 characters, from right to left and with markup in every list. */
import { createHash } from 'node:crypto'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { JsonObject } from '../../src/shared/json.ts'
import { setFields } from '../../src/shared/mutation.ts'
import { systemStorages } from '../../src/storage/system-storages.ts'
import { transact } from '../../src/storage/transact.ts'
import { guidOf, objectOf, objectsOf, userPassword } from '../end-to-end/harness.ts'
import { type MailServer, openMailServer } from '../mail-server.ts'
import { axeProblems } from './axe-check.ts'
import { eventually } from './studio-eventually.ts'
import { goWithin, openStudio, type StudioFixture } from './studio-fixture.ts'
import { covered, cut, settled } from './studio-looks.ts'

let mails: MailServer
let studio: StudioFixture
let page: Page
beforeAll(async () => {
  mails = await openMailServer()
  studio = await openStudio({
    QUOIN_MAIL_URL: `smtp://127.0.0.1:${mails.port}?tls=off`,
    QUOIN_MAIL_FROM: 'Club <club@example.com>',
    QUOIN_PUBLIC_URL: 'https://club.example.com',
    QUOIN_SIGN_UP: 'on',
    QUOIN_SECRETS_KEY: '0f'.repeat(32),
  })
  page = await studio.open('admin', 'nowhere')
}, 240_000)
afterAll(async () => {
  await studio?.close()
  await mails?.close()
})

describe('keys, sessions and invitations', () => {
  beforeAll(async () => {
    await page.setViewportSize({ width: 1280, height: 800 })
    await goWithin(page, 'account')
  }, 120_000)

  const keys = async () => objectsOf(await studio.quoin.manage('GET', '/users/me/keys'))

  test('a key is made, shown once and used; then it is rotated and removed', async () => {
    await page.getByRole('button', { name: 'New API key' }).click()
    const dialog = page.getByRole('dialog', { name: 'New API key' })
    await dialog.getByLabel('Name').fill('ERP')
    await dialog
      .getByRole('combobox', { name: 'Scopes' })
      .or(dialog.getByLabel('Scopes'))
      .first()
      .fill('users_view')
    await page.keyboard.press('Enter')
    await dialog.getByText('the key may from then on: view users.').waitFor()
    await dialog.getByLabel('Allowed endpoints').fill('GET /api/v1/users/me\n\nnonsense')
    await dialog.getByRole('button', { name: 'Create' }).click()
    await dialog.getByText('The endpoint "nonsense"').first().waitFor()
    expect(await keys()).toEqual([])
    await dialog.getByLabel('Allowed endpoints').fill('GET /api/v1/users/me')
    await dialog.getByRole('button', { name: 'Create' }).click()
    const shown = page.getByRole('dialog', { name: 'API key ERP' })
    const secret = (await shown.getByLabel('The key').textContent()) ?? ''
    // Its colours too.
    expect(await axeProblems(page)).toEqual([])
    expect(secret).toMatch(/^qk_/)
    const call = (path: string, key: string) =>
      fetch(`${studio.address}/api/v1${path}`, { headers: { 'x-api-key': key } })
    expect((await call('/users/me', secret)).status).toBe(200)
    expect((await call('/users/me/keys', secret)).status).toBe(403)
    // Neither a click beside it nor Escape loses the key.
    await page.keyboard.press('Escape')
    expect(await shown.isVisible()).toBe(true)
    await shown.getByRole('button', { name: 'I have copied it' }).click()
    await shown.waitFor({ state: 'hidden' })
    expect(await page.content()).not.toContain(secret)
    expect(await keys()).toMatchObject([
      { name: 'ERP', scopes: ['users_view'], endpoints: ['GET /api/v1/users/me'] },
    ])
    const [before] = await keys()
    await page.getByRole('button', { name: 'Actions for ERP' }).click()
    await page.getByRole('menuitem', { name: 'Change' }).click()
    const change = page.getByRole('dialog', { name: 'Change ERP' })
    await change.getByLabel('Allowed endpoints').fill('nonsense')
    await change.getByRole('button', { name: 'Save' }).click()
    await change.getByText('The endpoint "nonsense"').first().waitFor()
    expect(await keys()).toEqual([before])
    expect(await axeProblems(page)).toEqual([])
    const scopes = change.getByRole('combobox', { name: 'Scopes' }).or(change.getByLabel('Scopes')).first()
    await scopes.fill('runs_view')
    await page.keyboard.press('Enter')
    await change.getByLabel('Allowed endpoints').fill('GET /api/v1/info\nGET /api/v1/users/me')
    await change.getByRole('button', { name: 'Save' }).click()
    await change.waitFor({ state: 'hidden' })
    // The expiry stays as it was, and so does the secret.
    expect(await keys()).toMatchObject([
      {
        ...{ name: 'ERP', hint: before?.hint, expiry: before?.expiry, scopes: ['users_view', 'runs_view'] },
        endpoints: ['GET /api/v1/info', 'GET /api/v1/users/me'],
      },
    ])
    expect((await call('/users/me', secret)).status).toBe(200)
    await page.getByText('scopes view users, view traced runs').waitFor()
    await page.getByRole('button', { name: 'Actions for ERP' }).click()
    await page.getByRole('menuitem', { name: 'Change' }).click()
    await change.getByRole('combobox', { name: 'Expires' }).click()
    await page.getByRole('option', { name: 'never', exact: true }).click()
    await change.getByRole('button', { name: 'Save' }).click()
    await change.waitFor({ state: 'hidden' })
    expect((await keys())[0]).toMatchObject({ expiry: 0, scopes: ['users_view', 'runs_view'] })
    await page.getByRole('button', { name: 'Actions for ERP' }).click()
    await page.getByRole('menuitem', { name: 'Rotate' }).click()
    await page.getByRole('dialog', { name: 'Rotate ERP?' }).getByRole('button', { name: 'Rotate' }).click()
    const next = (await shown.getByLabel('The key').textContent()) ?? ''
    expect(next).not.toBe(secret)
    expect([(await call('/users/me', secret)).status, (await call('/users/me', next)).status]).toEqual([
      200, 200,
    ])
    await shown.getByRole('button', { name: 'I have copied it' }).click()
    await page.getByRole('button', { name: 'Actions for ERP' }).click()
    await page.getByRole('menuitem', { name: 'Remove' }).click()
    await page.getByRole('dialog', { name: 'Remove ERP?' }).getByRole('button', { name: 'Remove' }).click()
    await page.getByText('No keys.').waitFor()
    expect((await call('/users/me', next)).status).toBe(401)
  })

  test('sessions are listed and ended, the own one stays', async () => {
    const other = await studio.quoin.quoin.access.signIn({
      ...{ username: 'admin', password: 'correct horse battery staple', ip: '203.0.113.9' },
      agent: 'Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0',
    })
    await page.reload()
    const row = page.getByRole('row', { name: /Firefox on Linux/ })
    await row.getByText('203.0.113.9').waitFor()
    expect(await axeProblems(page)).toEqual([])
    expect(
      await page
        .getByRole('row', { name: /this one/ })
        .getByRole('button')
        .count(),
    ).toBe(0)
    await row.getByRole('button', { name: /End the session of Firefox/ }).click()
    await row.waitFor({ state: 'hidden' })
    expect(await studio.quoin.quoin.access.identify(other.access_token)).toBeUndefined()
    await page.getByRole('row', { name: /this one/ }).waitFor()
  })

  test('a user is invited, again, and the invitation is withdrawn', async () => {
    await goWithin(page, 'people/users/new')
    await page.getByLabel('Invite by mail').click({ force: true })
    await page.getByLabel('E-mail').fill('ann@example.com')
    expect(await page.locator('input[type=password]').count()).toBe(0)
    await page.getByRole('button', { name: 'Invite' }).click()
    await page.getByText('invited until').waitFor()
    await eventually(() => mails.taken.length).toBe(1)
    await page.reload()
    await page.getByText('invited until').waitFor()
    expect(await axeProblems(page)).toEqual([])
    await page.getByRole('button', { name: 'Invite again' }).click()
    await eventually(() => mails.taken.length).toBe(2)
    await page.getByRole('button', { name: 'Withdraw' }).click()
    const dialog = page.getByRole('dialog', { name: 'Withdraw the invitation of ann@example.com?' })
    await dialog.getByRole('button', { name: 'Withdraw' }).click()
    await page.getByText('invited until').waitFor({ state: 'hidden' })
    const [ann] = objectsOf(
      await studio.quoin.manage('POST', '/users/search', { filters: { email: 'ann@example.com' } }),
    )
    expect(objectOf(ann ?? null)).not.toHaveProperty('invited_until')
  })

  test('a service account is created without a password, and has keys and no sessions', async () => {
    await goWithin(page, 'people/users/new')
    await page.getByLabel('Service account').click({ force: true })
    expect(await page.locator('input[type=password], input[type=email]').count()).toBe(0)
    expect(await page.getByLabel('Invite by mail').count()).toBe(0)
    await page.getByLabel('User name').fill('deployer')
    await page.getByRole('button', { name: 'Create' }).click()
    await page.getByRole('heading', { name: 'deployer' }).waitFor()
    await page.getByRole('heading', { name: 'API keys' }).waitFor()
    expect(await page.getByRole('heading', { name: 'Sessions' }).count()).toBe(0)
    expect(await axeProblems(page)).toEqual([])
    await page.getByLabel('First name').fill('CI')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Saved').first().waitFor()
    const [stored] = objectsOf(
      await studio.quoin.manage('POST', '/users/search', { filters: { is_service: true } }),
    )
    expect(stored).toMatchObject({ username: 'deployer', firstname: 'CI', email: null, is_service: true })
  })

  test('who may do something is shown from a storage, an endpoint and a page', async () => {
    await studio.quoin.manage('POST', '/_system/storages', { name: 'parcels' })
    await studio.quoin.addUser('packer', ['pack'])
    await studio.quoin.install('Parcels', {
      on: { type: 'on_startup_register_uri_get', in: { uri: 'parcels' }, scopes: ['pack'] },
      reply: { type: 'httpconnection_set_json', in: { flow: '@on.flow', value: 'here' } },
      page: { type: 'state_page', in: { url: 'parcels' }, scopes: ['pack'] },
      render: { type: 'state_render_page', in: { flow: '@page.flow' } },
    })
    await goWithin(page, 'data')
    await page.getByRole('button', { name: 'More about parcels' }).click()
    await page.getByRole('menuitem', { name: 'Who may do what' }).click()
    await page.getByRole('heading', { name: 'Who may: parcels' }).waitFor()
    await page.getByRole('row', { name: 'packer all all all all' }).waitFor()
    expect(await axeProblems(page)).toEqual([])
    await goWithin(page, 'blueprints')
    await page.getByRole('link', { name: 'Who may open /parcels?' }).click()
    await page.getByRole('row', { name: 'packer pack from the user itself.' }).waitFor()
    expect(await page.getByRole('row', { name: /deployer/ }).count()).toBe(0)
    await goWithin(page, 'api')
    await page.getByLabel('Find an endpoint').fill('parcels')
    await page.getByRole('button', { name: 'GET' }).first().click()
    await page.getByRole('link', { name: 'Who may call it?' }).click()
    await page.getByRole('heading', { name: 'Who may: GET /api/v1/parcels' }).waitFor()
    await page.getByRole('textbox', { name: 'Search users' }).fill('packer')
    await page.getByRole('row', { name: /admin/ }).waitFor({ state: 'hidden' })
    await page.getByRole('row', { name: 'packer pack from the user itself.' }).waitFor()
  })

  test('who may not see blueprints arrives at the first screen with something on it, or at the pages of applications', async () => {
    await studio.quoin.addUser('clerk', ['storages_view'])
    await studio.quoin.addUser('guest', [])
    const visitor = await studio.open(undefined, '')
    const username = visitor.getByLabel('User name or e-mail')
    await username.waitFor()
    // Only the address that the first start prints shows whose cluster it may be.
    expect(await visitor.getByText('First start?').count()).toBe(0)
    await username.fill('guest')
    await visitor.getByLabel('Password', { exact: true }).fill(userPassword)
    await visitor.getByRole('button', { name: 'Sign in' }).click()
    await visitor.waitForURL(`${studio.address}/`)
    await visitor.getByRole('heading', { level: 1, name: /guest/ }).waitFor()
    const clerk = await studio.open('clerk', '')
    await clerk.getByRole('heading', { name: 'Storages' }).waitFor()
    expect(new URL(clerk.url()).pathname).toBe('/studio/data')
    const builder = await studio.open('admin', '')
    await builder.waitForURL(/\/studio\/(welcome|blueprints)$/)
    expect(studio.complaints()).toEqual([])
  })

  test('the sign-in page leads to a new password and to a new account, which the user log shows', async () => {
    await studio.quoin.manage('POST', '/users', {
      username: 'eve',
      email: 'eve@example.com',
      password: 'a password for eve',
    })
    const visitor = await studio.open(undefined, '/login')
    expect(await axeProblems(visitor)).toEqual([])
    await visitor.getByRole('link', { name: 'Create an account' }).click()
    await visitor.getByLabel('E-mail').waitFor()
    await visitor.goBack()
    await visitor.getByRole('link', { name: 'Forgot your password?' }).click()
    await visitor.getByLabel('E-mail').fill('eve@example.com')
    expect(await axeProblems(visitor)).toEqual([])
    await visitor.getByRole('button', { name: 'Send the link' }).click()
    await visitor.getByText('If an account has this address').waitFor()
    await eventually(() => mails.taken.some(({ to }) => to.includes('eve@example.com'))).toBe(true)
    await goWithin(page, 'operate/user-log')
    await page.getByRole('row', { name: /eve password mail sent/ }).waitFor()
    expect(studio.complaints()).toEqual([])
  })
})

describe('bad names', () => {
  const bad = [
    `${'Wide'.repeat(49)}End`,
    `🚀 👩🏽 ${'שלום עולם, זה שם ארוך מאוד '.repeat(5).trim()}`,
    '</title><img src=x onerror="globalThis.hurt = 1"><script>globalThis.hurt = 1</script>',
  ] as const

  /** Below `/studio`, and whether the name with markup is shown there. */
  const screens: [string, boolean][] = []

  const make = async (path: string, body: JsonObject) =>
    guidOf(objectOf(await studio.quoin.manage('POST', path, body)))

  beforeAll(async () => {
    for (const [at, name] of bad.entries()) await fill(name, at)
    await page.setViewportSize({ width: 1280, height: 800 })
    await goWithin(page, 'welcome')
  }, 120_000)

  /** One of each kind of record with the name, or with the name as its description where names have letters only. */
  async function fill(name: string, at: number): Promise<void> {
    const short = name.slice(0, 60).trim()
    const blueprint = await studio.quoin.install(name, {
      get: { type: 'on_startup_register_uri_get', title: name, in: { uri: `bad${at}` }, scopes: ['*public'] },
      reply: {
        type: 'httpconnection_set_json',
        title: name,
        in: { flow: '@get.flow', value: '=params.x.y' },
      },
      tick: { type: 'schedule_repeating_event', title: name, in: { cron: '0 3 * * *' } },
      log: { type: 'function_console_log', title: name, in: { flow: '@tick.flow', value: '="a"' } },
    })
    const storage = await make('/_system/storages', { name: `bad${at}`, description: name })
    const field = { name: `f${at}`, type: 'string', label: name, help: name, storage: `bad${at}` }
    await make('/blueprintfields', field)
    const document = await make(`/_system/storages/${storage}/documents`, { [`f${at}`]: name })
    const person = {
      username: `bad${at}`,
      password: 'correct horse battery',
      firstname: short,
      lastname: short,
    }
    const user = await make('/users', person)
    await make('/_system/authentication-groups', { name: short, description: name, scopes: [] })
    await make('/_system/secrets', { name: `BAD${at}`, value: 'x', description: name })
    const alert = { figure: 'dead_letters', threshold: 1, mail: ['a@example.com'], active: true }
    await make('/_system/alerts', { name: `bad${at}`, description: name, ...alert })
    await make('/_system/environment', { name: `BAD${at}`, value: name, description: name })
    await make('/_system/connections', { name: `bad${at}`, base_url: 'https://a.example', description: name })
    const template = await make('/blueprinttemplates', { name: short, description: name, content: '{}' })
    const rule = { rule_type: 'max_blocks', parameters: { max: 900 }, message: name, severity: 'warning' }
    await make('/_system/blueprintvalidation', rule)
    const view = name.slice(0, 100).trim()
    await make(`/_system/storages/${storage}/views`, { name: view, shared: true, address: '' })
    const provider = { issuer: 'https://a.example', client_id: 'quoin', secret: '', description: name }
    await make('/_system/signin-providers', { name: `bad${at}`, title: short, ...provider })
    await make(`/users/${user}/keys`, { name: view })
    await wait(name, at)
    await release(name, at)
    const draft = await storeBeside(name, at)
    await signInWith(name, at, user)
    const hasMarkup = at === bad.length - 1
    screens.push(
      [`blueprints/applications/bad${at}`, hasMarkup],
      [`blueprints/applications/drafts/${draft}`, hasMarkup],
      [`people/users/${user}/access`, false],
      [`blueprints/${blueprint}?view=outline`, hasMarkup],
      [`data/storages/${storage}`, hasMarkup],
      [`data/storages/${storage}?tab=fields`, hasMarkup],
      [`data/storages/${storage}/documents/${document}`, hasMarkup],
      [`data/storages/${storage}/documents/${document}?tab=json`, hasMarkup],
      [`people/users/${user}`, false],
      [`data/templates/${template}`, false],
    )
  }

  /** A job of a queue, which has letters only in its name, and a run that waits. */
  async function wait(name: string, at: number): Promise<void> {
    const post = (uri: string) => ({ type: 'on_startup_register_uri_post', in: { uri }, scopes: ['*public'] })
    await studio.quoin.install(`Waits ${at}`, {
      ask: post(`ask${at}`),
      approval: {
        type: 'wait_for_approval',
        in: { flow: '@ask.flow', title: name, text: name, scopes: ['*loggedin'] },
      },
      later: post(`later${at}`),
      queued: {
        type: 'function_custom_execute_from_queue',
        in: { flow: '@later.flow', function: `work${at}`, queue: `${'w'.repeat(60)}${at}` },
      },
      work: { type: 'trigger_custom_function', title: name, fields: { name: `work${at}` } },
      fail: { type: 'fail', in: { flow: '@work.flow', message: name } },
    })
    for (const uri of [`ask${at}`, `later${at}`])
      expect((await studio.quoin.send('POST', `/${uri}`, { body: {} })).status).toBeLessThan(300)
  }

  async function release(title: string, at: number): Promise<void> {
    const about = { name: `bad${at}`, title }
    const parts = { blueprints: {}, storages: {}, groups: {}, templates: {}, seed: {}, tests: {} }
    const application = { about, ...parts }
    const plan = objectOf(await studio.quoin.manage('POST', '/_system/applications/plan', { application }))
    const state = plan.state ?? ''
    await studio.quoin.manage('POST', '/_system/applications/push', { application, state })
  }

  /** A file, a space, and a draft that changes a blueprint; gives the draft. */
  async function storeBeside(name: string, at: number): Promise<string> {
    const form = new FormData()
    form.append('directory', 'public')
    form.append('file', new Blob(['x']), `${name.slice(0, 60).replaceAll('/', '-')}.txt`)
    const headers = { authorization: `Bearer ${await studio.quoin.tokenOf('admin')}` }
    const sent = { method: 'POST', headers, body: form }
    expect((await fetch(`${studio.address}/api/v1/_system/assets/stream`, sent)).status).toBeLessThan(300)
    const space = { name: `bad${at}`, title: name.slice(0, 99).trim(), hosts: [`bad${at}.example.com`] }
    await studio.quoin.manage('POST', '/_system/spaces', space)
    const text = JSON.stringify({ name, blocks: { log: { type: 'function_console_log', title: name } } })
    const draft = { application: `bad${at}`, changes: [{ path: 'blueprints/new.json', text }] }
    return String(objectOf(await studio.quoin.manage('POST', '/_system/drafts', draft)).guid)
  }

  /** An agent that is let in and a passkey, of the administrator and of the user. */
  async function signInWith(name: string, at: number, user: string): Promise<void> {
    const { access } = studio.quoin.quoin
    const by = await access.identify(await studio.quoin.tokenOf('admin'))
    if (!by) throw new Error('The administrator is not signed in.')
    const redirectUri = 'https://agent.example/back'
    const client = { clientId: `https://agent.example/${at}.json`, redirectUri }
    const challenge = createHash('sha256').update('v'.repeat(43)).digest('base64url')
    const terms = { clientName: name, challenge, scopes: ['drafts_view'], seconds: 3_600, once: `once${at}` }
    const code = await access.agents.consent(by, { ...client, ...terms })
    await access.agents.redeem({ ...client, code, verifier: 'v'.repeat(43) })
    const now = Math.floor(studio.quoin.now() / 1000)
    const passkey = {
      name: name.slice(0, 64).trim(),
      host: 'a.example',
      created: now,
      last_used: now,
      counter: 0,
    }
    for (const user_guid of [by.guid, user])
      await transact(studio.quoin.quoin.database, async (session) => {
        const credential_hash = `${user_guid} ${at}`
        await session.create(systemStorages.passkeys, setFields({ ...passkey, user_guid, credential_hash }))
      })
  }

  const lists: readonly [string, boolean][] = [
    ['blueprints', true],
    ['data', true],
    ['data/fields', false],
    ['data/templates', true],
    ['data/rules', true],
    ['operate', false],
    ['operate/schedules', true],
    ['operate/system-log', false],
    ['operate/audit-log', true],
    ['operate/environment', true],
    ['operate/secrets', true],
    ['operate/connections', true],
    ['operate/alerts', true],
    ['people', true],
    ['people/groups', true],
    ['people/providers', true],
    ['people/scopes', false],
    ['blueprints/applications', true],
    ['operate/queues', false],
    ['operate/waits', true],
    ['operate/user-log', false],
    ['account', true],
    ['api', false],
    ['assets', false],
    ['operate/spaces', true],
    ['operate/backups', false],
    ['operate/extensions', false],
  ]

  const tooWide = 'document.documentElement.scrollWidth - innerWidth'

  async function inFields(tab: Page, text: string): Promise<number> {
    const values = await tab
      .locator('input, textarea')
      .evaluateAll((all) => all.map((one) => 'value' in one && String(one.value)))
    return values.filter((value) => value !== false && value.includes(text)).length
  }

  test('no name runs or widens a screen, and each is shown as it is written', async () => {
    await studio.ask('GET', '/bad0')
    const wrong: string[] = []
    for (const [address, isShown] of [...lists, ...screens]) {
      await goWithin(page, address)
      await settled(page)
      const whole = '</title><img src=x'
      const isRead = async () => (await page.getByText(whole).count()) + (await inFields(page, whole)) > 0
      if (
        isShown &&
        !(await eventually(isRead)
          .toBe(true)
          .then(
            () => true,
            () => false,
          ))
      )
        wrong.push(`${address} does not show it`)
      for (const width of [390, 1280]) {
        await page.setViewportSize({ width, height: 844 })
        const over = Number(await page.evaluate(tooWide))
        if (over > 0) wrong.push(`${address} is ${over} pixels too wide at ${width}`)
        const rows = await page.evaluate<string[]>(covered)
        wrong.push(...rows.map((row) => `${address}: a button covers ${row}`))
        const cells = await page.evaluate<string[]>(cut)
        wrong.push(...cells.map((cell) => `${address}: cut off at ${cell}`))
      }
    }
    expect(wrong).toEqual([])
    expect(await page.evaluate('globalThis.hurt')).toBeUndefined()
    expect(studio.complaints()).toEqual([])
  }, 240_000)
})
