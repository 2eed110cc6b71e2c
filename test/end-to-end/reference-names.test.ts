/** Charts and cards of rows that are grouped by a reference: they show names of documents, on the page, in its preview and in mails. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { withRows } from '../../src/blocks/mail/mail-content.ts'
import { rulesIn } from '../../src/records/fields/field-rules.ts'
import { openVisitor } from '../page-visitor.ts'
import { guidOf, objectsOf, openTestQuoin, type TestQuoin } from './harness.ts'

let fixture: TestQuoin
let origin: string
let blueprint: string
let acme: string
let secret: string

beforeAll(async () => {
  fixture = await openTestQuoin({ QUOIN_RATE_LIMIT: '0' })
  origin = await fixture.quoin.server.listen()
  await fixture.addUser('reader', [])
  const see = 'doc.name == "Acme" || contains(user.scopes, "all")'
  await fixture.manage('POST', '/_system/storages', { name: 'customers', rules: { see } })
  await fixture.manage('POST', '/_system/storages', { name: 'orders' })
  const field = (storage: string, more: { readonly name: string; readonly type: string }) =>
    fixture.manage('POST', '/blueprintfields', {
      storage,
      ...more,
      ...(more.type === 'reference' && { reference: { storage: 'customers', on_delete: 'refuse' } }),
    })
  await field('customers', { name: 'name', type: 'string' })
  await field('orders', { name: 'customer', type: 'reference' })
  const create = async (storage: string, values: Readonly<Record<string, string>>) =>
    guidOf(await fixture.manage('POST', `/_system/storages/${storage}/documents`, values))
  acme = await create('customers', { name: 'Acme' })
  secret = await create('customers', { name: 'Hidden Ltd' })
  for (const customer of [acme, acme, secret]) await create('orders', { customer })
  await fixture.manage('POST', '/_system/storages/orders/documents', {})
  blueprint = await fixture.install('Sales', {
    page: { type: 'state_page', in: { url: 'sales', title: 'Sales' }, scopes: ['*public'] },
    sales: {
      type: 'function_aggregate',
      in: { flow: '@page.flow', storage: 'orders', group: ['customer'], order: ['count desc'] },
    },
    chart: {
      type: 'state_chart',
      in: { title: 'Orders', items: '=sales.rows', label: 'customer', values: ['count'] },
    },
    part: {
      type: 'state_chart',
      in: {
        ...{ state: '@chart.state', title: 'Most', items: '=slice(sales.rows, 0, 1)', chart_id: 'most' },
        ...{ label: 'customer', values: ['count'] },
      },
    },
    card: {
      type: 'state_card',
      in: { state: '@part.state', title: 'Best', figure: '=sales.rows[0].customer' },
    },
    show: { type: 'state_render_page', in: { flow: '@sales.flow', state: '@card.state' } },
  })
})
afterAll(() => fixture?.close())

async function open(username: string): Promise<string> {
  const visitor = openVisitor(origin)
  if (username) visitor.setCookie('access_token', await fixture.tokenOf(username))
  return (await visitor.get('/sales')).html
}

test('charts, also of a part of the rows, and cards show the names of documents', async () => {
  const html = await open('admin')
  expect(html).not.toContain(acme)
  expect(html).not.toContain(secret)
  expect(html.match(/<th[^>]*>Acme</g)?.length).toBe(2)
  expect(html).toContain('Hidden Ltd')
  expect(html).toContain('<p class="figure">Acme</p>')
})

test('a document that its visitor does not see has no name', async () => {
  const html = await open('reader')
  expect(html).toContain('Acme')
  expect(html).not.toContain('Hidden Ltd')
  expect(html).toContain(secret)
})

test('the preview of the studio has them too', async () => {
  const filters = { blueprint_guid: blueprint, type: 'state_page' }
  const [page] = objectsOf(await fixture.manage('POST', '/blueprintactions/search', { filters }))
  const preview = await fixture.manage('POST', `/blueprints/${blueprint}/preview`, {
    page: guidOf(page ?? null),
  })
  expect(JSON.stringify(preview)).toContain('Acme')
  expect(JSON.stringify(preview)).not.toContain(acme)
})

test('a mail with the same chart', async () => {
  const session = fixture.quoin.database.session()
  const chart = { kind: 'chart', id: 'c', type: 'bar', title: 'Orders', labels: [acme], series: [] } as const
  const context = {
    session,
    rules: (storage: string) => rulesIn(session, storage),
    ...{ timeZone: 'UTC', locale: 'en', now: () => 0, log: () => undefined },
  }
  expect(await withRows([{ ...chart, labelsOf: 'orders.customer' }], context)).toMatchObject([
    { labels: ['Acme'] },
  ])
  // Of a field that refers to nothing the labels stay.
  expect(await withRows([{ ...chart, labelsOf: 'orders.other' }], context)).toMatchObject([
    { labels: [acme] },
  ])
})
