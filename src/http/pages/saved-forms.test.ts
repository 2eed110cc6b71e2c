import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openTestQuoin, type TestQuoin } from '../../../test/end-to-end/harness.ts'
import { openVisitor, type SeenPage, type Visitor } from '../../../test/page-visitor.ts'

const password = 'a password of a user'
let fixture: TestQuoin
let origin: string

beforeAll(async () => {
  fixture = await openTestQuoin()
  origin = await fixture.quoin.server.listen()
  const input = (field: string, state: string | undefined, type: string, more: object = {}) => ({
    type: 'state_input_dynamic',
    in: { field, type, ...(state !== undefined && { state }), ...more },
  })
  const page = (url: string, content: string) => ({
    [`${url}_page`]: { type: 'state_page', in: { url }, scopes: ['*loggedin'] },
    [`${url}_form`]: { type: 'state_form', in: { form_id: 'note', content } },
    [`${url}_show`]: {
      type: 'state_render_page',
      in: { flow: `@${url}_page.flow`, state: `@${url}_form.state` },
    },
  })
  await fixture.install('Notes', {
    title: input('title', undefined, 'text', { required: true }),
    tags: input('tags', '@title.state', 'choices', { options: ['a', 'b', 'c'] }),
    done: input('done', '@tags.state', 'check'),
    pin: input('pin', '@done.state', 'password'),
    scan: input('scan', '@pin.state', 'file'),
    ...page('notes', '@pin.state'),
    ...page('letters', '@scan.state'),
  })
  for (const name of ['ada', 'ben', 'cleo']) await fixture.addUser(name, [])
})
afterAll(() => fixture?.close())

const typed = { title: '"Zoë" & <b>', tags: ['a', 'c'], done: 'on', pin: 'hunter2' }
const kept = () => fixture.documents('_kept_forms')

async function signedIn(username: string): Promise<Visitor> {
  const visitor = openVisitor(origin)
  visitor.setCookie('access_token', await fixture.tokenOf(username))
  return visitor
}

function signIn(visitor: Visitor, page: SeenPage, username: string) {
  return visitor.submit(page, 'signin', { username, password })
}

/** Opens the form, is signed out by the clock or elsewhere, sends it, and gives where the browser is sent to. */
async function sendTooLate(visitor: Visitor, path: string, values: object = typed): Promise<SeenPage> {
  const page = await visitor.get(path)
  visitor.setCookie('access_token', 'x'.repeat(43))
  return visitor.submit(page, 'note', { ...values })
}

describe('nothing is kept', () => {
  test.each([
    ['without a ticket', { _ticket: undefined }],
    ['with a forged ticket', { _ticket: `${btoa('["ada"]')}.${'x'.repeat(43)}` }],
    ['with no ticket at all', { _ticket: 'x' }],
    ['with the ticket of another form', { _form: 'other' }],
    ['with the ticket of the form before', { _once: 'again' }],
    ['when it is too long', { title: 'x'.repeat(300_000) }],
  ])('%s; the browser is sent to sign in all the same', async (_what, changed) => {
    const sent = await sendTooLate(await signedIn('ada'), '/notes', { ...typed, ...changed })
    expect([sent.status, sent.headers.get('location')]).toEqual([303, '/login?next=%2Fnotes'])
    expect(await kept()).toEqual([])
  })

  test('of a form that is sent from elsewhere', async () => {
    const visitor = await signedIn('ada')
    const page = await visitor.get('/notes')
    visitor.setCookie('access_token', 'x'.repeat(43))
    const headers = { origin: 'https://evil.example' }
    const sent = await visitor.submit(page, 'note', typed, { headers })
    expect([sent.status, await kept()]).toEqual([403, []])
  })

  test('of a form that goes to another page than the one it was shown on', async () => {
    const visitor = await signedIn('ada')
    const page = await visitor.get('/notes')
    visitor.setCookie('access_token', 'x'.repeat(43))
    const html = page.html.replaceAll('action="/notes"', 'action="/letters"')
    const form = { ...page.form('note'), action: '/letters', multipart: false }
    const sent = await visitor.submit({ ...page, html, form: () => form }, 'note', typed)
    expect([sent.headers.get('location'), await kept()]).toEqual(['/login?next=%2Fletters', []])
  })
})

