/** A storage becomes pages by "Make pages": a list, one document, and forms that create, change and remove. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { guidOf, objectsOf } from '../end-to-end/harness.ts'
import { openVisitor } from '../page-visitor.ts'
import { expectNoProblem, settled } from './studio-looks.ts'
import { openStudio, type StudioRoom } from './studio-room.ts'

let studio: StudioRoom
let page: Page
beforeAll(async () => {
  studio = await openStudio()
  const storage = guidOf(await studio.quoin.manage('POST', '/_system/storages', { name: 'goods' }))
  for (const [order, field] of [
    { name: 'name', type: 'string', required: true, unique: true },
    { name: 'price', type: 'decimal', label: 'Price in euros' },
    { name: 'double', type: 'number', computed: '(doc.price ?? 0) * 2' },
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
  const empty = await visitor.submit(form, 'new', { name: '', price: '1' }, { headers })
  expect([empty.status, await goods()]).toEqual([422, []])
  expect((await visitor.submit(form, 'new', { name: 'Bolt', price: '2.5' }, { headers })).status).toBe(303)
  const again = await visitor.get('/goods/new', headers)
  const taken = await visitor.submit(again, 'new', { name: 'Bolt', price: '3' }, { headers })
  expect([taken.status, taken.text]).toEqual([422, expect.stringContaining('has this value already')])
  expect(await goods()).toEqual([['Bolt', 2.5]])

  const list = await anonymous.get('/goods')
  expect([list.status, list.text]).toEqual([200, expect.stringContaining('Bolt')])
  const one = await anonymous.get(list.link('Bolt'))
  expect([one.status, one.text]).toEqual([200, expect.stringContaining('Price in euros')])
  const edit = await visitor.get(one.url.replace(/view$/, 'edit'), headers)
  const changed = await visitor.submit(edit, 'edit', { price: '4' }, { headers })
  expect([changed.status, await goods()]).toEqual([303, [['Bolt', 4]]])
  const stale = await visitor.submit(edit, 'edit', { price: '5' }, { headers })
  expect([stale.status, await goods()]).toEqual([422, [['Bolt', 4]]])
  const last = await visitor.get(edit.url, headers)
  const removed = await visitor.submit(last, undefined, {}, { button: 'Remove', headers })
  expect([removed.status, await goods()]).toEqual([303, []])
  expect((await anonymous.get(one.url)).status).toBe(404)
  expect(studio.complaints()).toEqual([])
})
