/** Texts of an application by language: checked, pushed, read by visitors of each language, compared, taken back and removed. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { isJsonObject, type JsonObject, type JsonValue } from '../../src/shared/json.ts'
import { openVisitor } from '../page-visitor.ts'
import { quoinCommand } from '../recording-terminal.ts'
import { applicationsOfSuite, type Folder } from './application-fixture.ts'

const applications = applicationsOfSuite({ QUOIN_RATE_LIMIT: '0' })

let made = 0
const fresh = () => `texts${Date.now().toString(36)}${made++}`

const push = (folder: string, as = 'admin') => applications.run(['push', folder, '--yes'], as)

/** An endpoint and a page that say hello, and how many deals there are. */
const shop = (name: string, texts: Folder, more: Folder = {}): Folder => ({
  'quoin.json': { name },
  'blueprints/hello.json': {
    name,
    blocks: {
      ask: { type: 'on_startup_register_uri_get', in: { uri: `${name}/hello` }, scopes: ['*public'] },
      answer: {
        type: 'httpconnection_set_json',
        in: {
          flow: '@ask.flow',
          value:
            "={ title: translate('title'), deals: translate('deals', { count: number(params.count ?? '2') }), german: translate('title', {}, 'de-CH'), calculated: translate('ti' + 'tle'), none: translate('no' + 'ne') }",
        },
      },
      visit: { type: 'state_page', in: { url: name, title: 'Hello' }, scopes: ['*public'] },
      head: { type: 'state_h1', in: { text: "=translate('title')" } },
      show: { type: 'state_render_page', in: { flow: '@visit.flow', state: '@head.state' } },
    },
  },
  ...texts,
  ...more,
})

const english = { title: 'Hello', 'deals.one': '{count} deal', 'deals.other': '{count} deals of {who}' }
const german = { title: 'Guten Tag', 'deals.one': '{count} Geschäft', 'deals.other': '{count} Geschäfte' }
const both = { 'texts/en.json': english, 'texts/de.json': german }

async function said(name: string, language: string, count = 2) {
  const reply = await applications.quoin.send('GET', `/${name}/hello?count=${count}`, {
    headers: { 'accept-language': language },
  })
  return objectIn(reply.body)
}

const objectIn = (body: JsonValue | undefined): JsonObject => (isJsonObject(body) ? body : {})

describe('check refuses', () => {
  test.each([
    [
      'a key that no language has',
      { 'texts/en.json': { titel: 'Hello', deals: '' } },
      'blueprints/hello.json:1:',
      'has the key "title" (column 20 of the expression). Did you mean titel?',
    ],
    [
      'a name that is no language',
      { ...both, 'texts/e.json': {} },
      'texts/e.json:1:1:',
      'must be a language',
    ],
    [
      'a text that is none',
      { ...both, 'texts/fr.json': { title: 1 } },
      'texts/fr.json:1:10:',
      'title must be a text',
    ],
    [
      'a key with spaces',
      { ...both, 'texts/fr.json': { 'a b': '' } },
      'texts/fr.json:1:8:',
      'must be letters',
    ],
    [
      'a fallback without texts',
      { ...both, 'quoin.json': { name: 'shop', language: 'fr' } },
      'quoin.json:1:',
      'There is no texts/fr.json',
    ],
  ] as const)('%s', async (_what, files, place, says) => {
    const checked = await quoinCommand(['check', await applications.folderOf(shop('shop', files))], {})
    const all = checked.complained + checked.printed
    expect([checked.code, all]).toEqual([1, expect.stringContaining(says)])
    expect(all).toContain(place)
  })

  test('no missing translation, which it names', async () => {
    const files = {
      ...both,
      'texts/de.json': { title: 'Guten Tag' },
      'texts/de-at.json': { title: 'Servus' },
    }
    const checked = await quoinCommand(['check', await applications.folderOf(shop('shop', files))], {})
    const all = checked.complained + checked.printed
    expect([checked.code, all]).toEqual([
      0,
      expect.stringMatching(/texts\/de\.json:1:1: .*has no translation of deals: it is read in another/),
    ])
    expect(all).toMatch(/texts\/de-at\.json:1:1: .*has no translation of deals:/)
  })

  test.each([
    ['a rule', { rules: { see: "doc.title == translate('title')" } }, 'cannot depend on a language'],
    [
      'a computed field',
      { fields: { a: { type: 'string', computed: "translate('title')" } } },
      'cannot depend on a language',
    ],
    [
      'a default',
      { fields: { a: { type: 'string', default_expression: "translate('title')" } } },
      'cannot depend on a language',
    ],
  ] as const)('%s of a storage that translates', async (_what, storage, says) => {
    const files = await applications.folderOf(shop('shop', { ...both, 'storages/goods.json': storage }))
    const checked = await quoinCommand(['check', files], {})
    expect([checked.code, checked.complained + checked.printed]).toEqual([1, expect.stringContaining(says)])
  })
})

