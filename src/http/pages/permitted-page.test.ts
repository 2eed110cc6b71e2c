// biome-ignore-all lint/suspicious/noTemplateCurlyInString: expressions have template literals of their own.
/** Rules of storages on pages: tables, their filters, exports and actions, forms, and live updates. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { guidOf, openTestQuoin, type TestQuoin } from '../../../test/end-to-end/harness.ts'
import { openVisitor, type SeenPage, type Visitor } from '../../../test/page-visitor.ts'
import { setFields } from '../../shared/mutation.ts'

let fixture: TestQuoin
let origin: string
let storage: string
const deals = new Map<string, string>()
const lead = 'contains(user.scopes, "deals_all")'
const see = `doc.owner == user.username || ${lead}`

beforeAll(async () => {
  fixture = await openTestQuoin({ QUOIN_RATE_LIMIT: '0' })
  origin = await fixture.quoin.server.listen()
  await fixture.addUser('ann', [])
  await fixture.addUser('bob', [])
  await fixture.addUser('lead', ['deals_all'])
  storage = guidOf(await fixture.manage('POST', '/_system/storages', { name: 'deals', rules: { see } }))
  for (const field of [
    { name: 'margin', type: 'number', visible_to: lead },
    { name: 'approved', type: 'string', settable_by: lead },
    { name: 'title', type: 'string' },
  ])
    await fixture.manage('POST', '/blueprintfields', { storage: 'deals', ...field })
  await fixture.install('Deals', {
    page: { type: 'state_page', in: { url: 'deals' }, scopes: ['*public'] },
    table: {
      type: 'state_advanced_datatable',
      in: {
        storage: 'deals',
        table_id: 't',
        exportable: true,
        columns: [
          { field: 'title', filter: 'text', sortable: true },
          { field: 'margin', filter: 'number', sortable: true },
          { field: 'note', format: '=`noted ${doc.margin} of ${contains(keys(doc), "margin")}`' },
        ],
        actions: [{ name: 'take', label: 'Take', for: 'both' }],
      },
    },
    form: {
      type: 'state_form',
      in: { form_id: 'f', state: '@table.state', storage: 'deals', inputs: ['title', 'approved', 'margin'] },
    },
    show: { type: 'state_render_page', in: { flow: '@page.flow', state: '@form.state' } },
    taken: {
      type: 'function_create_document_from_mutations',
      in: { flow: '@table.row_action', storage: 'taken', set: '={ guids: table.guids }' },
    },
    sent: {
      type: 'function_create_document_from_mutations',
      in: { flow: '@form.submit', storage: 'sent', set: '={ values: form.values }' },
    },
  })
  const session = fixture.quoin.database.session()
  for (const owner of ['ann', 'bob', '']) {
    const fields = { title: `deal of ${owner || 'none'}`, margin: 77, ...(owner && { owner }) }
    deals.set(owner, guidOf((await session.create('deals', setFields(fields))).value))
  }
  await session.transaction.commit()
})
afterAll(() => fixture?.close())

async function visitor(username: string): Promise<Visitor> {
  const one = openVisitor(origin)
  if (username) one.setCookie('access_token', await fixture.tokenOf(username))
  return one
}

const get = async (username: string, query = '') => (await visitor(username)).get(`/deals${query}`)
const shown = ({ html }: SeenPage) =>
  [...new Set([...html.matchAll(/deal of (\w+)/g)].map(([, owner]) => owner))].sort()

describe('a table', () => {
  test('shows to visitors in turn what each may see, with its total', async () => {
    for (const _ of [1, 2, 3]) {
      expect(shown(await get('ann'))).toEqual(['ann'])
      expect(shown(await get('bob'))).toEqual(['bob'])
      expect(shown(await get('lead'))).toEqual(['ann', 'bob', 'none'])
      expect(shown(await get('admin'))).toEqual(['ann', 'bob', 'none'])
      expect(shown(await get(''))).toEqual([])
    }
    expect((await get('ann')).text).toMatch(/\b1 row\b/)
  })

  test('has no column of a hidden field, in rows, filters, orders and exports', async () => {
    // Tokens and guids in the HTML may hold any digits.
    expect((await get('lead')).text).toContain('77')
    const own = await get('ann')
    expect([/77/.test(own.text), /margin/i.test(own.html)]).toEqual([false, false])
    expect((await get('lead')).text).toContain('noted 77 of true')
    expect(own.text).toContain('noted of false')
    // What the address says of a column that is not there is not heard.
    for (const query of ['?t.sort=margin', '?t.from.margin=99', '?t.cols=margin'])
      expect([query, shown(await get('ann', query))]).toEqual([query, ['ann']])
    expect(shown(await get('lead', '?t.from.margin=99'))).toEqual([])
    expect(shown(await get('ann', '?t.q=77'))).toEqual([])
    const csv = await get('ann', '?_export=t')
    expect([csv.status, shown(csv), /margin|77/i.test(csv.html)]).toEqual([200, ['ann'], false])
    expect(csv.html).toContain('noted  of false')
    expect(shown(await get('lead', '?_export=t'))).toEqual(['ann', 'bob', 'none'])
  })

  test('acts on what it shows', async () => {
    const ann = await visitor('ann')
    for (const [owner, status] of [
      ['bob', 409],
      ['ann', 303],
    ] as const) {
      const page = await ann.get('/deals')
      const before = (await fixture.documents('taken')).length
      const reply = await ann.submit(page, 't', { _row: `take ${deals.get(owner)}` })
      expect([owner, reply.status]).toEqual([owner, status])
      expect((await fixture.documents('taken')).length - before).toBe(status === 303 ? 1 : 0)
    }
  })
})

describe('a form', () => {
  test('has no input of a hidden field, and takes nothing for a field that may not be set', async () => {
    const ann = await visitor('ann')
    const page = await ann.get('/deals')
    expect(page.html).toMatch(/name="approved"[^>]*disabled|disabled[^>]*name="approved"/)
    expect(page.html).not.toContain('name="margin"')
    await ann.submit(page, 'f', { title: 'new', approved: 'yes', margin: '1' })
    expect((await fixture.documents('sent')).map(({ values }) => values)).toEqual([{ title: 'new' }])
    const boss = await visitor('lead')
    const all = await boss.get('/deals')
    expect(all.html).toContain('name="margin"')
    await boss.submit(all, 'f', { title: 'new', approved: 'yes', margin: '1' })
    expect((await fixture.documents('sent')).at(-1)?.values).toEqual({
      title: 'new',
      approved: 'yes',
      margin: 1,
    })
  })
})

test('a change of a rule is told to open pages, and counts at once', async () => {
  const ann = await get('ann')
  const address = /data-events="([^"]+)"/.exec(ann.html)?.[1]?.replaceAll('&amp;', '&') ?? ''
  const abort = new AbortController()
  const events = await fetch(new URL(address, origin), {
    headers: { cookie: `access_token=${await fixture.tokenOf('ann')}` },
    signal: abort.signal,
  })
  const reader = events.body?.pipeThrough(new TextDecoderStream()).getReader()
  await fixture.manage('PUT', `/_system/storages/${storage}`, { rules: { see: lead } })
  expect(shown(await get('ann'))).toEqual([])
  let reported = ''
  while (!reported.includes('"t"')) reported += (await reader?.read())?.value ?? '"t" (end)'
  expect(reported).not.toContain('(end)')
  abort.abort()
  await fixture.manage('PUT', `/_system/storages/${storage}`, { rules: { see } })
  expect(shown(await get('ann'))).toEqual(['ann'])
})