test('who was not signed in when the form was shown has no ticket', async () => {
  await fixture.install('Open', {
    page: { type: 'state_page', in: { url: 'open' } },
    title: { type: 'state_input_dynamic', in: { field: 'title' } },
    form: { type: 'state_form', in: { form_id: 'note', content: '@title.state' } },
    show: { type: 'state_render_page', in: { flow: '@page.flow', state: '@form.state' } },
  })
  const names = (page: SeenPage) => page.form('note').fields.map(([name]) => name)
  expect(names(await openVisitor(origin).get('/open'))).not.toContain('_ticket')
  expect(names(await (await signedIn('ada')).get('/open'))).toContain('_ticket')
})

describe('what was typed', () => {
  test('is not shown to another user who signs in, and not at another address', async () => {
    const sent = await sendTooLate(await signedIn('ada'), '/notes?a=1')
    const back = new URL(sent.headers.get('location') ?? '', origin).searchParams.get('next') ?? ''
    expect(back).toMatch(/^\/notes\?a=1&_kept=[\w-]+$/)
    for (const [username, path] of [
      ['ben', back],
      ['ada', back.replace('a=1', 'a=2')],
      ['ada', back.replace('/notes', '/letters')],
      ['ada', '/notes?a=1&_kept=nothing'],
    ] as const) {
      const seen = await (await signedIn(username)).get(path)
      expect([seen.status, path, seen.html.includes('Zoë')]).toEqual([200, path, false])
    }
    expect((await openVisitor(origin).get(back)).status).toBe(303)
    expect((await (await signedIn('ada')).get(back)).html).toContain('Zoë')
  })

  test.each(['/notes', '/letters?page=2'])(
    'comes back to the form on %s after signing in, without the password',
    async (path) => {
      const visitor = await signedIn('ben')
      const before = (await kept()).length
      const scan = path === '/notes' ? {} : { scan: new File(['a secret'], 'a.txt') }
      const sent = await sendTooLate(visitor, path, { ...typed, ...scan })
      const wrong = await visitor.submit(await visitor.follow(sent), 'signin', {
        username: 'ben',
        password: 'wrong password',
      })
      expect(wrong.status).toBe(422)
      const seen = await visitor.follow(await signIn(visitor, wrong, 'ben'))
      expect([seen.status, seen.text.includes('You are signed in again')]).toEqual([200, true])
      const { fields, action, input } = seen.form('note')
      expect(fields.filter(([name]) => !name.startsWith('_'))).toEqual([
        ['title', typed.title],
        ['tags', 'a'],
        ['tags', 'c'],
        ['done', 'on'],
        ['pin', ''],
      ])
      expect(input('pin')).not.toContain('hunter2')
      expect(action).toBe(path)
      const all = await kept()
      expect(all).toHaveLength(before + 1)
      expect(JSON.stringify(all)).not.toMatch(/hunter2|a secret/)
      // Looked at again, as after going back, it is still there; sent, it is an ordinary form.
      expect((await visitor.get(seen.url)).html).toContain('Zoë')
      expect((await visitor.submit(seen, 'note', { title: '' })).status).toBe(422)
    },
  )

  test('is gone after an hour, and then from the database too', async () => {
    const visitor = await signedIn('ben')
    const sent = await sendTooLate(visitor, '/notes')
    const page = await visitor.follow(sent)
    fixture.advance(3_601_000)
    const seen = await visitor.follow(await signIn(visitor, page, 'ben'))
    expect([seen.status, seen.html.includes('Zoë')]).toEqual([200, false])
    await sendTooLate(await signedIn('ben'), '/notes')
    expect(await kept()).toHaveLength(1)
  })

  test('is kept twenty times for one user, and once when it is sent twice', async () => {
    const places: (string | null)[] = []
    for (let i = 0; i < 22; i += 1)
      places.push((await sendTooLate(await signedIn('cleo'), '/notes')).headers.get('location'))
    expect(places.map((place) => place?.includes('_kept'))).toEqual([...Array(20).fill(true), false, false])
    const visitor = await signedIn('ada')
    const page = await visitor.get('/notes')
    visitor.setCookie('access_token', 'x'.repeat(43))
    const before = await kept()
    const both = await Promise.all([visitor.submit(page, 'note', typed), visitor.submit(page, 'note', typed)])
    expect(both.map(({ headers }) => headers.get('location')?.includes('_kept'))).toEqual([true, true])
    expect((await kept()).length - before.length).toBe(1)
  })
})
