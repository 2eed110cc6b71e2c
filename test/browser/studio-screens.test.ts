/** Every screen of the studio with something on it, light and dark: axe finds nothing wrong with any. */
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { beforeAll, expect, test } from 'vitest'
import { folderScopes } from '../../src/shared/management-scopes.ts'
import { guidOf, objectOf, objectsOf } from '../end-to-end/harness.ts'
import { calls, says, startModelServer } from '../model-server.ts'
import { axeColourProblems, axeProblems } from './axe-check.ts'
import { fillCluster, pendingPush, type StudioContent } from './studio-content.ts'
import { eventually } from './studio-eventually.ts'
import { goWithin, studioOfSuite } from './studio-fixture.ts'
import { covered, expectNoProblem, expectNoProblemTurned, settled } from './studio-looks.ts'

const studio = studioOfSuite({ QUOIN_EXAMPLES: '1' })
let content: StudioContent
let page: Page
beforeAll(async () => {
  content = await fillCluster(studio.address, await studio.quoin.tokenOf('admin'))
  page = await studio.open('admin', 'welcome')
}, 240_000)

/** Where a screen of the registry is looked at: its path below `/studio` with guids in, and with what it can have open. */
function addresses(): Readonly<Record<string, readonly string[]>> {
  const { tasks, storage, readings, document, user, template, draft, push } = content
  const documents = `data/storages/${storage}`
  return {
    '/welcome': ['welcome'],
    '/blueprints': ['blueprints'],
    '/blueprints/applications': ['blueprints/applications'],
    '/blueprints/applications/:name': ['blueprints/applications/harbour'],
    '/blueprints/applications/drafts/:guid': [`blueprints/applications/drafts/${draft}`],
    '/blueprints/applications/pushes/:guid': [
      `blueprints/applications/pushes/${push}`,
      'blueprints/applications/pushes/nothing',
    ],
    '/blueprints/explain': ['blueprints/explain?method=GET&path=nothing'],
    '/blueprints/:guid': [`blueprints/${tasks}?view=outline`],
    '/data': ['data'],
    '/data/storages/:storage': [`${documents}?q=paint`, `data/storages/${readings}?open=advice`],
    '/data/storages/:storage/documents/:document': [
      `${documents}/documents/${document}`,
      `${documents}/documents/${document}?tab=json`,
      `${documents}/documents/${document}?tab=history`,
    ],
    '/data/fields': ['data/fields', 'data/fields?open=new'],
    '/data/templates': ['data/templates'],
    '/data/templates/:guid': [`data/templates/${template}`],
    '/data/rules': ['data/rules', 'data/rules?open=new'],
    '/assets': ['assets'],
    '/operate': ['operate'],
    '/operate/charts': ['operate/charts', 'operate/charts?range=hour'],
    '/operate/alerts': ['operate/alerts', 'operate/alerts?open=new'],
    '/operate/queues': ['operate/queues'],
    // One that is kept leads to its blueprint; of another it says so.
    '/operate/runs/:run': ['operate/runs/nothing'],
    '/operate/waits': ['operate/waits'],
    '/operate/schedules': ['operate/schedules'],
    '/operate/system-log': ['operate/system-log'],
    '/operate/audit-log': ['operate/audit-log'],
    '/operate/user-log': ['operate/user-log'],
    '/operate/environment': ['operate/environment', 'operate/environment?open=new'],
    '/operate/secrets': ['operate/secrets', 'operate/secrets?open=new'],
    '/operate/connections': ['operate/connections', 'operate/connections?open=new'],
    '/operate/settings': ['operate/settings'],
    '/operate/backups': ['operate/backups'],
    '/operate/extensions': ['operate/extensions'],
    '/operate/spaces': ['operate/spaces', 'operate/spaces?open=new', `operate/spaces?open=${content.space}`],
    '/operate/nodes': ['operate/nodes'],
    '/people': ['people'],
    '/people/users/:guid': [`people/users/${user}`, 'people/users/nothing'],
    '/people/users/:guid/access': [`people/users/${user}/access`],
    '/people/who-may': ['people/who-may'],
    '/people/groups': ['people/groups', 'people/groups?open=new'],
    '/people/providers': ['people/providers'],
    '/people/scopes': ['people/scopes'],
    '/account': ['account'],
    '/api': ['api'],
    '/api/blocks': ['api/blocks?open=function_search'],
  }
}

