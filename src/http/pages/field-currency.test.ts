/** The currency of an amount is set on its field, and used wherever the amount is shown. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  objectsOf,
  openTestQuoin,
  guidOf as storageGuid,
  type TestQuoin,
} from '../../../test/end-to-end/harness.ts'
import { openVisitor } from '../../../test/page-visitor.ts'
import { withRows } from '../../blocks/mail/mail-content.ts'
import { tableColumns } from '../../blocks/pages/table-columns.ts'
import { renderMail } from '../../pages/mail/render-mail.ts'
import { createField } from '../../records/fields/field-records.ts'
import { rulesIn } from '../../records/fields/field-rules.ts'
import { setFields } from '../../shared/mutation.ts'
import { everyNode, type PageNode } from '../../shared/pages/page-content.ts'
import { matchAll } from '../../shared/query.ts'
import { documentOf } from '../../storage/database.ts'
import { guidOf } from '../../storage/document-fields.ts'

const by = { guid: 'u', username: 'ann' }
let fixture: TestQuoin
let origin: string
let order: string

beforeAll(async () => {
  fixture = await openTestQuoin()
  origin = await fixture.quoin.server.listen()
  const { database } = fixture.quoin
  for (const name of ['customers', 'orders']) await database.ensure(name)
  const money = (name: string, storage: string, currency: string) =>
    createField(database, { name, type: 'decimal', storage, validation_rules: { currency } }, by)
  await money('credit', 'customers', 'USD')
  await money('total', 'orders', 'EUR')
  await money('rent', 'orders', 'JPY')
  await createField(database, { name: 'weight', type: 'decimal', storage: 'orders' }, by)
  const reference = { storage: 'customers', on_delete: 'refuse' }
  await createField(database, { name: 'customer', type: 'reference', storage: 'orders', reference }, by)
  const session = database.session()
  const customer = guidOf(documentOf(await session.create('customers', setFields({ credit: 7.5 }))))
  const values = { total: 1234.5, rent: 5000, weight: 1234.5, customer }
  order = guidOf(documentOf(await session.create('orders', setFields(values))))
  await session.transaction.commit()
  const columns = ['total', 'rent', 'weight', 'customer.credit']
  await fixture.install('Orders', {
    page: { type: 'state_page', in: { url: 'orders', title: 'Orders' } },
    sums: {
      type: 'function_aggregate',
      in: { flow: '@page.flow', storage: 'orders', values: [{ sum: 'total' }] },
    },
    chart: {
      type: 'state_chart',
      in: {
        ...{ title: 'Totals', items: '@sums.rows', label: 'sum_total', values: ['sum_total'] },
        ...{ kind: 'currency', currency: 'orders.total' },
      },
    },
    card: {
      type: 'state_card',
      in: { state: '@chart.state', figure: '=1644.5', kind: 'currency', currency: 'orders.total' },
    },
    plain: {
      type: 'state_card',
      in: { state: '@card.state', figure: '=2644.5', kind: 'currency', currency: 'orders.weight' },
    },
    table: { type: 'state_advanced_datatable', in: { state: '@plain.state', storage: 'orders', columns } },
    form: {
      type: 'state_form',
      in: { state: '@table.state', form_id: 'new', storage: 'orders', inputs: ['total'] },
    },
    show: { type: 'state_render_page', in: { flow: '@sums.flow', state: '@form.state' } },
    one: { type: 'state_page', in: { url: 'orders/{guid}', title: 'Order' } },
    read: {
      type: 'function_get_document',
      in: { flow: '@one.flow', storage: 'orders', guid: '=params.guid' },
    },
    facts: {
      type: 'state_detail',
      in: { document: '@read.document', storage: 'orders', fields: ['total', 'weight'] },
    },
    show_one: { type: 'state_render_page', in: { flow: '@read.flow', state: '@facts.state' } },
  })
})
afterAll(() => fixture?.close())

const page = async (path: string) => (await openVisitor(origin).get(path)).html

test.each([
  ['a column of a table', 'role="rowheader" class="number">€1,234.50<'],
  ['a column of another currency, without the places that it has not', 'data-label="Rent">¥5,000</td>'],
  ['a column of a document behind a reference', 'class="number" data-label="Credit">$7.50</td>'],
  ['a decimal without a currency stays a number', '>1,234.5</td>'],
  ['a card', '<p class="figure">€1,644.50</p>'],
  ['a card that names a field without one', '<p class="figure">2,644.5</p>'],
  ['the figures of a chart', '€1,234.50'],
  ['the label of an input', 'Total (EUR)'],
])('%s', async (_, html) => {
  expect(await page('/orders')).toContain(html)
})

test('a detail view of the storage', async () => {
  const html = await page(`/orders/${order}`)
  expect(html).toContain('€1,234.50')
  expect(html).toContain('1,234.5<')
})

test('a mail with the same blocks', async () => {
  const session = fixture.quoin.database.session()
  const columns = tableColumns(['total', { field: 'weight', kind: 'number' }])
  const content: readonly PageNode[] = [
    { kind: 'card', figure: '9.5', format: 'currency', currency: 'orders.total', content: [] },
    {
      ...{
        kind: 'datatable',
        id: 't',
        block: 'b',
        caption: 'Orders',
        storage: 'orders',
        query: matchAll,
        sort: [],
      },
      ...{ columns, pageSize: 10, searchable: false, actions: [], exportable: false, live: false },
    },
  ]
  const context = {
    ...{ session, timeZone: 'UTC', locale: 'en', now: () => 0, log: () => undefined },
    rules: (storage: string) => rulesIn(session, storage),
  }
  const nodes = await withRows(content, context)
  expect([...everyNode(nodes)]).toMatchObject([{ currency: 'EUR' }, { kind: 'table' }])
  const mail = renderMail({ content: nodes, title: 'Sums', locale: 'en', timeZone: 'UTC', site: '', now: 0 })
  expect(mail.text).toContain('€9.50')
  expect(mail.text).toContain('€1,234.50')
  expect(mail.text).toContain('1,234.5')
})

/** The part of a workbook. */
async function partOf(bytes: ArrayBuffer, name: string): Promise<string> {
  const { ZipReader, Uint8ArrayReader, TextWriter } = await import('@zip.js/zip.js')
  const entries = await new ZipReader(new Uint8ArrayReader(new Uint8Array(bytes))).getEntries()
  const entry = entries.find((one) => one.filename === name)
  return entry && !entry.directory ? entry.getData(new TextWriter()) : ''
}

