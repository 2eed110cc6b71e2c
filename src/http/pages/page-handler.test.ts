import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestQuoin, type TestQuoin } from '../../../test/end-to-end/harness.ts'
import { openVisitor } from '../../../test/page-visitor.ts'

let fixture: TestQuoin
let origin: string

beforeAll(async () => {
  fixture = await openTestQuoin()
  origin = await fixture.quoin.server.listen()
  await fixture.install('Guest book', {
    book: { type: 'storage', fields: { storage: 'book' } },
    page: { type: 'state_page', in: { url: 'book', title: 'Guest book' } },
    h1: { type: 'state_h1', in: { text: 'Guest book <1>' } },
    name: { type: 'state_input_dynamic', in: { field: 'name', required: true } },
    age: { type: 'state_input_dynamic', in: { state: '@name.state', field: 'age', type: 'number', min: 1 } },
    form: {
      type: 'state_form',
      in: { state: '@h1.state', form_id: 'sign', content: '@age.state', submit_label: 'Sign' },
    },
    render: { type: 'state_render_page', in: { flow: '@page.flow', state: '@form.state' } },
    set: { type: 'mutations_set_bp_field_multiple', in: { object: '@form.values' } },
    create: {
      type: 'function_create_document_from_mutations',
      in: { flow: '@form.submit', storage: '@book.storage', mutations: '@set.mutations' },
    },
    done: { type: 'state_redirect', in: { flow: '@create.flow', url: '/book', message: 'Thank you.' } },
  })
})
afterAll(() => fixture?.close())

test('a page is shown, and a form of it goes round', async () => {
  const visitor = openVisitor(origin)
  const page = await visitor.get('/book')
  expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
  expect(page.html).toContain('<h1>Guest book &lt;1')
  const refused = await visitor.submit(page, 'sign', { name: '', age: '0' })
  expect(refused.status).toBe(422)
  expect(refused.text).toContain('This is required.')
  expect(refused.form('sign').input('age')).toContain('value="0"')
  expect(await fixture.documents('book')).toEqual([])
  const sent = await visitor.submit(refused, 'sign', { name: 'Ada', age: '36' })
  expect([sent.status, sent.headers.get('location')]).toEqual([303, '/book'])
  const after = await visitor.follow(sent)
  expect(after.text).toContain('Thank you.')
  expect(await fixture.documents('book')).toMatchObject([{ name: 'Ada', age: 36 }])
})

test('an address in any script arrives as a header can carry it', async () => {
  await fixture.install('Far away', {
    page: { type: 'state_page', in: { url: 'far' } },
    to: { type: 'httpconnection_get_params', in: { field: 'to' } },
    go: { type: 'state_redirect', in: { flow: '@page.flow', url: '@to.value' } },
  })
  const visitor = openVisitor(origin)
  for (const [to, location] of [
    ['/日本', '/%E6%97%A5%E6%9C%AC'],
    ['/é?q=ü&a=%20b#ß', '/%C3%A9?q=%C3%BC&a=%20b#%C3%9F'],
    ['https://example.org/\u{1f600}', 'https://example.org/%F0%9F%98%80'],
    ['/a%2Fb', '/a%2Fb'],
  ] as const) {
    const page = await visitor.get(`/far?to=${encodeURIComponent(to)}`)
    expect([page.status, page.headers.get('location')]).toEqual([303, location])
  }
})

test('a page whose flow replies with JSON is data, and no page', async () => {
  await fixture.install('Data', {
    page: { type: 'state_page', in: { url: 'data' } },
    reply: {
      type: 'httpconnection_set_json',
      in: { flow: '@page.flow', value: '<svg onload=alert(1)>' },
    },
  })
  const { headers } = await openVisitor(origin).get('/data')
  expect([headers.get('content-type'), headers.get('content-security-policy')]).toEqual([
    'application/json; charset=utf-8',
    'sandbox',
  ])
  expect(headers.get('x-content-type-options')).toBe('nosniff')
})