test('every screen of the registry is looked at', async () => {
  // As text: these tests are compiled without React.
  const registry = await readFile(
    new URL('../../src/studio/screens/screen-registry.ts', import.meta.url),
    'utf8',
  )
  const paths = [...registry.matchAll(/^ {4}path: '([^']+)'/gm)].map(([, path]) => path)
  expect(paths.length).toBeGreaterThan(20)
  expect(Object.keys(addresses()).toSorted()).toEqual(paths.toSorted())
})

const tooWide = 'document.documentElement.scrollWidth - innerWidth'
/** Tables that scroll sideways, in whatever is around them; on a phone their records are cards. */
const scrolling = `[...document.querySelectorAll('main table')]
  .filter((table) => {
    for (let one = table; one.tagName !== 'MAIN'; one = one.parentElement)
      if (one.scrollWidth > one.clientWidth && getComputedStyle(one).overflowX === 'auto') return true
    return false
  })
  .map((table) => innerWidth + ' ' + table.getAttribute('aria-label'))`

test('axe finds nothing wrong with any in light and dark, none is wider than a phone, and no table scrolls there or on a tablet', async () => {
  const desktop = page.viewportSize()
  const wide: string[] = []
  for (const address of Object.values(addresses()).flat()) {
    await goWithin(page, address)
    await settled(page)
    await expectNoProblem(page, address)
    await page.setViewportSize({ width: 360, height: 780 })
    await eventually(async () => [address, await page.evaluate(tooWide)]).toEqual([address, 0])
    wide.push(...(await page.evaluate<string[]>(scrolling)), ...(await page.evaluate<string[]>(covered)))
    await expectNoProblemTurned(page, address)
    await page.setViewportSize({ width: 820, height: 1000 })
    wide.push(...(await page.evaluate<string[]>(scrolling)))
    if (desktop) await page.setViewportSize(desktop)
  }
  expect(wide).toEqual([])
  expect(studio.complaints()).toEqual([])
}, 300_000)

