/** The second factor in the studio: adding an app, confirming an old session, signing in with a code, and the reset. */
import { TOTP } from 'otpauth'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { userPassword } from '../end-to-end/harness.ts'
import { axeProblems } from './axe-check.ts'
import { openStudio, type StudioFixture } from './studio-fixture.ts'

let studio: StudioFixture
beforeAll(async () => {
  studio = await openStudio({ QUOIN_SECRETS_KEY: '0f'.repeat(32) })
}, 120_000)
afterAll(() => studio?.close())

const MINUTE = 60_000
const codeOf = (secret: string) =>
  TOTP.generate({ secret: new TOTP({ secret }).secret, timestamp: studio.quoin.now() })

test('a builder adds an app after confirming an old session, signs in with a code, and is reset', async () => {
  const name = `dea-${Date.now()}`
  const guid = await studio.quoin.addUser(name, [])
  const page = await studio.open(name, 'account')
  const add = page.getByRole('button', { name: 'Add an authenticator app' })
  await add.waitFor()
  studio.quoin.advance(6 * MINUTE)
  await add.click()
  const confirmation = page.locator('.sign-in-cover')
  await confirmation.getByRole('heading', { name: 'Confirm that it is you' }).waitFor()
  expect(await axeProblems(page)).toEqual([])
  await confirmation.getByLabel('Password').fill('a wrong password')
  await confirmation.getByRole('button', { name: 'Confirm' }).click()
  await confirmation.getByText('password is wrong').waitFor()
  await confirmation.getByLabel('Password').fill(userPassword)
  await confirmation.getByRole('button', { name: 'Confirm' }).click()
  const dialog = page.getByRole('dialog', { name: 'Add an authenticator app' })
  const secret = (await dialog.getByLabel('Key', { exact: true }).textContent()) ?? ''
  await dialog.getByRole('img', { name: 'QR code with the key' }).waitFor()
  expect(await axeProblems(page)).toEqual([])
  await dialog.getByRole('textbox', { name: 'Code' }).fill('000000')
  await dialog.getByRole('button', { name: 'Add an authenticator app' }).click()
  await dialog.getByText('code is wrong').first().waitFor()
  await dialog.getByRole('textbox', { name: 'Code' }).fill(codeOf(secret))
  await dialog.getByRole('button', { name: 'Add an authenticator app' }).click()
  const codes = page.getByRole('dialog', { name: 'Your recovery codes' })
  await codes.waitFor()
  expect(await codes.locator('code').count()).toBe(10)
  await codes.getByRole('button', { name: 'I have stored them' }).click()
  await page.getByText('10 recovery codes left').waitFor()

  studio.quoin.advance(MINUTE)
  const again = await studio.open(undefined, 'account')
  await again.getByLabel('User name or e-mail').fill(name)
  await again.getByLabel('Password').fill(userPassword)
  await again.getByRole('button', { name: 'Sign in' }).click()
  await again.getByLabel('Code').fill('000000')
  await again.getByRole('button', { name: 'Continue' }).click()
  await again.getByText('The code is wrong').waitFor()
  expect(await axeProblems(again)).toEqual([])
  await again.getByLabel('Code').fill(codeOf(secret))
  await again.getByRole('button', { name: 'Continue' }).click()
  await again.getByText('10 recovery codes left').waitFor()

  const admin = await studio.open('admin', `people/users/${guid}`)
  await admin.getByRole('button', { name: 'Reset second factor' }).click()
  const reset = admin.getByRole('dialog', { name: `Reset the second factor of ${name}?` })
  await reset.getByRole('button', { name: 'Reset second factor' }).click()
  await reset.waitFor({ state: 'hidden' })
  await admin.getByRole('button', { name: 'Reset second factor' }).waitFor({ state: 'hidden' })
  expect(studio.complaints()).toEqual([])
})

test('a group that requires a second factor has its user set one up in the sign-in form', async () => {
  const name = `eli-${Date.now()}`
  const guid = await studio.quoin.addUser(name, [])
  const groups = await studio.open('admin', 'people/groups')
  await groups.getByRole('button', { name: 'New group' }).click()
  const dialog = groups.getByRole('dialog', { name: 'New group' })
  await dialog.getByLabel('Name').fill(`Staff of ${name}`)
  await dialog.getByLabel('Second factor required after days').fill('0')
  await dialog.getByRole('button', { name: 'Create' }).click()
  await dialog.waitFor({ state: 'hidden' })
  const found = await studio.quoin.manage('POST', '/_system/authentication-groups/search', {
    filters: { name: `Staff of ${name}` },
  })
  const [group] = JSON.parse(JSON.stringify(found))
  expect(group).toMatchObject({ second_factor_days: 0 })
  await studio.quoin.manage('PUT', `/users/${guid}`, { groups: [group._meta.guid] })
  const page = await studio.open(undefined, 'account')
  await page.getByLabel('User name or e-mail').fill(name)
  await page.getByLabel('Password').fill(userPassword)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('img', { name: 'QR code with the key' }).waitFor()
  expect(await axeProblems(page)).toEqual([])
  const [, secret = ''] = /Key: ([A-Z2-7]+)/.exec((await page.locator('form').textContent()) ?? '') ?? []
  await page.getByLabel('Code').fill(codeOf(secret))
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByRole('button', { name: 'I have stored them' }).click()
  await page.getByText('10 recovery codes left').waitFor()
  expect(studio.complaints()).toEqual([])
})
