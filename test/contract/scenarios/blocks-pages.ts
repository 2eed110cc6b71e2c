/** Pages: what a browser sees of each block, and what it can do there. Without JavaScript, as everything must work. */
import { expect } from 'vitest'
import { call, eventually, needs, refused } from '../ask-quoin.ts'
import type { ContractFixture } from '../contract-fixture.ts'
import type { Scenario, Scenarios } from '../find-scenarios.ts'
import { fields, object, on, reply, setAll, setOne, storage } from '../flow-blocks.ts'
import { form, h1, input, keep, keeping, page, show, signedIn, stranger } from '../page-blocks.ts'

const registersPage: Scenario = async (fixture) => {
  const [open, closed] = [fixture.name(), fixture.name()]
  await fixture.run({ page: page(open), hello: h1('Everybody'), show: show('@hello.state') })
  const guid = await fixture.run({
    page: page(closed, ['nobody-has-it']),
    hello: h1('Few'),
    show: show('@hello.state'),
  })
  const seen = await stranger(fixture).get(`/${open}`)
  expect(seen).toMatchObject({ status: 200, text: expect.stringContaining('Everybody') })
  expect(seen.html).toContain(`<title>Page ${open}`)
  const sent = await stranger(fixture).get(`/${closed}`)
  expect([sent.status, sent.headers.get('location')]).toEqual([
    303,
    `/login?next=${encodeURIComponent(`/${closed}`)}`,
  ])
  expect((await (await signedIn(fixture, 'stranger')).get(`/${closed}`)).status).toBe(403)
  expect((await (await signedIn(fixture, 'admin')).get(`/${closed}`)).text).toContain('Few')
  await fixture.manage('PUT', `/blueprints/update/set/inactive/${guid}`)
  expect((await (await signedIn(fixture, 'admin')).get(`/${closed}`)).status).toBe(404)
  await tellsParameters(fixture)
  await replacesSignIn(fixture)
}

/** Those of the path win; the connection is the request itself. */
async function tellsParameters(fixture: ContractFixture): Promise<void> {
  const url = fixture.name()
  await fixture.run({
    page: page(`/${url}/{place}`),
    read: fields('@page.params', 'word', 'place'),
    word: h1('@read.word'),
    place: h1('@read.place', { state: '@word.state' }),
    asked: { type: 'httpconnection_get_params', in: { connection: '@page.connection', field: 'word' } },
    again: h1('@asked.value', { state: '@place.state' }),
    show: show('@again.state'),
  })
  const { html } = await stranger(fixture).get(`/${url}/home?word=bread&place=elsewhere`)
  expect(headings(html)).toEqual(['bread', 'home', 'bread'])
  expect(await refused(fixture, { page: { type: 'state_page' } })).toContain('url')
  const start = await fixture.run({
    page: { type: 'state_page', in: { url: '/' }, scopes: ['*public'] },
    hello: h1('The start page'),
    show: show('@hello.state'),
  })
  const first = await stranger(fixture).get('/')
  expect([first.status, headings(first.html)]).toEqual([200, ['The start page']])
  expect(first.html, 'no title but that of the layout').toContain('<title>Quoin</title>')
  await fixture.manage('PUT', `/blueprints/update/set/inactive/${start}`)
}

/** `login` is the sign-in page while a blueprint has it, and the built-in one otherwise. */
async function replacesSignIn(fixture: ContractFixture): Promise<void> {
  const own = await fixture.run({
    page: page('login'),
    hello: h1('A door of our own'),
    show: show('@hello.state'),
  })
  expect((await stranger(fixture).get('/login')).text).toContain('A door of our own')
  await fixture.manage('PUT', `/blueprints/update/set/inactive/${own}`)
  const seen = await stranger(fixture).get('/login')
  expect([seen.status, seen.text.includes('A door of our own')]).toEqual([200, false])
  expect(seen.html).toContain('type="password"')
}

const headings = (html: string): string[] =>
  [...html.matchAll(/<h[1-4]\b[^>]*>(.*?)<\/h[1-4]>/gs)].map(([, text = '']) => text)

