/** The start page, and the tasks that it lists. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { objectOf, objectsOf, openTestQuoin, type TestQuoin } from '../../../test/end-to-end/harness.ts'
import { openVisitor, type Visitor } from '../../../test/page-visitor.ts'
import type { JsonObject } from '../../shared/json.ts'

let fixture: TestQuoin
let origin: string

const page = (name: string, url: string, title: string, scopes: readonly string[]): JsonObject => ({
  [name]: { type: 'state_page', in: { url, title }, scopes: [...scopes] },
  [`show_${name}`]: { type: 'state_render_page', in: { flow: `@${name}.flow`, state: `@h_${name}.state` } },
  [`h_${name}`]: { type: 'state_h1', in: { text: title } },
})

beforeAll(async () => {
  fixture = await openTestQuoin({ QUOIN_SITE_NAME: 'Acme <portal>' })
  origin = await fixture.quoin.server.listen()
  await fixture.addUser('ben', ['orders_approve'])
  await fixture.addUser('eve', ['orders_view'])
})
afterAll(() => fixture?.close())

async function home(username?: string, path = '/') {
  const visitor: Visitor = openVisitor(origin)
  if (username) visitor.setCookie('access_token', await fixture.tokenOf(username))
  return visitor.get(path)
}
const ask = (id: string, scopes: readonly string[]) =>
  fixture.send('POST', '/orders', { body: { id, scopes: [...scopes] } })
const tasksOf = (username: string, query = '') =>
  fixture.send('GET', `/users/me/tasks${query}`, { as: username })

test('while there is no page, the bare address leads builders to the studio, and others to an empty start page', async () => {
  for (const username of [undefined, 'admin']) {
    const { status, headers } = await home(username)
    expect([status, headers.get('location')]).toEqual([303, '/studio'])
  }
  const empty = await home('ben')
  expect([empty.status, empty.text.includes('There is nothing for you here yet.')]).toEqual([200, true])
  expect(empty.text).not.toContain('/studio')
})

test('an anonymous visitor is asked to sign in where no page is open to everyone, and sees those that are', async () => {
  await fixture.install('Orders', {
    ...page('list', 'orders', 'Orders', ['orders_view']),
    ...page('mine', 'mine', 'My <orders>', ['*loggedin']),
    ...page('one', 'order/{guid}', 'One order', ['*loggedin']),
    ask: { type: 'on_startup_register_uri_post', in: { uri: 'orders' }, scopes: ['*public'] },
    approval: {
      type: 'wait_for_approval',
      in: { flow: '@ask.flow', title: '="Order " + body.id', text: 'Please look', scopes: '=body.scopes' },
    },
    reply: {
      type: 'reply',
      in: { flow: '@approval.now', value: '={ wait: approval.wait, link: approval.link }' },
    },
    yes: { type: 'function_return', in: { flow: '@approval.approved', value: 1 } },
  })
  const signIn = await home()
  expect([signIn.status, signIn.headers.get('location')]).toEqual([
    303,
    `/login?next=${encodeURIComponent('/')}`,
  ])
  await fixture.install('Shop', page('shop', 'shop', 'Our shop', ['*public']))
  const open = await home()
  expect(open.status).toBe(200)
  expect(open.html).toContain('<h1>Acme &lt;portal')
  expect(open.html).toContain('href="/shop"')
  for (const hidden of ['My &lt;orders', '"/orders"', '/studio', 'Waiting for you'])
    expect(open.html).not.toContain(hidden)
})

test('a user sees the pages that the user may open and the approvals of a scope that the user holds', async () => {
  for (const [id, scopes] of [
    ['a', ['orders_approve']],
    ['b', ['orders_view', 'orders_approve']],
    ['c', ['orders_view']],
    ['d', []],
  ] as const)
    expect((await ask(id, scopes)).status).toBe(200)
  const seen = async (username: string) => {
    const { html } = await home(username)
    const titles = [...html.matchAll(/Order ([a-z])</g)].map(([, id]) => id)
    const pages = ['/orders', '/mine', '/shop', '/studio'].filter((one) => html.includes(`href="${one}"`))
    expect(html, 'tasks of one title differ by their time').toMatch(/Orders · \w+ \d+, \d{4}, \d+:\d\d/)
    return [titles.join(''), pages]
  }
  expect(await seen('ben')).toEqual(['ba', ['/mine', '/shop']])
  expect(await seen('eve')).toEqual(['cb', ['/orders', '/mine', '/shop']])
  expect(await seen('admin')).toEqual(['cba', ['/orders', '/mine', '/shop', '/studio']])

  expect((await fixture.send('GET', '/users/me/tasks')).status).toBe(401)
  const listed = await tasksOf('ben')
  expect(objectsOf(listed.body)).toMatchObject(
    ['b', 'a'].map((id) => ({
      title: `Order ${id}`,
      text: 'Please look',
      blueprint: 'Orders',
      until: null,
    })),
  )
  expect((await fixture.send('POST', '/_system/waits/search', { as: 'ben', body: {} })).status).toBe(403)
  const [first] = objectsOf(listed.body)
  expect((await home('ben', String(first?.page))).text).toContain('Order b')
})

test('tasks come in pages, one after the other, and decided ones are gone', async () => {
  const waits: string[] = []
  for (let at = 0; at < 21; at += 1)
    waits.push(String(objectOf((await ask('x', ['orders_approve'])).body).wait))
  const first = await tasksOf('ben', '?limit=20')
  expect([objectsOf(first.body).length, first.headers['x-total-count']]).toEqual([20, '23'])
  const rest = await tasksOf(
    'ben',
    `?limit=20&after=${encodeURIComponent(String(first.headers['x-next-cursor']))}`,
  )
  expect(objectsOf(rest.body)).toHaveLength(3)
  const { html } = await home('ben')
  const more = /href="(\/\?tasks=[^"]+)"/.exec(html)?.[1]?.replaceAll('&amp;', '&') ?? ''
  const older = await home('ben', more)
  expect([...older.html.matchAll(/Order ([a-z])</g)].map(([, id]) => id).join('')).toBe('xba')
  expect((await home('ben', '/?tasks=no-cursor')).status).toBe(400)
  await fixture.manage('POST', `/_system/waits/${waits[0]}/continue`, { way: 'approved' })
  expect((await tasksOf('ben', '?limit=200')).headers['x-total-count']).toBe('22')
})

test('a blueprint may have the start page', async () => {
  await fixture.install('Own start', page('start', '/', 'Our own start', ['*public']))
  expect((await home('ben')).text).toContain('Our own start')
})
