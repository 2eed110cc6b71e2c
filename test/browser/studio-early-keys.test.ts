/** What is typed right behind the click that opens a dialog arrives in its first field, as a whole, and runs no shortcut. */
import type { Page } from 'playwright-core'
import { beforeAll, expect, test } from 'vitest'
import { guidOf } from '../end-to-end/harness.ts'
import { eventually } from './studio-eventually.ts'
import { goWithin, studioOfSuite } from './studio-fixture.ts'
import { settled } from './studio-looks.ts'

const studio = studioOfSuite({ QUOIN_SECRETS_KEY: '0f'.repeat(32) })
let page: Page
let boats: string
beforeAll(async () => {
  const { manage } = studio.quoin
  boats = `data/storages/${guidOf(await manage('POST', '/_system/storages', { name: 'boats' }))}`
  await manage('POST', '/blueprintfields', { name: 'name', type: 'string', storage: 'boats' })
  await manage('POST', '/blueprints', { name: 'Hours' })
  await manage('POST', '/_system/authentication-groups', { name: 'sailors' })
  await manage('POST', '/_system/environment', { name: 'HARBOUR', value: 'north' })
  // With the fades of those who have not asked for less motion.
  page = await studio.open('admin', 'account', { reducedMotion: 'no-preference' })
}, 120_000)

const button = (name: string) => () => page.getByRole('button', { name, exact: true }).click()
const item = (menu: string, name: string) => async () => {
  await button(menu)()
  await page.getByRole('menuitem', { name, exact: true }).click()
}

test.each<readonly [string, string | (() => string), () => Promise<void>]>([
  ['New blueprint', 'blueprints', button('New blueprint')],
  ['Import a blueprint', 'blueprints', button('Import')],
  ['A dialog that a menu opens', 'blueprints', item('More about Hours', 'Name and description')],
  ['New storage', 'data', button('New storage')],
  ['Save a view', () => `${boats}?q=ida`, item('Views', 'Save as a new view')],
  ['Make API', () => boats, button('Make API')],
  ['Make pages', () => boats, button('Make pages')],
  ['New field', 'data/fields', button('New field')],
  ['New rule', 'data/rules', button('New rule')],
  ['New value', 'operate/environment', button('New value')],
  ['New secret', 'operate/secrets', button('New secret')],
  ['New group', 'people/groups', button('New group')],
  ['New provider', 'people/providers', button('New provider')],
  ['New API key', 'account', button('New API key')],
])('%s', async (_what, address, open) => {
  await goWithin(page, typeof address === 'string' ? address : address())
  await settled(page)
  // The timer that moves the focus into a dialog comes late, as on a busy machine.
  await page.evaluate(`globalThis.soon ??= setTimeout
    globalThis.setTimeout = (work, ms) => (ms === undefined ? 0 : soon(work, ms))`)
  await open()
  await page.keyboard.type('new')
  await page.evaluate('globalThis.setTimeout = soon')
  const field = page.getByRole('dialog').locator(':is(input, textarea):focus')
  await field.waitFor()
  // A list of two kinds takes no text.
  if (await field.isEditable()) expect(await field.inputValue()).toContain('new')
  // And nothing takes the focus on.
  await page.evaluate('new Promise((done) => setTimeout(done))')
  expect(await field.count()).toBe(1)
  expect(await page.getByRole('dialog').count()).toBe(1)
  await page.keyboard.press('Escape')
  await closed()
})

/** A select in it may take the first Escape. */
const closed = () =>
  eventually(async () => {
    if ((await page.getByRole('dialog').count()) > 0) await page.keyboard.press('Escape')
    return page.getByRole('dialog').count()
  }).toBe(0)

/** While the record is read there is no dialog yet, so `o` and `g b` would be shortcuts. */
test.each([
  ['A field of documents', 'data/fields', 'name', 'blueprintfields'],
  ['A group', 'people/groups', 'sailors', 'authentication-groups'],
  ['A value of the environment', 'operate/environment', 'HARBOUR', 'environment'],
])('%s that is read first', async (_what, address, name, part) => {
  await goWithin(page, address)
  await settled(page)
  const read = Promise.withResolvers<void>()
  const reading = `**/api/v1/**/${part}/0*`
  await page.route(part === 'blueprintfields' ? '**/api/v1/blueprintfields/0*' : reading, async (route) => {
    await read.promise
    await route.continue()
  })
  await page.getByRole('link', { name, exact: true }).first().click()
  await eventually(() => page.url()).toContain('open=')
  await page.keyboard.type('g bo?x')
  await page.keyboard.press('Backspace')
  expect(await page.getByRole('dialog').count()).toBe(0)
  read.resolve()
  const field = page.getByRole('dialog').locator(':is(input, textarea):focus')
  await field.waitFor()
  await page.keyboard.type('!')
  if (await field.isEditable()) expect(await field.inputValue()).toContain('g bo?!')
  expect([await page.getByRole('dialog').count(), new URL(page.url()).pathname]).toEqual([
    1,
    `/studio/${address}`,
  ])
  await page.unrouteAll({ behavior: 'wait' })
  await page.keyboard.press('Escape')
  await closed()
})