const rendersPage: Scenario = async (fixture) => {
  const [url, template] = [fixture.name(), fixture.name()]
  const content = JSON.stringify({ brand: { label: 'The bakery' }, footer: 'Open from six' })
  await fixture.manage('POST', '/blueprinttemplates', { name: template, content })
  await fixture.run({
    kept: storage(url),
    page: page(url),
    hello: h1('Below'),
    show: show('@hello.state', '@page.flow', { title: 'Another title', template }),
    note: setOne('behind', true),
    behind: keep('@show.flow', '@note.mutations'),
    plain: page(`${url}/plain`),
    showPlain: { type: 'state_render_page', in: { flow: '@plain.flow' } },
    on: on('get', url),
    nowhere: show('@hello.state', '@on.flow'),
  })
  const seen = await stranger(fixture).get(`/${url}`)
  expect(seen).toMatchObject({ status: 200, text: expect.stringMatching(/The bakery.*Below.*Open from six/) })
  expect(seen.headers.get('content-type')).toMatch(/^text\/html/)
  expect(seen.headers.get('content-security-policy')).toContain("script-src 'self'")
  expect(seen.html).toContain('<title>Another title')
  await eventually(async () => (await fixture.documents(url)).map(({ behind }) => behind), [true])
  const bare = await stranger(fixture).get(`/${url}/plain`)
  expect(bare).toMatchObject({ status: 200, html: expect.stringContaining(`<title>Page ${url}/plain`) })
  expect(bare.text).not.toMatch(/The bakery|Below/)
  expect((await call(fixture, 'GET', url)).status, 'in the flow of no page').toBe(500)
}

const heading: Scenario = async (fixture) => {
  const url = fixture.name()
  await fixture.run({
    page: page(url),
    first: h1('<b>Bread & rolls'),
    second: { type: 'state_h1', in: { state: '@first.state', text: 'Second' } },
    show: show('@second.state'),
  })
  const { html } = await stranger(fixture).get(`/${url}`)
  expect(headings(html)).toEqual(['&lt;b>Bread &amp; rolls', 'Second'])
  expect(html.match(/<h1/g)).toHaveLength(1)
  const bare = { page: page(fixture.name()), no: { type: 'state_h1' }, show: show('@no.state') }
  expect(await refused(fixture, bare)).toContain('text')
}

const sendsForm: Scenario = async (fixture) => {
  const [url, kept] = [fixture.name(), fixture.name()]
  await fixture.run({
    page: page(url),
    above: h1('Above'),
    name: input({ field: 'name', required: true }),
    form: form('@name.state', 'form', { state: '@above.state' }),
    age: input({ field: 'age', type: 'number' }),
    other: form('@age.state', 'other', { state: '@form.state' }),
    show: show('@other.state'),
    ...keeping(kept),
    with_age: setAll('@other.values'),
    keep_age: keep('@other.submit', '@with_age.mutations'),
  })
  const visitor = stranger(fixture)
  const seen = await visitor.get(`/${url}`)
  expect(headings(seen.html)).toEqual(['Above'])
  const refused = await visitor.submit(seen, 'form', { name: '' })
  expect([refused.status, await fixture.documents(kept)]).toEqual([422, []])
  const sent = await visitor.submit(await visitor.get(`/${url}`), 'form', { name: 'Ada' })
  expect([sent.status, sent.headers.get('location')]).toEqual([303, `/${url}`])
  expect((await fixture.documents(kept)).map(({ _meta, ...values }) => values)).toEqual([{ name: 'Ada' }])
  await visitor.submit(await visitor.get(`/${url}`), 'other', { age: '36' })
  expect((await fixture.documents(kept)).map(({ _meta, ...values }) => values)).toEqual([
    { name: 'Ada' },
    { age: 36 },
  ])
  await ownSubmit(fixture)
}

