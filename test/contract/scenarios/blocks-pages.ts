/** Pages: what a browser sees of each block, and what it can do there. Without JavaScript, as everything must work. */
import { expect } from 'vitest'
import { openVisitor, type Visitor } from '../../page-visitor.ts'
import type { ContractRoom } from '../contract-room.ts'
import type { Scenario, Scenarios } from '../find-scenarios.ts'
import { setAll, setOne, storage } from '../flow-blocks.ts'

const page = (url: string, scopes: readonly string[] = ['*public']) => ({
  type: 'state_page',
  in: { url, title: `Page ${url}` },
  scopes,
})
const show = (state: string, flow = '@page.flow') => ({ type: 'state_render_page', in: { flow, state } })
const h1 = (text: string) => ({ type: 'state_h1', in: { text } })
const input = (pins: Readonly<Record<string, string | number | boolean>>) => ({
  type: 'state_input_dynamic',
  in: pins,
})
const form = (content: string) => ({ type: 'state_form', in: { form_id: 'form', content } })
const create = (flow: string, mutations: string) => ({
  type: 'function_create_document_from_mutations',
  in: { flow, storage: '@kept.storage', mutations },
})

const stranger = (room: ContractRoom): Visitor => openVisitor(room.address)

async function signedIn(room: ContractRoom, username: string): Promise<Visitor> {
  const visitor = stranger(room)
  visitor.setCookie('access_token', await room.tokenOf(username))
  return visitor
}

const registersPage: Scenario = async (room) => {
  const [open, closed] = [room.name(), room.name()]
  await room.run({ page: page(open), hello: h1('Everybody'), show: show('@hello.state') })
  const guid = await room.run({
    page: page(closed, ['nobody-has-it']),
    hello: h1('Few'),
    show: show('@hello.state'),
  })
  const seen = await stranger(room).get(`/${open}`)
  expect(seen).toMatchObject({ status: 200, text: expect.stringContaining('Everybody') })
  expect(seen.html).toContain(`<title>Page ${open}`)
  const sent = await stranger(room).get(`/${closed}`)
  expect([sent.status, sent.headers.get('location')]).toEqual([
    303,
    `/login?next=${encodeURIComponent(`/${closed}`)}`,
  ])
  expect((await (await signedIn(room, 'stranger')).get(`/${closed}`)).status).toBe(403)
  expect((await (await signedIn(room, 'admin')).get(`/${closed}`)).text).toContain('Few')
  await room.manage('PUT', `/blueprints/update/set/inactive/${guid}`)
  expect((await (await signedIn(room, 'admin')).get(`/${closed}`)).status).toBe(404)
}

const rendersPage: Scenario = async (room) => {
  const url = room.name()
  await room.run({
    page: page(url),
    hello: h1('Below'),
    show: {
      type: 'state_render_page',
      in: { flow: '@page.flow', state: '@hello.state', title: 'Another title' },
    },
  })
  const seen = await stranger(room).get(`/${url}`)
  expect(seen.headers.get('content-type')).toMatch(/^text\/html/)
  expect(seen.headers.get('content-security-policy')).toContain("script-src 'self'")
  expect(seen.html).toContain('<title>Another title')
}

const heading: Scenario = async (room) => {
  const url = room.name()
  await room.run({
    page: page(url),
    first: h1('<b>Bread & rolls'),
    second: { type: 'state_h1', in: { state: '@first.state', text: 'Second' } },
    show: show('@second.state'),
  })
  const { html } = await stranger(room).get(`/${url}`)
  expect(html).toContain('&lt;b>Bread &amp; rolls')
  expect(html.indexOf('Second')).toBeGreaterThan(html.indexOf('rolls'))
}

const sendsForm: Scenario = async (room) => {
  const [url, kept] = [room.name(), room.name()]
  await room.run({
    kept: storage(kept),
    page: page(url),
    name: input({ field: 'name', required: true }),
    form: form('@name.state'),
    show: show('@form.state'),
    fields: setAll('@form.values'),
    create: create('@form.submit', '@fields.mutations'),
  })
  const visitor = stranger(room)
  const seen = await visitor.get(`/${url}`)
  expect((await visitor.submit(seen, 'form', { name: '' })).status).toBe(422)
  expect(await room.documents(kept)).toEqual([])
  const sent = await visitor.submit(await visitor.get(`/${url}`), 'form', { name: 'Ada' })
  expect([sent.status, sent.headers.get('location')]).toEqual([303, `/${url}`])
  expect(await room.documents(kept)).toMatchObject([{ name: 'Ada' }])
}

