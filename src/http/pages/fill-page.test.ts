import { afterAll, beforeAll, expect, test } from 'vitest'
import { guidOf, openTestQuoin, type TestQuoin } from '../../../test/end-to-end/harness.ts'
import { openVisitor, type SeenForm, type Visitor } from '../../../test/page-visitor.ts'
import { setFields } from '../../shared/mutation.ts'
import { search } from '../../shared/query.ts'
import { documentsOf } from '../../storage/find-documents.ts'

// Inputs of forms whose field refers to documents: the visitor chooses one by its name.

let fixture: TestQuoin
let origin: string
/** By the name of a city. */
const cities = new Map<string, string>()

beforeAll(async () => {
  fixture = await openTestQuoin({ QUOIN_RATE_LIMIT: '0' })
  origin = await fixture.quoin.server.listen()
  await fixture.addUser('ann', [])
  const see = 'doc.name != "Secret" || user.username == "admin"'
  await fixture.manage('POST', '/_system/storages', { name: 'cities', rules: { see } })
  for (const name of ['many', 'closed', 'visits'])
    await fixture.manage('POST', '/_system/storages', {
      name,
      ...(name === 'closed' && { rules: { see: 'false' } }),
    })
  for (const field of [
    { storage: 'cities', name: 'name', type: 'string' },
    { storage: 'visits', name: 'city', type: 'reference', reference: { storage: 'cities' } },
    { storage: 'visits', name: 'other', type: 'reference', reference: { storage: 'many' } },
    { storage: 'visits', name: 'hidden', type: 'reference', reference: { storage: 'closed' } },
  ])
    await fixture.manage('POST', '/blueprintfields', field)
  await fixture.install('Visits', {
    page: { type: 'state_page', in: { url: 'visits' }, scopes: ['*public'] },
    form: {
      type: 'state_form',
      in: {
        form_id: 'f',
        storage: 'visits',
        inputs: [
          ...['city', 'other', 'hidden'].map((field) => ({ field, type: 'choice' })),
          { field: 'few', type: 'choice', options: ['a'] },
        ],
      },
    },
    show: { type: 'state_render_page', in: { flow: '@page.flow', state: '@form.state' } },
    create: {
      type: 'function_create_document_from_mutations',
      in: { flow: '@form.submit', storage: 'visits', set: '=form.values' },
    },
    created: { type: 'state_redirect', in: { flow: '@create.flow', url: '/visits' } },
  })
  const session = fixture.quoin.database.session()
  for (const name of ['Rome', 'Oslo & "Bergen"', 'Secret', 'Gone', ''])
    cities.set(name, guidOf((await session.create('cities', setFields({ name }))).value))
  await session.setRemoved('cities', cities.get('Gone') ?? '', true)
  for (let number = 0; number < 200; number++) await session.create('many', setFields({ number }))
  await session.create('closed', setFields({}))
  await session.transaction.commit()
})
afterAll(() => fixture?.close())

async function visitor(username: string): Promise<Visitor> {
  const one = openVisitor(origin)
  if (username) one.setCookie('access_token', await fixture.tokenOf(username))
  return one
}

/** But for the one that asks to choose. */
const options = (form: SeenForm, html: string, name: string) => {
  expect(form.input(name)).toMatch(/^<select/)
  const [, inner = ''] = new RegExp(`<select[^>]*name="${name}"[^>]*>(.*?)</select>`, 's').exec(html) ?? []
  return [...inner.matchAll(/<option value="([^"]*)"[^>]*>(.*?)<\/option>/gs)].map(([, value, label]) => [
    value,
    label,
  ])
}

test.each(['', 'ann', 'admin'])('%j chooses among what may be seen, by name', async (username) => {
  const page = await (await visitor(username)).get('/visits')
  const form = page.form('f')
  const nameless = cities.get('') ?? ''
  const named = [
    [nameless, nameless],
    [cities.get('Oslo & "Bergen"'), 'Oslo &amp; &quot;Bergen&quot;'],
    [cities.get('Rome'), 'Rome'],
    ...(username === 'admin' ? [[cities.get('Secret'), 'Secret']] : []),
  ]
  expect(options(form, page.html, 'city')).toEqual(named)
  expect(options(form, page.html, 'few').map(([value]) => value)).toEqual(['a'])
  expect(options(form, page.html, 'other')).toHaveLength(200)
})

test('a storage of which the visitor sees nothing offers nothing', async () => {
  const page = await (await visitor('ann')).get('/visits')
  expect(options(page.form('f'), page.html, 'hidden')).toEqual([])
})

const stored = async () => {
  const found = await fixture.quoin.database.session().find('visits', search())
  return documentsOf(found).map(({ city }) => city)
}

test('a choice is stored by its guid; one that is not there is refused, and stays chosen', async () => {
  const one = await visitor('')
  const gone = cities.get('Gone') ?? ''
  const refused = await one.submit(await one.get('/visits'), 'f', { city: gone })
  expect(refused.status).toBe(422)
  expect(options(refused.form('f'), refused.html, 'city').at(-1)).toEqual([gone, gone])
  const rome = cities.get('Rome') ?? ''
  expect(await stored()).toEqual([])
  expect((await one.submit(await one.get('/visits'), 'f', { city: rome })).status).toBe(303)
  expect(await stored()).toEqual([rome])
})

test('among large ones the guid is typed', async () => {
  const session = fixture.quoin.database.session()
  const large = await session.create('cities', setFields({ name: 'Large', text: 'x'.repeat(1024 * 1024) }))
  await session.transaction.commit()
  const page = async () => (await (await visitor('')).get('/visits')).form('f').input('city')
  expect(await page()).toMatch(/^<input[^>]*type="text"/)
  const again = fixture.quoin.database.session()
  await again.setRemoved('cities', guidOf(large.value), true)
  await again.transaction.commit()
  expect(await page()).toMatch(/^<select/)
})

test('among more than 200 the guid is typed', async () => {
  const session = fixture.quoin.database.session()
  await session.create('many', setFields({ number: 200 }))
  await session.transaction.commit()
  const page = await (await visitor('')).get('/visits')
  expect(page.form('f').input('other')).toMatch(/^<input[^>]*type="text"/)
})
