/** A first page, built and deployed in the studio without a mouse: every step is a key. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventually, press as pressIn } from './studio-eventually.ts'
import { administrator, openStudio, type StudioFixture } from './studio-fixture.ts'
import { pointerEvents, type StudioOutline, studioOutline, watchPointer } from './studio-outline.ts'

let studio: StudioFixture
let page: Page
let outline: StudioOutline
beforeAll(async () => {
  studio = await openStudio()
  page = await studio.open(undefined, 'blueprints')
  await watchPointer(page)
  // A load from an empty page is followed by moves of a mouse that Chromium makes up.
  await page.reload()
  outline = studioOutline(page)
}, 120_000)
afterAll(() => studio?.close())

const press = (key: string) => pressIn(page, key)
const focusedOn = (name: string | RegExp) => eventually(outline.focused).toMatch(name)

test('signing in, and on to an empty outline', async () => {
  await focusedOn('User name or e-mail')
  await page.keyboard.type(administrator.username)
  await press('Tab')
  await page.keyboard.type(administrator.password)
  await press('Enter')
  await page.getByText('No blueprints yet').waitFor()
  await press('n')
  await focusedOn(/^Name/)
  await page.keyboard.type('Welcome page')
  await press('Enter')
  await page.getByText('Start with a trigger').waitFor()
  await press('o')
  await page.getByRole('tree').waitFor()
})

test('a page with a line of text is deployed and read', async () => {
  await outline.add('page')
  await outline.write('hello')
  await outline.add('show page')
  await outline.goTo(/Show page/, /pin state/)
  await outline.add('text')
  await outline.write('Good morning')
  await press('ControlOrMeta+Enter')
  await focusedOn(/^Save, deploy and activate/)
  await press('Enter')
  await page.getByText('Active, version 1').waitFor()
  const reply = await fetch(`${studio.address}/hello`, {
    headers: { authorization: `Bearer ${await studio.quoin.tokenOf('admin')}`, accept: 'text/html' },
  })
  expect([reply.status, await reply.text()]).toEqual([200, expect.stringContaining('Good morning')])
  expect(await pointerEvents(page)).toBe(0)
  expect(studio.complaints()).toEqual([])
}, 120_000)
