/** What docs/first-endpoint.md says of a signed webhook that calls another server and waits for an approval: built and tried without a restart. */
import { readFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type LocalServer, startLocalServer } from '../local-server.ts'
import { type PacedHand, pacedHand } from './paced-hand.ts'
import { eventually } from './studio-eventually.ts'
import { openStudio, type StudioFixture } from './studio-fixture.ts'

/** Seconds that a person reads a screen or a dialog which is new. */
const READ = 3

let studio: StudioFixture
let bank: LocalServer
let page: Page
let hand: PacedHand
const asked: string[] = []
beforeAll(async () => {
  bank = await startLocalServer((request, response) => {
    asked.push(String(request.url))
    response.writeHead(200).end('{}')
  })
  // No key of secrets: the first start makes one.
  studio = await openStudio({ QUOIN_ALLOWED_HOSTS: '127.0.0.1' })
  page = await studio.open('admin', 'blueprints')
  hand = pacedHand(page)
})
afterAll(async () => {
  await studio?.close()
  await bank?.close()
})

let screens = 0
const dialog = () => page.getByRole('dialog')
const value = (pin: string) => page.getByLabel(`Value of ${pin}`, { exact: true }).first()

async function addAfter(pin: string, words: string): Promise<void> {
  await hand.click(page.getByRole('button', { name: `Add a block after ${pin}`, exact: true }))
  await dialog().getByRole('combobox', { name: 'Search blocks' }).waitFor()
  await hand.type(words, 'Enter')
  await dialog().waitFor({ state: 'detached' })
  screens += 1
}

/** Of a new block its first needed field. */
const hasKeyboard = (pin: string) =>
  eventually(() => value(pin).evaluateAll((all) => all[0] === document.activeElement)).toBe(true)

test('the flow is built, with a secret that is made in its field', async () => {
  await hand.click(page.getByRole('button', { name: 'New blueprint' }).first())
  await eventually(() => dialog().getByLabel('Name').count()).toBeGreaterThan(0)
  await hand.type('Payments', 'Enter')
  await hand.click(page.getByRole('button', { name: /^Choose a block/ }))
  await dialog().getByRole('combobox', { name: 'Search blocks' }).waitFor()
  await hand.type('register post', 'Enter')
  await dialog().waitFor({ state: 'detached' })
  await hasKeyboard('uri')
  await hand.type('payments')
  await hand.click(page.getByRole('combobox', { name: 'Who may call it' }))
  await hand.click(page.getByRole('option', { name: 'Everyone (public)' }))

  await addAfter('flow', 'check signature')
  await hand.click(page.getByRole('combobox', { name: /^Sender/ }))
  await hand.click(page.getByRole('option', { name: 'github' }))
  await hand.click(value('secret'))
  await hand.type('PAY_KEY')
  await hand.click(page.getByRole('button', { name: 'New secret PAY_KEY …' }).first())
  await hand.click(dialog().getByRole('textbox', { name: /^Value/ }))
  await hand.type('whsec_payments')
  await hand.click(dialog().getByRole('button', { name: 'Create' }))
  await dialog().waitFor({ state: 'detached' })

  await addAfter('valid', 'create document')
  await hasKeyboard('storage')
  await hand.type('payments')
  await hand.click(value('set'))
  await hand.type('=')
  await page.getByRole('textbox', { name: 'Expression of set' }).waitFor()
  await hand.type('body', 'Escape')
  // The list of completions has gone, and what it lay over is where it was.
  await page.locator('.cm-tooltip').waitFor({ state: 'detached' })

  await addAfter('flow', 'http request')
  await hand.click(value('url'))
  await hand.type(`${bank.url}/pay`)

  await addAfter('flow', 'wait for approval')
  await hasKeyboard('title')
  await hand.type('Payment')
  await hand.click(value('scopes'))
  await hand.type('["*loggedin"]')

  await addAfter('now', 'reply json')
  await hand.click(value('value'))
  await hand.type('waiting')
}, 120_000)

test('it is deployed, and answers a signed request that the server signs', async () => {
  await hand.click(page.getByRole('button', { name: 'Deploy and activate' }))
  await hand.click(dialog().getByRole('button', { name: 'Save, deploy and activate' }))
  await page.getByText('Active, version 1').waitFor()
  screens += 2
  await hand.click(page.getByRole('button', { name: 'Try it' }))
  const panel = page.getByRole('complementary', { name: 'Try it' })
  await hand.click(panel.getByRole('button', { name: 'Send POST' }))
  await panel.getByText('200', { exact: true }).waitFor()
  await eventually(() => asked).toEqual(['/pay'])
  expect(await studio.quoin.documents('payments')).toHaveLength(1)
  expect((await studio.ask('POST', '/payments', { body: {} })).status).toBe(401)
  expect(JSON.stringify(await studio.quoin.documents('_waits'))).toContain('Payment')
  expect(studio.complaints()).toEqual([])
})

test('at the pace of a person, with three seconds to read each new screen, it takes less than 90 s', async () => {
  const guide = await readFile(new URL('../../docs/first-endpoint.md', import.meta.url), 'utf8')
  expect(guide).toContain(hand.said())
  expect(hand.seconds + READ * screens).toBeLessThan(90)
})
