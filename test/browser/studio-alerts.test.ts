/** Alerts in the studio: made, tested and removed by a person. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { guidOf, objectsOf } from '../end-to-end/harness.ts'
import { type MailServer, openMailServer } from '../mail-server.ts'
import { axeProblems } from './axe-check.ts'
import { eventually, textOf } from './studio-eventually.ts'
import { openStudio, type StudioFixture } from './studio-fixture.ts'
import { expectNoProblem } from './studio-looks.ts'

let mails: MailServer
let studio: StudioFixture
let page: Page
beforeAll(async () => {
  mails = await openMailServer({ authOptional: true, hideSTARTTLS: true })
  studio = await openStudio({
    QUOIN_MAIL_URL: `smtp://127.0.0.1:${mails.port}?tls=off`,
    QUOIN_MAIL_FROM: 'quoin@example.org',
  })
  page = await studio.open('admin', 'operate/alerts')
}, 240_000)
afterAll(async () => {
  await studio?.close()
  await mails?.close()
})

const dialog = () => page.getByRole('dialog')
const rows = () => page.getByRole('main').getByRole('row')

/** A second try finds what the first one found. Loaded again: the list is not read twice in one second. */
async function removeAlerts(): Promise<void> {
  const { manage } = studio.quoin
  for (const one of objectsOf(await manage('POST', '/_system/alerts/search', {})))
    await manage('DELETE', `/_system/alerts/${guidOf(one)}`)
}
let tries = 0

test('an alert is made, with what is wrong said in the dialog', async () => {
  if (tries++ > 0) {
    await removeAlerts()
    await page.goto('operate/alerts')
  }
  await page.getByText('No alerts').waitFor()
  await expectNoProblem(page, 'no alerts')
  await page.getByRole('button', { name: 'New alert' }).click()
  await dialog().getByLabel('Name').fill('FULL_DISK')
  await dialog().getByRole('combobox', { name: 'Figure' }).click()
  await page.getByRole('option', { name: 'Free disk' }).click()
  expect(await dialog().getByLabel('Threshold (MiB)').inputValue()).toBe('2000')
  await dialog().getByLabel('Mail to').fill('ann')
  await page.keyboard.press('Enter')
  await dialog().getByRole('button', { name: 'Create' }).click()
  await dialog().getByRole('alert').waitFor()
  expect(await axeProblems(page)).toEqual([])
  await dialog().getByLabel('Mail to').press('Backspace')
  await dialog().getByLabel('Mail to').fill('ann@example.org')
  await page.keyboard.press('Enter')
  await dialog().getByRole('button', { name: 'Create' }).click()
  await eventually(textOf(rows())).toMatch(/FULL_DISK.*quiet.*Free disk.*2,000 MiB or less.*ann@example\.org/)
  await expectNoProblem(page, 'one alert')
})

test('its test arrives as a mail', async () => {
  const before = mails.taken.length
  await page.getByRole('button', { name: 'Test FULL_DISK' }).click()
  await eventually(() => mails.taken.slice(before).map(({ headers }) => headers.subject)).toEqual([
    'Test of the alert FULL_DISK',
  ])
})

let changed = 0

test('an alert that was changed is shown so, and removed', async () => {
  const name = `CHANGED_${++changed}`
  await removeAlerts()
  await studio.quoin.manage('POST', '/_system/alerts', {
    name,
    figure: 'disk_free',
    threshold: 9,
  })
  await page.goto('operate/alerts')
  await page.getByRole('link', { name }).click()
  await dialog().getByLabel('Checked each minute').uncheck()
  await dialog().getByRole('button', { name: 'Save' }).click()
  await eventually(textOf(rows())).toMatch(new RegExp(`${name}.*off`))
  await page.getByRole('button', { name: `Remove ${name}` }).click()
  await dialog().getByRole('button', { name: 'Remove' }).click()
  await page.getByText('No alerts').waitFor()
  expect(studio.complaints()).toEqual([])
})
