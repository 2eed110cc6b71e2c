import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { objectOf, openTestQuoin, type TestQuoin } from '../../../test/end-to-end/harness.ts'
import { openVisitor, type Visitor } from '../../../test/page-visitor.ts'
import type { JsonObject } from '../../shared/json.ts'
import { textIn } from '../../storage/document-fields.ts'
import { systemStorages } from '../../storage/system-storages.ts'

let fixture: TestQuoin
let origin: string

const notes = (flow: string | string[], set: string) => ({
  type: 'function_create_document_from_mutations',
  in: { flow, storage: 'decided', set },
})

beforeAll(async () => {
  fixture = await openTestQuoin({ QUOIN_PUBLIC_URL: 'https://shop.example' })
  origin = await fixture.quoin.server.listen()
  await fixture.addUser('ben', ['orders_approve'])
  await fixture.addUser('eve', ['orders_view'])
  await fixture.install('Orders', {
    get: { type: 'on_startup_register_uri_post', in: { uri: 'orders' }, scopes: ['*public'] },
    approval: {
      type: 'wait_for_approval',
      in: {
        flow: '@get.flow',
        title: '="Order <" + body.id + ">"',
        text: 'First line\nSecond line',
        fields: '={ Price: 5000, Customer: "Ada & Co", To: { street: "<Quay> 12", floors: [1, 2] } }',
        scopes: '=body.scopes',
        for: '=body.for',
      },
    },
    reply: {
      type: 'reply',
      in: {
        flow: '@approval.now',
        value:
          '={ page: approval.page, link: approval.link, wait: approval.wait, urls: [approval.page_url, approval.link_url] }',
      },
    },
    yes: notes(
      '@approval.approved',
      '={ id: body.id, end: "approved", by: approval.by, at: approval.at, comment: approval.comment }',
    ),
    no: notes(
      '@approval.rejected',
      '={ id: body.id, end: "rejected", by: approval.by, comment: approval.comment }',
    ),
    late: notes('@approval.timeout', '={ id: body.id, end: "timeout", by: approval.by }'),
  })
})
afterAll(() => fixture?.close())

let count = 0
let id: string
beforeEach(() => {
  count += 1
  id = `order ${count}`
})

interface Order {
  readonly page: string
  readonly link: string
  readonly wait: string
}

async function order(scopes: readonly string[] = ['orders_approve'], more: JsonObject = {}): Promise<Order> {
  const answer = await fixture.send('POST', '/orders', { body: { id, scopes, ...more } })
  expect(answer.status).toBe(200)
  const { page, link, wait } = objectOf(answer.body)
  return { page: textIn(page), link: textIn(link), wait: textIn(wait) }
}

async function visitor(username?: string): Promise<Visitor> {
  const one = openVisitor(origin)
  if (username) one.setCookie('access_token', await fixture.tokenOf(username))
  return one
}

const decided = async () => (await fixture.documents('decided')).filter((one) => one.id === id)
const settled = (end: string) => expect.poll(decided, { timeout: 10_000 }).toMatchObject([{ end }])
const waiting = async ({ wait }: Order) =>
  (await fixture.documents(systemStorages.waits)).filter((one) => objectOf(one._meta).guid === wait)
const approve = { button: 'Approve' }

test('page and link are also given with the address of the site', async () => {
  const { body } = await fixture.send('POST', '/orders', { body: { id, scopes: ['orders_approve'] } })
  const { page, link, urls } = objectOf(body)
  expect(urls).toEqual([`https://shop.example${page}`, `https://shop.example${link}`])
})

describe('is not shown', () => {
  const gone = 'Nothing to decide'
  test.each<[string, string | undefined, (order: Order, other: Order) => string, readonly string[]]>([
    ['with another token', undefined, ({ page }) => `${page}?token=${'A'.repeat(43)}`, ['orders_approve']],
    ['with a token that is no token', undefined, ({ page }) => `${page}?token=x`, ['orders_approve']],
    ['with an empty token', undefined, ({ page }) => `${page}?token=`, ['orders_approve']],
    ['with the token of another wait', 'eve', ({ page }, { link }) => link.replace(/.*(?=\?)/, page), []],
    ['to a user without the scope', 'eve', ({ page }) => page, ['orders_approve']],
    ['to a user, where only the link admits', 'ben', ({ page }) => page, []],
    ['to the administrator, where only the link admits', 'admin', ({ page }) => page, []],
    ['where there is no such wait', 'ben', () => '/_approvals/01a2b3c4-0000-7000-8000-000000000000', []],
    ['where the address is no guid', 'ben', () => '/_approvals/x', []],
  ])('%s', async (_what, username, address, scopes) => {
    const [made, other] = [await order(scopes), await order()]
    const one = await visitor(username)
    const page = await one.get(address(made, other))
    expect([page.status, page.text]).toEqual([404, expect.stringContaining(gone)])
    expect(page.text).not.toContain('Order <')
    expect(await waiting(made)).toMatchObject([{ state: 'waiting' }])
  })

  test('to an anonymous visitor, who is asked to sign in, whether it is there or not', async () => {
    const { page } = await order()
    for (const path of [page, '/_approvals/01a2b3c4-0000-7000-8000-000000000000']) {
      const seen = await (await visitor()).get(path)
      expect([seen.status, seen.headers.get('location')]).toEqual([
        303,
        `/login?next=${encodeURIComponent(path)}`,
      ])
    }
  })
})