test('a sheet that is exported: numbers in cells of their currency', async () => {
  const storages = objectsOf(await fixture.manage('POST', '/_system/storages/search', {}))
  const guid = storageGuid(storages.find(({ name }) => name === 'orders') ?? {})
  const columns = encodeURIComponent(JSON.stringify(['weight', 'total', 'customer.credit']))
  const reply = await fetch(
    `${origin}/api/v1/_system/storages/${guid}/documents/export?format=xlsx&columns=${columns}`,
    { headers: { authorization: `Bearer ${await fixture.tokenOf('admin')}` } },
  )
  expect(reply.status).toBe(200)
  const bytes = await reply.arrayBuffer()
  expect(await partOf(bytes, 'xl/worksheets/sheet1.xml')).toContain(
    '<c><v>1234.5</v></c><c s="1"><v>1234.5</v></c><c s="2"><v>7.5</v></c>',
  )
  expect(await partOf(bytes, 'xl/styles.xml')).toMatch(/\[\$EUR\].*\[\$USD\]/s)
})

/** A test may run a second time. */
let sheets = 0

test.each([
  ['columns', ['weight', 'total'], '<c><v>1234.5</v></c><c s="1"><v>1234.5</v></c>'],
  ['no columns, which are those of the first row', undefined, '<c s="1"><v>1234.5</v></c>'],
])('a sheet that a flow writes, with %s', async (_, columns, cells) => {
  sheets += 1
  const name = `sheet${sheets}`
  await fixture.install(`Sheet of ${name}`, {
    get: { type: 'on_startup_register_uri_get', in: { uri: name }, scopes: ['*public'] },
    write: {
      type: 'write_rows',
      in: { flow: '@get.flow', storage: 'orders', name: `${name}.xlsx`, ...(columns && { columns }) },
    },
    reply: { type: 'httpconnection_set_json', in: { flow: '@write.flow', value: '=write.file.guid' } },
  })
  const guid: unknown = await (await fetch(`${origin}/api/v1/${name}`)).json()
  const headers = { authorization: `Bearer ${await fixture.tokenOf('admin')}` }
  const reply = await fetch(`${origin}/api/v1/_system/assets/${guid}/content`, { headers })
  const bytes = await reply.arrayBuffer()
  expect(await partOf(bytes, 'xl/worksheets/sheet1.xml')).toContain(cells)
  expect(await partOf(bytes, 'xl/styles.xml')).toContain('[$EUR]')
})