/** A form has one button to send it: its own, unless the content has one. Its name is one that HTML can carry. */
async function ownSubmit(fixture: ContractFixture): Promise<void> {
  const url = fixture.name()
  await fixture.run({
    page: page(url),
    go: { type: 'state_button', in: { label: 'Go' } },
    form: form('@go.state'),
    jump: { type: 'state_button', in: { label: 'Away', kind: 'link', url: '/' } },
    plain: form('@jump.state', 'plain', { state: '@form.state' }),
    show: show('@plain.state'),
  })
  const { html } = await stranger(fixture).get(`/${url}`)
  const buttons = [
    ...html.matchAll(/<(?:a|button)\b[^>]*class="button(?: primary)?"[^>]*>(.*?)<\/(?:a|button)>/gs),
  ]
  const labels = buttons.map(([, label]) => label).filter((label) => /Go|Save|Away/.test(label ?? ''))
  expect(labels).toEqual(['Go', 'Away', 'Save'])
  const bad = { type: 'state_form' }
  expect(await refused(fixture, { page: page(fixture.name()), bad, show: show('@bad.state') })).toContain(
    'form_id',
  )
  for (const form_id of ['a b', '1', 'a"b', 'a'.repeat(65)]) {
    const at = fixture.name()
    await fixture.run({ page: page(at), bad: { ...bad, in: { form_id } }, show: show('@bad.state') })
    expect([form_id, (await stranger(fixture).get(`/${at}`)).status]).toEqual([form_id, 500])
  }
}

/** Each kind is what it says: submit sends the form, action does something by itself, link leads away. */
const clicks: Scenario = async (fixture) => {
  const [url, kept] = [fixture.name(), fixture.name()]
  await fixture.run({
    kept: storage(kept),
    page: page(url),
    above: h1('Above'),
    name: input({ field: 'name' }),
    save: { type: 'state_button', in: { state: '@name.state', label: 'Send it' } },
    draft: { type: 'state_button', in: { state: '@save.state', label: 'As a draft', kind: 'submit' } },
    form: form('@draft.state', 'form', { state: '@above.state' }),
    act: { type: 'state_button', in: { state: '@form.state', label: 'Here', kind: 'action', value: 'yes' } },
    sure: {
      type: 'state_button',
      in: { state: '@act.state', label: 'Delete', kind: 'action', confirm: 'Really all of it?' },
    },
    link: {
      type: 'state_button',
      in: { state: '@sure.state', label: 'Elsewhere', kind: 'link', url: '/else' },
    },
    show: show('@link.state'),
    fields: setAll('@form.values'),
    by_form: keep('@form.submit', '@fields.mutations'),
    draft_fields: setAll('@draft.values'),
    draft_too: {
      type: 'mutations_set_custom_field',
      in: { mutations: '@draft_fields.mutations', field: 'draft', value: true },
    },
    by_draft: keep('@draft.click', '@draft_too.mutations'),
    was: setOne('was', '@act.clicked'),
    by_act: keep('@act.click', '@was.mutations'),
    gone: setOne('gone', true),
    by_sure: keep('@sure.click', '@gone.mutations'),
  })
  const visitor = stranger(fixture)
  const seen = await visitor.get(`/${url}`)
  expect(headings(seen.html)).toEqual(['Above'])
  expect(seen.link('Elsewhere')).toBe('/else')
  expect(await fixture.documents(kept)).toEqual([])
  const stored = async () => (await fixture.documents(kept)).map(({ _meta, ...values }) => values)
  const click = async (button: string, id?: string) =>
    (await visitor.submit(await visitor.get(`/${url}`), id, id ? { name: 'Ada' } : {}, { button })).status
  expect([await click('Here'), await stored()]).toEqual([303, [{ was: 'yes' }]])
  await click('Send it', 'form')
  await click('As a draft', 'form')
  expect(await stored()).toEqual([{ was: 'yes' }, { name: 'Ada' }, { name: 'Ada', draft: true }])
  asksFirst(seen.html)
  await click('Delete')
  expect((await stored()).at(-1)).toEqual({ gone: true })
  await refusesButtons(fixture)
}

/** The button that is seen only opens the question; the one that goes on is behind it. No other button asks. */
function asksFirst(html: string): void {
  expect(html.match(/Really all of it\?/g)).toHaveLength(1)
  const opener = /<button type="button"[^>]*popovertarget="([^"]+)"[^>]*>Delete<\/button>/.exec(html)
  expect(html).toContain(`<div id="${opener?.[1]}" popover`)
  expect(html.match(/role="dialog"/g)).toHaveLength(1)
}