describe('decides nothing', () => {
  test('when the link is only opened, as mail scanners do', async () => {
    const made = await order()
    for (let times = 0; times < 3; times += 1) {
      expect((await (await visitor()).get(made.link)).status).toBe(200)
      expect((await fetch(new URL(made.link, origin), { method: 'HEAD' })).status).toBe(200)
    }
    expect([await waiting(made), await decided()]).toMatchObject([[{ state: 'waiting' }], []])
  })

  test.each<[string, Record<string, string>, Record<string, string | undefined>, number]>([
    ['a form of another site', { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }, {}, 403],
    ['a form without its token, of an unknown place', { origin: '' }, { _csrf: undefined }, 403],
    ['a form with a token of another visitor', { 'sec-fetch-site': 'same-origin' }, { _csrf: 'x' }, 422],
    ['a comment that is too long', {}, { comment: 'x'.repeat(2_001) }, 422],
  ])('%s', async (_what, headers, values, status) => {
    const made = await order()
    const one = await visitor('ben')
    const page = await one.get(made.page)
    const sent = await one.submit(page, 'decision', values, { ...approve, headers })
    expect(sent.status).toBe(status)
    expect([await waiting(made), await decided()]).toMatchObject([[{ state: 'waiting' }], []])
  })

  test('a form that neither approves nor rejects', async () => {
    const made = await order()
    const one = await visitor('ben')
    const sent = await one.submit(await one.get(made.page), 'decision', { _button: 'both' })
    expect([sent.status, sent.text]).toEqual([422, expect.stringContaining('Choose "Approve" or "Reject"')])
    expect([await waiting(made), await decided()]).toMatchObject([[{ state: 'waiting' }], []])
  })
})

describe('is decided', () => {
  test('by a user with the scope, who sees what it is about', async () => {
    const made = await order()
    const one = await visitor('ben')
    const page = await one.get(made.page)
    expect(page.status).toBe(200)
    for (const text of [`Order <${id}>`, 'First line', 'Price', '5000', 'Ada & Co'])
      expect(page.text).toContain(text)
    expect(page.text).toContain('street: <Quay> 12 floors: [1,2]')
    expect(page.headers.get('cache-control')).toBe('no-store')
    const done = await one.submit(page, 'decision', { comment: ' Fine. ' }, approve)
    expect([done.status, done.text]).toEqual([200, expect.stringContaining('Your decision is stored')])
    await settled('approved')
    const at = expect.stringMatching(/^20\d\d-/)
    expect(await decided()).toMatchObject([{ by: { username: 'ben' }, comment: 'Fine.', at }])
    await expect.poll(() => waiting(made)).toEqual([])
    const [audited] = (await fixture.documents(systemStorages.auditLogs)).filter(
      (one) => one.guid === made.wait,
    )
    expect(audited).toMatchObject({
      category: 'waits',
      user: { username: 'ben' },
      states: [{ state: 'waiting' }, { state: 'resumed', decision: 'approved', comment: 'Fine.' }],
    })
  })

  test('by the link, without signing in and only once', async () => {
    const made = await order([])
    const one = await visitor()
    const page = await one.get(made.link)
    const done = await one.submit(page, 'decision', {}, { button: 'Reject' })
    expect([done.status, done.text]).toEqual([200, expect.stringContaining('Rejected')])
    await settled('rejected')
    expect(objectOf((await decided())[0]).by ?? null).toBeNull()
    const again = await one.submit(page, 'decision', {}, approve)
    expect([again.status, again.text]).toEqual([404, expect.stringContaining('was decided')])
    expect(await decided()).toHaveLength(1)
  })

  test('by the first of two: the other one is told', async () => {
    const made = await order(['orders_approve', 'orders_view'])
    const [ben, eve] = [await visitor('ben'), await visitor('eve')]
    const [one, other] = [await ben.get(made.page), await eve.get(made.page)]
    const ends = await Promise.all([
      ben.submit(one, 'decision', {}, approve),
      eve.submit(other, 'decision', {}, { button: 'Reject' }),
    ])
    const statuses = ends.map(({ status }) => status).sort()
    expect([
      [200, 404],
      [200, 409],
    ]).toContainEqual(statuses)
    await settled(ends[0].status === 200 ? 'approved' : 'rejected')
    expect(await decided()).toHaveLength(1)
  })

  test('by no one until its time is over', async () => {
    const made = await order(['orders_approve'], { for: '1h' })
    const ben = await visitor('ben')
    const page = await ben.get(made.page)
    expect(page.text).toContain('Open until')
    fixture.advance(3_600_000)
    await settled('timeout')
    const late = await (await visitor('ben')).get(made.page)
    expect([late.status, late.text]).toEqual([404, expect.stringContaining('its time is over')])
    expect(await decided()).toHaveLength(1)
  })
})

test('its token is stored as a hash only, and its timer goes with the decision', async () => {
  const made = await order([], { for: '1d' })
  const token = made.link.split('token=')[1] ?? ''
  expect(token).toHaveLength(43)
  expect(JSON.stringify(await waiting(made))).not.toContain(token)
  const timers = () =>
    fixture.manage('POST', '/queue/search', { filters: { queue: '_waits', status: 'waiting' } })
  const before = JSON.stringify(await timers())
  const one = await visitor()
  await one.submit(await one.get(made.link), 'decision', {}, approve)
  await settled('approved')
  expect(before).toContain(`Order <${id}>`)
  expect(JSON.stringify(await timers())).not.toContain(`Order <${id}>`)
})

test('it speaks German to those who ask for it', async () => {
  const made = await order()
  const page = await (await visitor()).get(made.link, { 'accept-language': 'de' })
  expect(page.text).toContain('Genehmigen')
})
