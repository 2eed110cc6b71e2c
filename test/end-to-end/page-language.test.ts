/** The language of a page: that of its builder's texts where its block says so, else the one that the visitor asks for. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openVisitor } from '../page-visitor.ts'
import { openTestQuoin, type TestQuoin, userPassword } from './harness.ts'

const page = (url: string, fields: { language?: string } = {}) => ({
  [`${url}_page`]: { type: 'state_page', in: { url, title: 'Contact' }, fields, scopes: ['*public'] },
  [`${url}_form`]: {
    type: 'state_form',
    in: { form_id: url, inputs: [{ field: 'mail', type: 'email', required: true }] },
  },
  [`${url}_show`]: {
    type: 'state_render_page',
    in: { flow: `@${url}_page.flow`, state: `@${url}_form.state` },
  },
})

let quoin: TestQuoin
let origin: string
beforeAll(async () => {
  quoin = await openTestQuoin({ QUOIN_RATE_LIMIT: '0' })
  await quoin.install('Pages', { ...page('asked'), ...page('english', { language: 'en' }) })
  origin = await quoin.quoin.server.listen()
})
afterAll(() => quoin.close())

const german = { 'accept-language': 'de-AT,de;q=0.9' }

test('a page that says its language is in it as a whole, whatever the visitor asks for', async () => {
  const visitor = openVisitor(origin)
  const shown = await visitor.get('/english', german)
  expect(shown.html).toContain('<html lang="en" dir="ltr"')
  expect(shown.text).toContain('Skip to content')
  const refused = await visitor.submit(shown, 'english', { mail: 'x' }, { headers: german })
  expect([refused.status, refused.text]).toEqual([422, expect.stringContaining('e-mail address')])
  expect(refused.html).toContain('<html lang="en" dir="ltr"')
  expect(refused.text).not.toMatch(/Geben Sie|Zum Inhalt/)
})

test('a page that does not say it is in the language that the visitor asks for', async () => {
  const shown = await openVisitor(origin).get('/asked', german)
  expect(shown.html).toContain('<html lang="de-AT" dir="ltr"')
  expect(shown.text).toContain('Zum Inhalt')
})

test('a user who has chosen no language reads the one that the browser asks for, also after signing in', async () => {
  const guid = await quoin.addUser('bea', [])
  const visitor = openVisitor(origin)
  const form = await visitor.get('/login')
  const sent = await visitor.submit(form, 'signin', { username: 'bea', password: userPassword })
  expect(sent.status).toBe(303)
  const seen = async () => /<html lang="([^"]+)"/.exec((await visitor.get('/asked', german)).html)?.[1]
  expect(await seen()).toBe('de-AT')
  await quoin.manage('PUT', `/users/${guid}`, { language: 'en-GB' })
  expect(await seen()).toBe('en-GB')
})

test('a language that is no tag is refused by a deploy, on its setting', async () => {
  await expect(quoin.install('Wrong', page('wrong', { language: 'English' }))).rejects.toMatchObject({
    problems: [{ pin: 'language', message: expect.stringContaining('such as en or de-AT') }],
  })
})
