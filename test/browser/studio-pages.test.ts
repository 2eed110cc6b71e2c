/** A storage becomes pages by "Make pages": a list, one document, and forms that create, change and remove. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { guidOf, objectsOf } from '../end-to-end/harness.ts'
import { openVisitor } from '../page-visitor.ts'
import { goWithin, openStudio, type StudioFixture } from './studio-fixture.ts'
import { expectNoProblem, settled } from './studio-looks.ts'

let studio: StudioFixture
let page: Page
let maker: string
let storage: string
beforeAll(async () => {
  studio = await openStudio()
  const makers = guidOf(await studio.quoin.manage('POST', '/_system/storages', { name: 'makers' }))
  await studio.quoin.manage('POST', '/blueprintfields', { name: 'called', type: 'string', storage: 'makers' })
  const made = { called: 'Acme & Sons' }
  maker = guidOf(await studio.quoin.manage('POST', `/_system/storages/${makers}/documents`, made))
  storage = guidOf(await studio.quoin.manage('POST', '/_system/storages', { name: 'goods' }))
  for (const [order, field] of [
    { name: 'name', type: 'string', required: true, unique: true },
    { name: 'price', type: 'decimal', label: 'Price in euros' },
    { name: 'double', type: 'number', computed: '(doc.price ?? 0) * 2' },
    { name: 'number', type: 'autonumber', label: 'Number of the good', validation_rules: { start: 70_001 } },
    { name: 'maker', type: 'reference', reference: { storage: 'makers' } },
  ].entries())
    await studio.quoin.manage('POST', '/blueprintfields', { ...field, order, storage: 'goods' })
  page = await studio.open('admin', `data/storages/${storage}`)
}, 300_000)
afterAll(() => studio?.close())

test('with three clicks', async () => {
  await page.getByRole('button', { name: 'Make pages' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('Everyone').click()
  await settled(page)
  await expectNoProblem(page, 'Make pages')
  await dialog.getByRole('button', { name: 'Make and activate' }).click()
  await page.waitForURL(/\/blueprints\/[0-9a-f-]{36}/)
})

test('each place that names a page leads to it', async () => {
  const blueprint = page.url()
  // A page with one path and a page for a new document; the other two ask for a guid in the panel of their block.
  await page.getByRole('button', { name: 'Open a page' }).click()
  const links = page.getByRole('menuitem')
  await links.first().waitFor()
  const hrefs = await links.evaluateAll((all) => all.map((one) => one.getAttribute('href')))
  expect(hrefs.filter((href) => href !== null)).toEqual(['/goods', '/goods/new'])
  expect(hrefs).toHaveLength(4)
  await page.getByRole('menuitem', { name: '/goods/{guid}/view …' }).click()
  const panel = page.getByRole('complementary', { name: 'Properties' })
  await panel.getByText('Fill in the path to open it.').waitFor()
  await panel.getByLabel('guid in /goods/{guid}/view').fill('a b')
  const filled = panel.getByRole('link', { name: 'Open /goods/a%20b/view in a new tab' })
  expect(await filled.getAttribute('href')).toBe('/goods/a%20b/view')

  await page.getByRole('button', { name: 'Deploy', exact: true }).click()
  const dialog = page.getByRole('dialog', { name: 'Deploy' })
  const row = dialog.getByRole('row', { name: 'Page /goods everyone' })
  await row.getByText('no sign-in').waitFor()
  await dialog.getByRole('button', { name: 'Save and deploy' }).click()
  const deployed = page.getByRole('alert').filter({ hasText: 'is deployed and live' })
  expect(await deployed.getByRole('link').first().getAttribute('href')).toBe('/goods')

  await goWithin(page, 'blueprints')
  const pages = page.getByRole('list', { name: /Pages of/ })
  const link = pages.getByRole('link', { name: 'Open /goods in a new tab' })
  await link.waitFor()
  // Lists and documents are for everyone, forms for signed-in users.
  expect(await pages.getByText('no sign-in').count()).toBe(2)
  expect(await pages.getByRole('link').count()).toBe(2)
  await settled(page)
  await expectNoProblem(page, 'pages in the list of blueprints')
  const opening = page.context().waitForEvent('page')
  await link.click()
  const opened = await opening
  await opened.getByRole('heading', { level: 1 }).waitFor()
  expect(new URL(opened.url()).pathname).toBe('/goods')
  await opened.close()
  await goWithin(page, blueprint)
})

test('the list of blueprints opens the deployed address of a page, not the saved one', async () => {
  const blueprint = new URL(page.url()).pathname.split('/').at(-1) ?? ''
  const blocks = objectsOf(await studio.quoin.manage('GET', `/blueprints/${blueprint}/blocks`))
  const block = blocks.find(({ in_pins }) => objectsOf(in_pins).some(({ value }) => value === 'goods/new'))
  const address = (url: string) => ({
    in_pins: objectsOf(block?.in_pins).map((pin) => (pin.id === 'url' ? { ...pin, value: url } : pin)),
  })
  const save = async (url: string) => {
    await studio.quoin.manage('PUT', `/blueprintactions/${guidOf(block)}`, address(url))
    await studio.quoin.manage('POST', `/blueprintactions/unsaved/${blueprint}`, {})
  }
  await save('goods/other')
  const editor = page.url()
  // Loaded again: what the studio has read before the change would have the former address in any case.
  await page.goto('/studio/blueprints')
  const links = page.getByRole('list', { name: /Pages of/ }).getByRole('link')
  await links.nth(1).waitFor()
  expect(await links.evaluateAll((all) => all.map((one) => one.getAttribute('href')))).toEqual([
    '/goods',
    '/goods/new',
  ])
  await goWithin(page, `${editor.split('?')[0]}?block=${guidOf(block)}`)
  const panel = page.getByRole('complementary', { name: 'Properties' })
  await panel.getByText('Its new address /goods/other is live after the next deploy.').waitFor()
  expect(await panel.getByRole('link', { name: 'Open /goods/new in a new tab' }).getAttribute('href')).toBe(
    '/goods/new',
  )
  await save('goods/new')
  await goWithin(page, editor)
})

test('a page of an inactive blueprint is opened nowhere', async () => {
  const editor = page.url()
  const blueprint = new URL(editor).pathname.split('/').at(-1) ?? ''
  const blocks = objectsOf(await studio.quoin.manage('GET', `/blueprints/${blueprint}/blocks`))
  const block = blocks.find(({ in_pins }) => objectsOf(in_pins).some(({ value }) => value === 'goods/new'))
  await studio.quoin.manage('PUT', `/blueprints/update/set/inactive/${blueprint}`, {})
  // Loaded again: the studio has not made these changes, and asks again after a while only.
  await page.goto('/studio/blueprints')
  const pages = page.getByRole('list', { name: /Pages of/ })
  await pages.getByText('/goods', { exact: true }).waitFor()
  expect(await pages.getByRole('link').count()).toBe(0)
  await page.goto(`${editor.split('?')[0]}?block=${guidOf(block)}`)
  const panel = page.getByRole('complementary', { name: 'Properties' })
  await panel.getByText('The page is not live. Deploy and activate the blueprint to open it.').waitFor()
  expect(await page.getByRole('button', { name: 'Open a page' }).count()).toBe(0)
  await studio.quoin.manage('PUT', `/blueprints/update/set/active/${blueprint}`, {})
  await page.goto(editor)
})

const goods = async () =>
  objectsOf(await studio.quoin.manage('POST', '/_system/storages/goods/documents/search', {})).map(
    ({ name, price }) => [name, price],
  )

test('signed-in users create, change and remove; everyone sees', async () => {
  const anonymous = openVisitor(studio.address)
  const headers = { authorization: `Bearer ${await studio.quoin.tokenOf('admin')}` }
  const visitor = openVisitor(studio.address)
  expect((await anonymous.get('/goods/new')).status).not.toBe(200)
  const form = await visitor.get('/goods/new', headers)
  expect(form.text).toContain('Price in euros')
  expect(form.text).not.toMatch(/name="number"|Number of the good/)
  const empty = await visitor.submit(form, 'new', { name: '', price: '1' }, { headers })
  expect([empty.status, await goods()]).toEqual([422, []])
  // Who made it is chosen by name.
  expect(form.text).toContain('Acme & Sons')
  const bolt = { name: 'Bolt', price: '2.5', maker }
  expect((await visitor.submit(form, 'new', bolt, { headers })).status).toBe(303)
  const again = await visitor.get('/goods/new', headers)
  const taken = await visitor.submit(again, 'new', { name: 'Bolt', price: '3' }, { headers })
  expect([taken.status, taken.text]).toEqual([422, expect.stringContaining('has this value already')])
  expect(await goods()).toEqual([['Bolt', 2.5]])

  const list = await anonymous.get('/goods')
  expect([list.status, list.text]).toEqual([200, expect.stringContaining('Bolt')])
  const one = await anonymous.get(list.link('Bolt'))
  expect([one.status, one.text]).toEqual([200, expect.stringContaining('Price in euros')])
  for (const shown of [list, one]) expect(shown.text).toContain('Acme & Sons')
  // Quoin numbers them: the list and the page of a document show it, and no form asks for it.
  for (const shown of [list, one]) expect(shown.text).toMatch(/Number of the good[\s\S]*70,?001/)
  const edit = await visitor.get(one.url.replace(/view$/, 'edit'), headers)
  expect(edit.text).not.toMatch(/name="number"|Number of the good/)
  const changed = await visitor.submit(edit, 'edit', { price: '4' }, { headers })
  expect([changed.status, await goods()]).toEqual([303, [['Bolt', 4]]])
  const stale = await visitor.submit(edit, 'edit', { price: '5' }, { headers })
  expect([stale.status, await goods()]).toEqual([422, [['Bolt', 4]]])
  await studio.quoin.manage('PUT', `/_system/storages/${storage}`, {
    rules: { see: 'user.username == "admin"' },
  })
  for (const page of [one.url, edit.url]) expect((await anonymous.get(page)).text).not.toContain('Bolt')
  expect((await visitor.get(one.url, headers)).text).toContain('Bolt')
  const last = await visitor.get(edit.url, headers)
  const removed = await visitor.submit(last, undefined, {}, { button: 'Remove', headers })
  expect([removed.status, await goods()]).toEqual([303, []])
  expect((await anonymous.get(one.url)).status).toBe(404)
  expect(studio.complaints()).toEqual([])
})
