/** API keys, sessions and invitations in the studio; the sign-in page with its links. A real SMTP server takes the mails. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventually } from '../end-to-end/example-fixture.ts'
import { objectOf, objectsOf } from '../end-to-end/harness.ts'
import { type MailServer, openMailServer } from '../mail-server.ts'
import { axeProblems } from './axe-check.ts'
import { goWithin, openStudio, type StudioFixture } from './studio-fixture.ts'

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
  })
  page = await studio.open('admin', 'account')
}, 120_000)
afterAll(async () => {
  await studio?.close()
  await mails?.close()
})

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
  await dialog.getByLabel('Allowed endpoints').fill('GET /api/v1/users/me\n\nnonsense')
  await dialog.getByRole('button', { name: 'Create' }).click()
  await dialog.getByText('The endpoint "nonsense"').first().waitFor()
  expect(await keys()).toEqual([])
  await dialog.getByLabel('Allowed endpoints').fill('GET /api/v1/users/me')
  await dialog.getByRole('button', { name: 'Create' }).click()
  const shown = page.getByRole('dialog', { name: 'API key ERP' })
  const secret = (await shown.getByLabel('The key').textContent()) ?? ''
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

test('the sign-in page leads to a new password and to a new account', async () => {
  const visitor = await studio.open(undefined, '/login')
  expect(await axeProblems(visitor)).toEqual([])
  await visitor.getByRole('link', { name: 'Create an account' }).click()
  await visitor.getByLabel('E-mail').waitFor()
  await visitor.goBack()
  await visitor.getByRole('link', { name: 'Forgot your password?' }).click()
  await visitor.getByLabel('E-mail').fill('ann@example.com')
  expect(await axeProblems(visitor)).toEqual([])
  await visitor.getByRole('button', { name: 'Send the link' }).click()
  await visitor.getByText('If an account has this address').waitFor()
  expect(studio.complaints()).toEqual([])
})
