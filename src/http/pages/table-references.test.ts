import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestQuoin, type TestQuoin } from '../../../test/end-to-end/harness.ts'
import { openVisitor } from '../../../test/page-visitor.ts'
import { createField } from '../../records/fields/field-records.ts'
import { setFields } from '../../shared/mutation.ts'
import { documentOf } from '../../storage/database.ts'
import { guidOf } from '../../storage/document-fields.ts'

const by = { guid: 'u', username: 'ann' }
let fixture: TestQuoin
let origin: string

beforeAll(async () => {
  fixture = await openTestQuoin()
  origin = await fixture.quoin.server.listen()
  const { database } = fixture.quoin
  for (const name of ['customers', 'orders']) await database.ensure(name)
  const reference = { storage: 'customers', on_delete: 'refuse' }
  await createField(database, { name: 'name', type: 'string', storage: 'customers' }, by)
  await createField(database, { name: 'customer', type: 'reference', storage: 'orders', reference }, by)
  await fixture.install('Orders', {
    page: { type: 'state_page', in: { url: 'orders', title: 'Orders' } },
    table: {
      type: 'state_advanced_datatable',
      in: {
        storage: 'orders',
        table_id: 't',
        where: '=doc.customer.city != "Bonn"',
        sort: 'n',
        columns: [
          { field: 'n', kind: 'number', sortable: true },
          { field: 'customer' },
          { field: 'customer.city', sortable: true, filter: 'choice', options: ['Rome', 'Oslo'] },
        ],
      },
    },
    show: { type: 'state_render_page', in: { flow: '@page.flow', state: '@table.state' } },
  })
  const session = database.session()
  const create = async (name: string, city: string) =>
    guidOf(documentOf(await session.create('customers', setFields({ name, city }))))
  const customers = [
    await create('Ann', 'Rome'),
    await create('Bob', 'Oslo'),
    await create('Cleo', 'Bonn'),
    null,
  ]
  for (const [n, customer] of customers.entries()) await session.create('orders', setFields({ n, customer }))
  await session.transaction.commit()
})
afterAll(() => fixture?.close())

async function rowsOf(query: string): Promise<readonly string[]> {
  const { html } = await openVisitor(origin).get(`/orders${query}`)
  const rows = [...html.matchAll(/<tr\b[^>]*>(.*?)<\/tr>/gs)].map(([, row = '']) =>
    [...row.matchAll(/<t[dh]\b[^>]*>(.*?)<\/t[dh]>/gs)].map(([, cell = '']) =>
      cell
        .replace(/<[^>]*>/g, '')
        .replace('empty', '')
        .trim(),
    ),
  )
  return rows.slice(1).map((cells) => cells.join(' | '))
}

test.each<[string, readonly string[]]>([
  ['', ['0 | Ann | Rome', '1 | Bob | Oslo', '3 | – | –']],
  ['?t.is.customer.city=Oslo', ['1 | Bob | Oslo']],
  ['?t.is.customer.city=Bonn', []],
  ['?t.sort=-n', ['3 | – | –', '1 | Bob | Oslo', '0 | Ann | Rome']],
  ['?t.sort=customer.city', ['0 | Ann | Rome', '1 | Bob | Oslo', '3 | – | –']],
  ['?t.q=Ann', []],
])('the table of orders at %j shows %j', async (query, rows) => {
  expect(await rowsOf(query)).toEqual(rows)
})

test('its CSV has the names too', async () => {
  const response = await fetch(`${origin}/orders?_export=t`)
  const lines = (await response.text()).trim().split('\r\n')
  expect(lines.slice(1)).toEqual(['0,Ann,Rome', '1,Bob,Oslo', '3,,'])
})