test('a push of texts needs the scopes of page templates', async () => {
  const name = fresh()
  await push(await applications.folderOf(shop(name, { 'texts/en.json': english })))
  const resources = ['blueprints', 'blueprintactions', 'blueprintfields', 'blueprinttemplates', 'storages']
  const views = [...resources, 'authentication_groups', 'applications'].map((one) => `${one}_view`)
  await applications.quoin.addUser(name, ['applications_update', ...views])
  const { code, printed } = await push(await applications.folderOf(shop(name, both)), name)
  expect([code, printed]).toEqual([
    1,
    expect.stringContaining(
      'You lack the scope blueprinttemplates_create, which this needs: created texts/de.json',
    ),
  ])
  expect((await said(name, 'de')).title).toBe('Hello')
})

test('visitors read the language they ask for, and the fallback where there is none or no text', async () => {
  const name = fresh()
  const texts = { ...both, 'texts/pt-br.json': { title: 'Olá' } }
  expect((await push(await applications.folderOf(shop(name, texts)))).printed).toContain(
    '  created texts/de.json\n',
  )
  for (const [language, title, deals] of [
    ['', 'Hello', '2 deals of {who}'],
    ['fr', 'Hello', '2 deals of {who}'],
    ['fr, de-AT;q=0.5', 'Guten Tag', '2 Geschäfte'],
    ['de;q=0.1, en-GB', 'Hello', '2 deals of {who}'],
    ['pt', 'Olá', '2 deals of {who}'],
  ] as const)
    expect(await said(name, language)).toEqual({
      ...{ title, deals, german: 'Guten Tag', calculated: title, none: null },
    })
  // Asked again, so that a kept reply would be sent.
  for (let again = 0; again < 3; again++) {
    expect((await said(name, 'de', 1)).deals).toBe('1 Geschäft')
    expect((await said(name, 'en', 1)).deals).toBe('1 deal')
  }
  expect((await said(name, 'de-AT', 12_345)).deals).toBe('12\u00a0345 Geschäfte')

  const visitor = openVisitor(applications.base)
  const page = await visitor.get(`/${name}`, { 'accept-language': 'pt-PT, de;q=0.5' })
  expect([page.text, page.html]).toEqual([
    expect.stringContaining('Olá'),
    expect.stringContaining('<html lang="pt-PT"'),
  ])
})

test('a user reads the language of the account', async () => {
  const name = fresh()
  await push(await applications.folderOf(shop(name, both)))
  const guid = await applications.quoin.addUser(name, [])
  await applications.quoin.manage('PUT', `/users/${guid}`, { language: 'de' })
  const reply = await applications.quoin.send('GET', `/${name}/hello`, {
    as: name,
    headers: { 'accept-language': 'en' },
  })
  expect(objectIn(reply.body).title).toBe('Guten Tag')
})

test('texts are pulled byte for byte, drift, change without a deploy, go back and are removed', async () => {
  const name = fresh()
  const folder = await applications.folderOf(shop(name, both))
  await push(folder)
  const pulled = join(applications.directory, `${name}-1`)
  await applications.run(['pull', name, pulled])
  expect(await readFile(join(pulled, 'texts/de.json'), 'utf8')).toBe(
    `{\n  "$schema": "http://127.0.0.1:8080/api/v1/schemas/texts.json",\n  "deals.one": "{count} Geschäft",\n  "deals.other": "{count} Geschäfte",\n  "title": "Guten Tag"\n}\n`,
  )
  expect((await applications.quoin.send('GET', '/schemas/texts.json')).status).toBe(200)
  expect((await push(pulled)).printed).toContain('nothing to change')

  const changed = await applications.folderOf(
    shop(name, { 'texts/en.json': english, 'texts/de.json': { ...german, title: 'Moin', more: 'Mehr' } }),
  )
  const drift = await applications.run(['drift', changed])
  expect([drift.code, drift.printed]).toEqual([
    1,
    'changed texts/de.json: text more removed, text title changed\n  text title: “Moin” → “Guten Tag”',
  ])
  expect((await push(changed)).code).toBe(0)
  expect((await said(name, 'de')).title).toBe('Moin')

  const other = await applications.folderOf(
    shop(
      name,
      { 'texts/de.json': german, 'texts/en.json': english },
      { 'quoin.json': { name, language: 'de' } },
    ),
  )
  expect((await push(other)).code).toBe(0)
  expect((await said(name, 'fr')).title).toBe('Guten Tag')
  expect(
    (await push(await applications.folderOf(shop(name, { 'texts/en.json': english })))).printed,
  ).toContain('  removed texts/de.json\n')
  expect((await said(name, 'de')).title).toBe('Hello')
  expect((await applications.run(['rollback', name, '2', '--yes'])).code).toBe(0)
  expect((await said(name, 'de')).title).toBe('Moin')
  expect((await applications.run(['uninstall', name, '--yes'])).code).toBe(0)
  const again = fresh()
  await push(await applications.folderOf(shop(name, { 'texts/en.json': { ...english, title: again } })))
  expect((await said(name, 'de')).title).toBe(again)
})

test('tests of an application read its texts', async () => {
  const name = fresh()
  const scenario = {
    name: 'Hello in German',
    steps: [
      {
        request: `GET /${name}/hello`,
        headers: { 'accept-language': 'de' },
        expect: { status: 200, body: { title: 'Guten Tag' } },
      },
    ],
  }
  const folder = await applications.folderOf(shop(name, both, { 'tests/hello.test.json': scenario }))
  const ended = await quoinCommand(['test', folder], {})
  expect([ended.code, ended.printed]).toEqual([0, expect.stringContaining('1 tests, 0 failed')])
})