test('a rollback says what differs before it is done', async () => {
  const served = async () => (await studio.ask('GET', '/harbour/hours')).body
  const [to, hours] = (await served()) === '9 to 18' ? [1, '8 to 17'] : [2, '9 to 18']
  await page.goto('blueprints/applications/harbour')
  const drift = page.getByRole('region', { name: 'Changed in the studio since release' })
  await drift.getByText(to === 1 ? 'Their values stay in the documents' : 'Nothing.').waitFor()
  await page.getByRole('button', { name: `Roll back to release ${to}` }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('Storage harbour_boats').waitFor()
  await dialog.getByText('block reply changed').waitFor()
  await dialog.getByRole('row', { name: 'block reply, in › value' }).waitFor()
  expect(await served()).not.toBe(hours)
  // What is recorded ends otherwise: nothing is released before that is accepted.
  const [found] = objectsOf(
    await studio.quoin.manage('POST', '/blueprints/search', { filters: { name: 'Harbour hours' } }),
  )
  await studio.quoin.manage('PUT', `/blueprints/${guidOf(found ?? {})}/tracing`, { on: true })
  await served()
  await dialog.getByRole('checkbox', { name: 'Compare recorded requests first' }).check()
  await dialog.getByRole('button', { name: 'Roll back' }).click()
  const difference = dialog.getByRole('checkbox', {
    name: 'blueprints/hours.json: GET harbour/hours: other values',
  })
  await difference.waitFor()
  expect(await served()).not.toBe(hours)
  await difference.check()
  await dialog.getByRole('button', { name: 'Roll back' }).click()
  await dialog.waitFor({ state: 'detached' })
  await page.getByText(/^0 of \d+ recorded runs of blueprints\/hours.json end the same/).waitFor()
  const newest = page.getByRole('listitem', { name: /^Release \d+$/ }).first()
  await newest.getByText('live').waitFor()
  expect(await served()).toBe(hours)
  expect(studio.complaints()).toEqual([])
})

test('a draft says what an agent changed inside a block, with the whole values one click away', async () => {
  const scopes = ['drafts_view', 'drafts_create', ...folderScopes]
  const { key } = objectOf(await studio.quoin.manage('POST', '/users/me/keys', { name: 'robot', scopes }))
  const hours = `${'from the first boat on, '.repeat(10)}8 to 20`
  const live = String((await studio.ask('GET', '/harbour/hours')).body)
  const changes = [
    { path: 'blueprints/hours.json', old: JSON.stringify(live), new: JSON.stringify(hours) },
    { path: 'templates/harbour.css', text: 'main { color: navy }' },
  ]
  const headers = { authorization: `Bearer ${String(key)}` }
  const sent = { headers, body: { application: 'harbour', changes } }
  const edited = await studio.quoin.send('POST', '/_system/drafts', sent)
  expect(edited.status, edited.text).toBe(200)
  const { guid } = objectOf(edited.body)
  try {
    await page.goto(`blueprints/applications/drafts/${String(guid)}`)
    const changed = page.getByRole('region', { name: 'Changed by the agent robot of admin' })
    const reply = changed.getByRole('region', { name: 'reply' })
    await reply.locator('del', { hasText: live }).waitFor()
    await reply.locator('ins', { hasText: 'from the first boat on' }).waitFor()
    expect(await changed.getByRole('region', { name: 'on', exact: true }).count()).toBe(0)
    expect(await reply.getByText('8 to 20').count()).toBe(0)
    await reply.getByRole('button', { name: 'whole value' }).click()
    await reply.getByText('8 to 20').waitFor()
    await changed.getByText('main { color: navy }').first().waitFor()
    await expectNoProblem(page, 'draft of an agent')
    // The canvas says so too, at the block that differs and no other one.
    const named = { filters: { name: 'Harbour hours' } }
    const [blueprint] = objectsOf(await studio.quoin.manage('POST', '/blueprints/search', named))
    await page.goto(`blueprints/${guidOf(blueprint ?? {})}`)
    const marks = page.getByTitle('Changed in a draft by robot, an agent of admin')
    await marks.waitFor()
    expect(await marks.count()).toBe(1)
    // The application has another draft of it.
    const link = page.getByRole('link', { name: '2 drafts' })
    expect(await link.getAttribute('href')).toBe('/studio/blueprints/applications')
    expect(studio.complaints()).toEqual([])
  } finally {
    await studio.quoin.manage('DELETE', `/_system/drafts/${String(guid)}`)
  }
})

test('tests of a release run on it and on another one, and what is better is said', async () => {
  await page.goto('blueprints/applications/harbour')
  const promotion = page.getByRole('region', { name: / on another cluster$/ })
  expect((await promotion.getByLabel('Commands').textContent())?.split('\n')).toEqual([
    `quoin pull harbour --url ${new URL(page.url()).origin}`,
    'quoin plan harbour --remote production',
    'quoin push harbour --remote production',
  ])
  await promotion.getByRole('button', { name: 'Copy' }).waitFor()
  const tests = page.getByRole('region', { name: 'Tests', exact: true })
  await tests.getByLabel('Tests of').selectOption('Release 2')
  await tests.getByLabel('Compared with').selectOption('Release 1')
  await tests.getByRole('button', { name: 'Run tests' }).click()
  await tests.getByText('0 % → 66.7 %').waitFor({ timeout: 120_000 })
  await tests.getByText('Opening hours').click()
  const rows = await tests
    .getByRole('table', { name: 'Cases of Opening hours' })
    .getByRole('row')
    .allInnerTexts()
  expect(rows.map((row) => row.split(/\s+/).join(' '))).toEqual([
    'Case Score',
    'morning 0 % → 100 %',
    'evening 0 % → 100 %',
    'night 0 %',
  ])
  expect(studio.complaints()).toEqual([])
})

let folders = 0

test('a folder of this computer is planned, and released by a click', async () => {
  folders += 1
  const name = `quay${folders}`
  const folder = await mkdtemp(join(tmpdir(), 'quoin-test-'))
  try {
    await mkdir(join(folder, 'blueprints'))
    await writeFile(join(folder, 'quoin.json'), JSON.stringify({ name }))
    await writeFile(join(folder, 'README.md'), 'not a part of it')
    const reply = { type: 'httpconnection_set_json', in: { flow: '@on.flow', value: 'open' } }
    const on = { type: 'on_startup_register_uri_get', in: { uri: name }, scopes: ['*public'] }
    await writeFile(join(folder, 'blueprints/quay.json'), JSON.stringify({ name, blocks: { on, reply } }))
    await page.goto('blueprints/applications')
    await page.getByLabel('Plan a folder').setInputFiles(folder)
    await page.getByText(`Blueprint quay`).waitFor()
    expect((await studio.ask('GET', `/${name}`)).status).toBe(404)
    await page.getByRole('button', { name: 'Release' }).click()
    await page.getByRole('heading', { name, exact: true }).waitFor()
    expect((await studio.ask('GET', `/${name}`)).body).toBe('open')
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})

test('a preview is listed with its address, and removed by a click', async () => {
  const reply = { type: 'httpconnection_set_json', in: { flow: '@on.flow', value: 'open' } }
  const on = { type: 'on_startup_register_uri_get', in: { uri: 'lock' }, scopes: ['*public'] }
  const application = {
    ...{ about: { name: 'lock' }, blueprints: { lock: { name: 'lock', blocks: { on, reply } } } },
    ...{ storages: {}, groups: {}, templates: {}, seed: {}, tests: {} },
  }
  await studio.quoin.manage('POST', '/_system/previews', { name: 'gate', application })
  await page.goto('blueprints/applications')
  const previews = page.getByRole('region', { name: 'Previews' })
  const link = previews.getByRole('link', { name: '/~gate/' })
  expect(await link.getAttribute('href')).toBe('/~gate/')
  await expectNoProblem(page, 'the previews')
  await previews.getByRole('button', { name: 'Remove' }).click()
  const dialog = page.getByRole('dialog', { name: 'Remove the preview gate?' })
  await dialog.getByRole('button', { name: 'Remove' }).click()
  await previews.waitFor({ state: 'detached' })
  expect(await studio.quoin.manage('GET', '/_system/previews')).toEqual([])
  expect(studio.complaints()).toEqual([])
})

let piers = 0

test('a push of one user is approved by another one, and is live then', async () => {
  piers += 1
  const name = `pier${piers}`
  const push = await pendingPush((method, path, body) => studio.quoin.manage(method, path, body), name)
  if (piers === 1) await studio.quoin.addUser('second', ['*'])
  await page.goto(`blueprints/applications/pushes/${push}`)
  await page.getByText('You pushed this: another user must approve it.').waitFor()
  expect(await page.getByRole('button', { name: 'Approve and release' }).count()).toBe(0)
  const other = await studio.open('second', 'blueprints/applications')
  await other.getByRole('link', { name: `Release 1 of ${name}` }).click()
  await other.getByText(`Blueprint ${name}`).waitFor()
  expect((await studio.ask('GET', `/${name}`)).status).toBe(404)
  await other.getByRole('button', { name: 'Approve and release' }).click()
  await other.getByRole('heading', { name, exact: true }).waitFor()
  expect((await studio.ask('GET', `/${name}`)).body).toBe('open')
  expect(studio.complaints()).toEqual([])
})

test('a model drafts what is described, as text without links, and it is taken back with one click', async () => {
  const model = await startModelServer()
  try {
    const set = (name: string, value: string) =>
      studio.quoin.manage('PUT', `/_system/settings/${name}`, { value })
    await goWithin(page, 'blueprints/applications')
    await page.getByRole('button', { name: 'Plan a folder' }).waitFor()
    const describe = page.getByRole('button', { name: 'Describe what you need' })
    expect(await describe.count()).toBe(0)
    await set('QUOIN_ALLOWED_HOSTS', `127.0.0.1:${model.port}`)
    const auth = { kind: 'none' }
    await studio.quoin.manage('POST', '/_system/connections', { name: 'models', base_url: model.url, auth })
    await set('QUOIN_ASSISTANT_CONNECTION', 'models')
    const text = JSON.stringify({ name: 'orders' })
    const edit = JSON.stringify({ application: 'orders', changes: [{ path: 'quoin.json', text }] })
    const storage = { path: 'storages/orders.json', text: '{ "fields": { "item": { "type": "string" } } }' }
    model.answers(
      calls(['edit', edit], ['deploy', '{}']),
      calls(['edit', JSON.stringify({ application: 'orders', changes: [storage] })]),
      says('Orders are stored.\n<img src=x onerror=alert(1)> [Open](https://evil.example)'),
    )
    await page.goto('blueprints/applications')
    await describe.click()
    const dialog = page.getByRole('dialog', { name: 'Describe what you need' })
    await dialog.getByLabel('Application').fill('orders')
    const need = dialog.getByLabel('What do you need?')
    await need.fill('A list of orders.')
    const [asked, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    await page.route('**/_system/assistant', async (route) => {
      if (route.request().method() !== 'POST') return route.fallback()
      asked.resolve()
      await answered.promise
      await route.continue()
    })
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await asked.promise
    // Enter in another field while it works cancels nothing, and takes no text away.
    await need.fill('With prices.')
    await dialog.getByLabel('Application').press('Enter')
    expect(await need.inputValue()).toBe('With prices.')
    answered.resolve()
    await dialog.getByText('<img src=x onerror=alert(1)> [Open](https://evil.example)').waitFor()
    await page.unroute('**/_system/assistant')
    await dialog.getByText('refused').waitFor()
    await dialog.getByText('Storage orders').waitFor()
    expect(await dialog.locator('img').count()).toBe(0)
    const links = dialog.getByRole('link')
    expect(await links.count()).toBe(1)
    expect(await links.getAttribute('href')).toMatch(/^\/studio\/blueprints\/applications\/drafts\/[\w-]+$/)
    await expectNoProblem(page, 'the description')
    const drafts = async () =>
      objectsOf(await studio.quoin.manage('GET', '/_system/drafts')).filter(
        ({ agent }) => agent === 'Assistant',
      )
    expect(await drafts()).toMatchObject([{ application: 'orders', author: { username: 'admin' } }])
    await dialog.getByRole('button', { name: 'Take back' }).click()
    await eventually(async () => (await drafts()).length).toBe(0)
    // The editor has it too, for the application of the blueprint.
    await page.keyboard.press('Escape')
    const search = { filters: { name: 'Harbour hours' } }
    const [hours] = objectsOf(await studio.quoin.manage('POST', '/blueprints/search', search))
    await page.goto(`blueprints/${guidOf(hours)}`)
    await page.getByRole('button', { name: 'More', exact: true }).click()
    await page.getByRole('menuitem', { name: 'Describe what you need' }).click()
    await dialog.getByLabel('What do you need?').waitFor()
    expect(await dialog.getByLabel('Application').inputValue()).toBe('harbour')
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    expect(studio.complaints()).toEqual([])
  } finally {
    await studio.quoin.manage('DELETE', '/_system/settings/QUOIN_ASSISTANT_CONNECTION')
    await model.close()
  }
})

test('the OpenAPI document that is downloaded is that of the signed-in user', async () => {
  await studio.quoin.install('accounts', {
    on: { type: 'on_startup_register_uri_get', in: { uri: 'accounts' }, scopes: ['clerks'] },
    reply: { type: 'httpconnection_set_json', in: { flow: '@on.flow', value: 1 } },
  })
  await goWithin(page, 'api')
  const download = page.waitForEvent('download')
  await page.getByRole('button', { name: 'OpenAPI', exact: true }).click()
  const file = await download
  expect(file.suggestedFilename()).toBe('openapi.json')
  const text = await readFile(await file.path(), 'utf8')
  expect(JSON.parse(text).paths).toHaveProperty('/api/v1/accounts')
  const open = await studio.ask('GET', '/openapi.json')
  expect(open.body).not.toHaveProperty(['paths', '/api/v1/accounts'])
})

test('what is loading stands still for a user who asks for less motion', async () => {
  // The browser holds back the answer, so that the rows of the table stay grey.
  const held = Promise.withResolvers<void>()
  await page.route('**/blueprintfields/search', async (route) => {
    await held.promise
    await route.continue()
  })
  await page.goto('data/fields')
  await page.locator('[aria-busy=true]').waitFor()
  const moving = () => page.evaluate('document.getAnimations().length')
  expect(await moving()).toBe(0)
  await page.emulateMedia({ reducedMotion: 'no-preference' })
  await eventually(moving).toBeGreaterThan(0)
  await page.emulateMedia({ reducedMotion: 'reduce' })
  held.resolve()
  await settled(page)
})

test('storages whose indexes are being built are listed with how far that is, until the last one is ready', async () => {
  // What a node on PostgreSQL replies (`storage-advice.test.ts`).
  let json: object[] = [
    { storage: 'orders', kind: 'columns', done: 250_000, total: 1_000_000 },
    { storage: 'articles', kind: 'text', done: 30, total: 40 },
    { storage: 'orders', kind: 'index', done: 0, total: 0 },
  ]
  await page.route('**/_system/preparations', (route) => route.fulfill({ json }))
  await page.goto('data')
  const progress = page.getByRole('progressbar')
  await eventually(() =>
    progress.evaluateAll((bars) => bars.map((bar) => bar.getAttribute('aria-valuenow'))),
  ).toEqual(['25', '75', '0'])
  const rows = page.getByRole('alert').getByRole('listitem')
  expect(await rows.allInnerTexts()).toEqual([
    'Columns of indexed fields of orders: 250,000 of about 1,000,000',
    'Free text of articles: 30 of about 40',
    'Index of orders',
  ])
  await expectNoProblem(page, 'preparations')
  json = []
  await eventually(() => rows.count()).toBe(0)
  await page.unroute('**/_system/preparations')
})

test('axe sees what is wrong', async () => {
  // The colour below is readable in the dark.
  await page.emulateMedia({ colorScheme: 'light' })
  await goWithin(page, 'data')
  await settled(page)
  await page.evaluate("document.querySelector('main h1').style.color = '#d8d8d8'")
  for (const problems of [axeProblems, axeColourProblems])
    expect(await problems(page)).toEqual([expect.stringContaining('color-contrast')])
  await page.evaluate(`document.querySelector('main').insertAdjacentHTML('afterbegin',
    '<button style="font-size: 6px; padding: 0">a</button><button style="font-size: 6px; padding: 0">b</button>')`)
  expect((await axeColourProblems(page)).join()).toContain('target-size')
})

test('axe sees what is wrong with an open dialog, where it looks at nothing else', async () => {
  await page.keyboard.press('ControlOrMeta+k')
  await page.getByRole('dialog').waitFor()
  await expectNoProblem(page, 'command palette')
  await page.evaluate(`const text = document.createElement('p')
    text.textContent = 'cannot be read'
    text.style.color = '#888'
    text.style.backgroundColor = '#aaa'
    document.querySelector('[role=dialog]').append(text)`)
  await expect(expectNoProblem(page, 'command palette')).rejects.toThrow('command palette')
})
