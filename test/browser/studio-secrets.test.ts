/** Secrets in the studio: set, changed and removed by a person, never shown, and offered to pins that take one. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { guidOf, objectsOf } from '../end-to-end/harness.ts'
import { axeProblems } from './axe-check.ts'
import { studioCanvas } from './studio-canvas.ts'
import { eventually, textOf, textsOf } from './studio-eventually.ts'
import { openStudio, type StudioFixture } from './studio-fixture.ts'

let studio: StudioFixture
let page: Page
let blueprint = ''
beforeAll(async () => {
  studio = await openStudio({ QUOIN_SECRETS_KEY: '0f'.repeat(32) })
  blueprint = await studio.quoin.install('Signed', {
    take: { type: 'on_startup_register_uri_post', in: { uri: 'signed' }, scopes: ['*public'] },
    reply: { type: 'reply', in: { flow: '@check.valid', value: '=1' } },
    // On top of the others.
    check: {
      type: 'check_signature',
      title: 'Check',
      in: { flow: '@take.flow', secret: 'STRIPE' },
      fields: { sender: 'stripe' },
    },
  })
  page = await studio.open('admin', 'operate/secrets')
}, 240_000)
afterAll(() => studio?.close())

const secrets = () => studio.quoin.quoin.flows.secrets
const dialog = () => page.getByRole('dialog')
const rows = () => page.getByRole('main').getByRole('row')

test('without secrets the screen says how one is used', async () => {
  await page.getByText('No secrets').waitFor()
  expect(await axeProblems(page)).toEqual([])
})

test('a secret is set; the list shows who uses it and not its value', async () => {
  await page.getByRole('button', { name: 'New secret' }).click()
  await dialog().getByLabel('Name').fill('a-b')
  await dialog()
    .getByRole('textbox', { name: /^Value/ })
    .fill('sk_live_first')
  await dialog().getByRole('button', { name: 'Create' }).click()
  await dialog().getByRole('alert').waitFor()
  expect(secrets().names()).toEqual([])
  await dialog().getByLabel('Name').fill('STRIPE')
  expect(await axeProblems(page)).toEqual([])
  await dialog().getByRole('button', { name: 'Create' }).click()
  await eventually(textOf(rows())).toMatch(/STRIPE.*Signed.* by admin/)
  expect(secrets().open('STRIPE')).toEqual({ value: 'sk_live_first' })
  expect(await page.content()).not.toContain('sk_live')
})

test('its description changes without its value, and its value without being shown', async () => {
  await page.getByRole('link', { name: 'STRIPE' }).click()
  await dialog().getByLabel('Description').fill('Payments')
  expect(
    await dialog()
      .getByRole('textbox', { name: /^New value/ })
      .inputValue(),
  ).toBe('')
  await dialog().getByRole('button', { name: 'Save' }).click()
  await eventually(textOf(rows())).toMatch(/Payments/)
  expect(secrets().open('STRIPE')).toEqual({ value: 'sk_live_first' })
  await page.getByRole('link', { name: 'STRIPE' }).click()
  await dialog()
    .getByRole('textbox', { name: /^New value/ })
    .fill('sk_live_second')
  await dialog().getByRole('button', { name: 'Save' }).click()
  await dialog().waitFor({ state: 'detached' })
  expect(secrets().open('STRIPE')).toEqual({ value: 'sk_live_second' })
})

test('a pin that takes a secret offers names, and takes no expression', async () => {
  const editor = await studio.open('admin', `blueprints/${blueprint}`)
  const blocks = objectsOf(await studio.quoin.manage('GET', `/blueprints/${blueprint}/blocks`))
  await studioCanvas(editor).choose(guidOf(blocks.find(({ title }) => title === 'Check')))
  const field = editor.getByLabel('Value of former_secret').first()
  await field.click()
  // The palette is a list of options too.
  await eventually(textsOf(editor.getByRole('option', { name: 'STRIPE', exact: true }))).toEqual(['STRIPE'])
  const pin = editor.getByRole('group', { name: 'former_secret, secret' })
  expect(await textsOf(pin.getByRole('button'))()).toEqual(['New secret …'])
  await editor.context().close()
})

test('a secret that is missing is made from the pin that names it, and the problem goes away', async () => {
  const missing = await studio.quoin.install('Missing', {
    take: { type: 'on_startup_register_uri_post', in: { uri: 'missing' }, scopes: ['*public'] },
    reply: { type: 'reply', in: { flow: '@check.valid', value: '=1' } },
    check: {
      type: 'check_signature',
      title: 'Check',
      in: { flow: '@take.flow', secret: 'HOOK_KEY', former_secret: 'OLD_KEY' },
      fields: { sender: 'stripe' },
    },
  })
  const editor = await studio.open('admin', `blueprints/${missing}`)
  const blocks = objectsOf(await studio.quoin.manage('GET', `/blueprints/${missing}/blocks`))
  await studioCanvas(editor).choose(guidOf(blocks.find(({ title }) => title === 'Check')))
  await editor.getByText('There is no secret HOOK_KEY').first().waitFor()
  await editor.getByRole('button', { name: 'New secret HOOK_KEY …' }).first().click()
  const form = editor.getByRole('dialog')
  await form.getByRole('textbox', { name: /^Value/ }).fill('whsec_1')
  expect(await form.getByLabel('Name').inputValue()).toBe('HOOK_KEY')
  await form.getByRole('button', { name: 'Create' }).click()
  await form.waitFor({ state: 'detached' })
  await editor.getByText('There is no secret HOOK_KEY').first().waitFor({ state: 'detached' })
  expect(await editor.getByRole('button', { name: 'New secret HOOK_KEY …' }).count()).toBe(0)
  // In another tab.
  await studio.quoin.manage('POST', '/_system/secrets', { name: 'OLD_KEY', value: 'whsec_0' })
  await editor.evaluate(() => window.dispatchEvent(new Event('focus')))
  await editor.getByText('There is no secret OLD_KEY').first().waitFor({ state: 'detached' })
  // The server signs what is tried.
  await editor.getByRole('button', { name: 'Try it' }).click()
  const panel = editor.getByRole('complementary', { name: 'Try it' })
  await panel.getByRole('button', { name: 'Send POST' }).click()
  await panel.getByText('200', { exact: true }).waitFor()
  await panel.getByRole('switch', { name: 'Sign the request' }).uncheck()
  await panel.getByRole('button', { name: 'Send POST' }).click()
  await panel.getByText('401', { exact: true }).waitFor()
  await editor.context().close()
  for (const record of objectsOf(await studio.quoin.manage('POST', '/_system/secrets/search', {})))
    if (record.name !== 'STRIPE') await studio.quoin.manage('DELETE', `/_system/secrets/${guidOf(record)}`)
})

test('hosts are set in the dialog, and the list shows where a secret may be sent', async () => {
  await page.getByRole('link', { name: 'STRIPE' }).click()
  await dialog().getByPlaceholder('api.example.com').fill('api.stripe.com')
  await page.keyboard.press('Enter')
  expect(await axeProblems(page)).toEqual([])
  await dialog().getByRole('button', { name: 'Save' }).click()
  await eventually(textOf(rows())).toMatch(/STRIPE.*api\.stripe\.com/)
  await page.getByRole('link', { name: 'STRIPE' }).click()
  await dialog().getByRole('checkbox', { name: 'Any server' }).check()
  await dialog().getByRole('button', { name: 'Save' }).click()
  await eventually(textOf(rows())).toMatch(/STRIPE.*Any server/)
})

test('it is removed when that is confirmed, which says who uses it', async () => {
  const sender = {
    name: 'shop',
    base_url: 'https://api.stripe.com',
    auth: { kind: 'bearer', secret: 'STRIPE' },
  }
  await studio.ask('POST', '/_system/connections', { as: 'admin', body: sender })
  await page.reload()
  await eventually(textOf(rows())).toMatch(/STRIPE.*Signed.*, the connection shop/)
  await page.getByRole('button', { name: 'Remove STRIPE' }).click()
  await dialog()
    .getByText(/Used by Signed.*, the connection shop/)
    .waitFor()
  expect(secrets().names()).toEqual(['STRIPE'])
  await dialog().getByRole('button', { name: 'Remove' }).click()
  await page.getByText('No secrets').waitFor()
  expect(secrets().names()).toEqual([])
  expect(studio.complaints()).toEqual([])
})