const drawsInputs: Scenario = async (room) => {
  const [url, kept] = [room.name(), room.name()]
  await room.run({
    kept: storage(kept),
    page: page(url),
    cups: input({ field: 'cups', label: 'How many', type: 'number', max: 10, required: true }),
    form: form('@cups.state'),
    show: show('@form.state'),
    fields: setAll('@form.values'),
    create: create('@form.submit', '@fields.mutations'),
  })
  const visitor = stranger(room)
  const seen = await visitor.get(`/${url}`)
  expect(seen.form('form').input('cups')).toMatch(/type="number"/)
  const refused = await visitor.submit(seen, 'form', { cups: '11' })
  expect(refused.status).toBe(422)
  expect(refused.form('form').input('cups')).toContain('value="11"')
  await visitor.submit(refused, 'form', { cups: '3' })
  expect(await room.documents(kept)).toMatchObject([{ cups: 3 }])
}

const clicks: Scenario = async (room) => {
  const [url, kept] = [room.name(), room.name()]
  await room.run({
    kept: storage(kept),
    page: page(url),
    button: { type: 'state_button', in: { label: 'Here', kind: 'action', value: 'yes' } },
    show: show('@button.state'),
    field: setOne('was', '@button.clicked'),
    create: create('@button.click', '@field.mutations'),
  })
  const visitor = stranger(room)
  const seen = await visitor.get(`/${url}`)
  expect(await room.documents(kept)).toEqual([])
  expect((await visitor.submit(seen, undefined, {}, { button: 'Here' })).status).toBe(303)
  expect(await room.documents(kept)).toMatchObject([{ was: 'yes' }])
}

const readsForm: Scenario = async (room) => {
  const url = room.name()
  await room.run({
    page: page(url),
    name: input({ field: 'name' }),
    form: form('@name.state'),
    show: show('@form.state'),
    sent: { type: 'state_form_get', in: { form_id: 'form', field: 'name' } },
    hello: h1('@sent.value'),
    answer: show('@hello.state', '@form.submit'),
  })
  const visitor = stranger(room)
  const answer = await visitor.submit(await visitor.get(`/${url}`), 'form', { name: 'Grace' })
  expect(answer).toMatchObject({ status: 200, text: expect.stringContaining('Grace') })
}

const showsTable: Scenario = async (room) => {
  const [url, kept] = [room.name(), room.name()]
  await room.fill(
    kept,
    Array.from({ length: 30 }, (_, n) => ({ name: `Row ${String(n).padStart(2, '0')}`, n })),
  )
  await room.run({
    kept: storage(kept),
    page: page(url),
    table: {
      type: 'state_advanced_datatable',
      in: {
        storage: '@kept.storage',
        columns: [
          { field: 'name', sortable: true },
          { field: 'n', kind: 'number', sortable: true, filter: 'number' },
        ],
        page_size: 10,
      },
    },
    show: show('@table.state'),
  })
  const asked = async (query: string) => {
    const { text } = await stranger(room).get(`/${url}${query}`)
    return [...text.matchAll(/Row \d\d/g)].map(([row]) => row)
  }
  expect((await asked(`?${kept}.sort=name`)).slice(0, 2)).toEqual(['Row 00', 'Row 01'])
  expect(await asked(`?${kept}.sort=name`)).toHaveLength(10)
  expect((await asked(`?${kept}.sort=-n`)).at(0)).toBe('Row 29')
  expect(await asked(`?${kept}.from.n=28&${kept}.sort=name`)).toEqual(['Row 28', 'Row 29'])
}

export const scenarios: Scenarios = {
  state_page: registersPage,
  state_render_page: rendersPage,
  state_h1: heading,
  state_form: sendsForm,
  state_input_dynamic: drawsInputs,
  state_button: clicks,
  state_form_get: readsForm,
  state_advanced_datatable: showsTable,
}
