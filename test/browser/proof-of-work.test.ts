/** Sign-up above the rate in a real browser: it solves the challenge in a worker; without JavaScript the page says what is missing. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type MailServer, openMailServer } from '../mail-server.ts'
import { axeProblems } from './axe-check.ts'
import { openStudio, type StudioFixture } from './studio-fixture.ts'

let mails: MailServer
let studio: StudioFixture
beforeAll(async () => {
  mails = await openMailServer()
  studio = await openStudio({
    ...{ QUOIN_PUBLIC_URL: 'https://club.example.com', QUOIN_SIGN_UP: 'on', QUOIN_PROOF_ABOVE: '0' },
    ...{
      QUOIN_MAIL_URL: `smtp://127.0.0.1:${mails.port}?tls=off`,
      QUOIN_MAIL_FROM: 'Club <club@example.com>',
    },
  })
}, 120_000)
afterAll(async () => {
  await studio?.close()
  await mails?.close()
})

test('a visitor signs up and sees nothing of the work; a refused address gets another challenge', async () => {
  const page = await studio.open(undefined, `${studio.address}/login/new`)
  const challenge = () => page.locator('form[data-proof]').getAttribute('data-proof')
  const first = await challenge()
  expect(await page.getByText('That needs JavaScript').isVisible()).toBe(false)
  const solved: string[] = []
  page.on('request', (request) => {
    if (request.method() === 'POST')
      solved.push(new URLSearchParams(request.postData() ?? '').get('_proof') ?? '')
  })
  await page.getByLabel('E-mail').fill('no address')
  // The work is done while the form is filled in.
  await page.locator('input[name="_proof"]:not([value=""])').waitFor({ state: 'attached' })
  await page.getByRole('button', { name: 'Send the link' }).click()
  await page.locator('[data-summary]').waitFor()
  expect(await axeProblems(page)).toEqual([])
  expect(await challenge()).not.toBe(first)
  // Sent before the work is done.
  await page.evaluate("document.querySelector('input[name=email]').value = 'fay@example.com'")
  await page.evaluate("document.querySelector('form[data-proof]').requestSubmit()")
  await page.getByText('A mail with a link is on its way').waitFor()
  expect(solved).toHaveLength(2)
  expect(solved[0]?.startsWith(`${first}.`)).toBe(true)
  expect(studio.complaints()).toEqual([])
})

test('without JavaScript the page says what is missing, and the form is refused', async () => {
  const page = await studio.open(undefined, `${studio.address}/login/new`, { javaScriptEnabled: false })
  await page.getByText('That needs JavaScript').waitFor()
  await page.getByLabel('E-mail').fill('gus@example.com')
  await page.getByLabel('E-mail').press('Enter')
  await page.getByText('your browser has to do some work').waitFor()
})