async function refusesButtons(fixture: ContractFixture): Promise<void> {
  for (const pins of [{}, { label: 'x', kind: 'jump' }]) {
    const bad = { type: 'state_button', in: pins }
    expect(await refused(fixture, { page: page(fixture.name()), bad, show: show('@bad.state') })).toMatch(
      /label|kind/,
    )
  }
  const url = fixture.name()
  const script = { type: 'state_button', in: { label: 'x', kind: 'link', url: 'javascript:alert(1)' } }
  await fixture.run({ page: page(url), script, show: show('@script.state') })
  const seen = await stranger(fixture).get(`/${url}`)
  expect([seen.status, seen.html.includes('javascript:')]).toEqual([500, false])
}

const readsForm: Scenario = async (fixture) => {
  const url = fixture.name()
  await fixture.manage('POST', '/blueprintfields', { name: 'extra', type: 'object', storage: url })
  const get = (form_id: string, field?: string) => ({
    type: 'state_form_get',
    in: { form_id, ...(field && { field }) },
  })
  await fixture.run({
    kept: storage(url),
    page: page(url),
    name: input({ field: 'name' }),
    city: input({ field: 'address.city', state: '@name.state' }),
    form: form('@extra.state'),
    second: form('@name.state', 'second', { state: '@form.state' }),
    show: show('@second.state'),
    one: get('form', 'name'),
    deep: get('form', 'address.city'),
    all: get('form'),
    other: get('second', 'name'),
    extra: { ...input({ field: 'extra', state: '@city.state', storage: '@kept.storage' }) },
    inner: get('form', 'extra.deep'),
    seen: object({
      one: '@one.value',
      deep: '@deep.value',
      all: '@all.values',
      with: '@one.values',
      other: '@other.values',
      inner: '@inner.value',
    }),
    fields: setAll('@seen.object'),
    create: keep('@form.submit', '@fields.mutations'),
    hello: h1('@one.value'),
    answer: show('@hello.state', '@create.flow'),
    asked: { type: 'number_default', in: { value: '@other.value' } },
    number: object({ n: '@asked.number' }),
    numbers: setAll('@number.object'),
    wrong: keep('@second.submit', '@numbers.mutations'),
  })
  const visitor = stranger(fixture)
  const sent = { name: 'Grace', 'address.city': 'New York', extra: '{"deep":1}' }
  const answer = await visitor.submit(await visitor.get(`/${url}`), 'form', sent)
  expect(answer).toMatchObject({ status: 200, text: expect.stringContaining('Grace') })
  const [{ _meta, ...seen } = {}] = await fixture.documents(url)
  expect(seen).toEqual({ one: 'Grace', deep: 'New York', all: seen.all, with: seen.all, inner: 1 })
  const second = await visitor.submit(await visitor.get(`/${url}`), 'second', { name: 'no number' })
  expect(second.status, 'what was sent does not fit').toBe(422)
  expect(JSON.stringify(seen.all)).toMatch(/"name":"Grace".*New York/)
  expect(await call(fixture, 'GET', await outsideOfForm(fixture))).toMatchObject({ body: {} })
}

/** An endpoint that replies what the block gives where no form was sent. */
async function outsideOfForm(fixture: ContractFixture): Promise<string> {
  const uri = fixture.name()
  const blocks = {
    on: on('get', uri),
    get: { type: 'state_form_get', in: { form_id: 'form', field: 'name' } },
    seen: object({ values: '@get.values', value: '@get.value' }),
    reply: reply('@on.flow', '@seen.object'),
  }
  await needs(fixture, blocks, 'get', 'form_id')
  await fixture.run(blocks)
  return uri
}

export const scenarios: Scenarios = {
  state_page: registersPage,
  state_render_page: rendersPage,
  state_h1: heading,
  state_form: sendsForm,
  state_button: clicks,
  state_form_get: readsForm,
}
