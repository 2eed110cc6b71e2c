/** The tasks API, built in the studio without a mouse: every step is a key, from signing in to rolling back. */
import type { Page } from 'playwright-core'
import { beforeAll, expect, test } from 'vitest'
import { guidOf } from '../end-to-end/harness.ts'
import { eventually, press as pressIn, textsOf } from './studio-eventually.ts'
import { administrator, studioOfSuite } from './studio-fixture.ts'
import { pointerEvents, type StudioOutline, studioOutline, watchPointer } from './studio-outline.ts'

const studio = studioOfSuite()
let page: Page
let outline: StudioOutline
beforeAll(async () => {
  page = await studio.open(undefined, '')
  await watchPointer(page)
  // A load from an empty page is followed by moves of a mouse that Chromium makes up.
  await page.reload()
  outline = studioOutline(page)
})

const press = (key: string) => pressIn(page, key)
const type = (text: string) => page.keyboard.type(text)
const title = 'title is required'

test('signing in, and on to an empty outline', async () => {
  await eventually(outline.focused).toBe('User name or e-mail')
  await type(administrator.username)
  await press('Tab')
  await type(administrator.password)
  await press('Enter')
  await page.getByRole('heading', { name: 'Welcome to Quoin' }).waitFor()
  await press('g')
  // At once: two keys belong together for a second only.
  await page.keyboard.press('b')
  await page.getByText('No blueprints yet').waitFor()
  await press('n')
  await eventually(outline.focused).toMatch(/^Name/)
  await type('Tasks by keys')
  await press('Enter')
  await page.getByText('Start with a trigger').waitFor()
  await press('o')
  await page.getByRole('tree').waitFor()
})

test('tasks are created, and one without a title is refused', async () => {
  await outline.add('register post')
  await outline.write('tasks')
  await outline.add('branch')
  await outline.goTo(/Branch/, /pin condition/)
  await outline.add('has field')
  await outline.write('title')
  await outline.goTo(/Has field/, /pin object/)
  await outline.wire('post body')
  await outline.goTo(/Branch/)
  await outline.add('create document')
  await outline.goTo(/Create document/, /pin storage/)
  await outline.add('storage')
  await outline.write('tasks')
  await outline.unfold(/Create document/)
  await outline.goTo(/Create document/, /pin mutations/)
  await outline.add('set fields')
  await outline.goTo(/Set fields/, /pin object/)
  await outline.wire('post body')
  await outline.goTo(/Create document/)
  await outline.add('reply json')
  await outline.goTo(/Reply with JSON/, /pin code/)
  await outline.write('201')
  // What is not used yet folds together beside what is.
  await outline.unfold(/Reply with JSON/)
  await outline.goTo(/Reply with JSON/, /pin value/)
  await outline.wire('create document')
  // A branch that nothing is on yet has no row: its pin is in the panel.
  await outline.goTo(/Branch/)
  await press('Enter')
  await outline.tabTo('Add a block after false')
  await press('Enter')
  await outline.choose('reply json')
  await outline.goTo(/on false/, /pin code/)
  await outline.write('400')
  await outline.unfold(/on false/)
  await outline.goTo(/on false/, /pin value/)
  await outline.write(`{"error": "${title}"}`)
}, 300_000)

/** At the row of an endpoint: makes it public, and comes back. */
async function openToEverybody(): Promise<void> {
  await press('Enter')
  await eventually(outline.focused).not.toMatch(/^row /)
  await outline.tabTo('Who may call it')
  await press('ArrowDown')
  const list = page.getByRole('listbox', { name: 'Who may call it' })
  await list.getByRole('option', { name: 'Everyone (public)' }).waitFor()
  await press('ArrowUp')
  await eventually(textsOf(list.locator('[data-combobox-selected]'))).toEqual(['Everyone (public)'])
  await press('Enter')
  await list.waitFor({ state: 'hidden' })
  await press('Escape')
  await eventually(outline.focused).toMatch(/^row /)
}

test('tasks are listed, and read one by one', async () => {
  await press('Shift+A')
  await outline.choose('register get')
  await outline.write('tasks')
  await openToEverybody()
  await outline.add('search documents')
  await outline.goTo(/Search documents/, /pin storage/)
  await outline.wire('tasks storage')
  await outline.goTo(/Search documents/)
  await outline.add('reply json')
  await outline.goTo(/Search documents/, /Reply with JSON/, /pin value/)
  await outline.wire('search documents')

  await press('Shift+A')
  await outline.choose('register get')
  await outline.write('tasks/{guid}')
  await openToEverybody()
  await outline.add('get document')
  await outline.goTo(/Get document/, /pin storage/)
  await outline.wire('tasks storage')
  await outline.goTo(/Get document/, /pin guid/)
  await outline.add('request parameters')
  await outline.goTo(/Request parameters/, /pin field/)
  await outline.write('guid')
  await outline.goTo(/Get document/)
  await outline.add('reply json')
  await outline.goTo(/Get document/, /Reply with JSON/, /pin value/)
  await outline.wire('get document document')
}, 300_000)

const focusedOn = (name: string | RegExp) => eventually(outline.focused).toMatch(name)

test('it is deployed, and called from Try it and from outside', async () => {
  await press('ControlOrMeta+Enter')
  await focusedOn(/^Save, deploy and activate/)
  await press('Enter')
  await page.getByText('Active, version 1').waitFor()

  await focusedOn(/^row /)
  await press('t')
  await focusedOn(/^(Send|What to run|Query)/)
  await outline.tabTo('What to run')
  await press('ArrowDown')
  await page.getByRole('option', { name: 'POST /tasks' }).waitFor()
  const chosen = textsOf(page.locator('[data-combobox-selected]'))
  await eventually(chosen).toHaveLength(1)
  for (let pressed = 0; (await chosen())[0] !== 'POST /tasks' && pressed < 5; pressed += 1) {
    const before = await chosen()
    await press('ArrowDown')
    await eventually(chosen).not.toEqual(before)
  }
  await press('Enter')
  const send = async (body: string) => {
    await outline.tabTo('Body')
    await press('ControlOrMeta+a')
    await type(body)
    await outline.tabTo('Send POST')
    await press('Enter')
  }
  const panel = page.getByRole('complementary', { name: 'Try it' })
  await send('{}')
  await panel.getByText('400', { exact: true }).waitFor()
  await send('{"title": "Paint the fence"}')
  await panel.getByText('201', { exact: true }).waitFor()

  const wrong = await studio.ask('POST', '/tasks', { as: 'admin', body: { name: 'x' } })
  expect(wrong).toEqual({ status: 400, body: { error: title } })
  const all = await studio.ask('GET', '/tasks')
  expect([all.status, all.body]).toMatchObject([200, [{ title: 'Paint the fence' }]])
  const [task] = await studio.quoin.documents('tasks')
  expect(await studio.ask('GET', `/tasks/${guidOf(task)}`)).toMatchObject({
    status: 200,
    body: { title: 'Paint the fence' },
  })
}, 180_000)

test('broken, it says at the pin why; repaired and changed, it is deployed with a diff', async () => {
  await press('Escape')
  await outline.goTo(/Create document/, /pin storage/)
  await press('Delete')
  const row = page.getByRole('treeitem').filter({ hasText: /^pin storage/ })
  await eventually(textsOf(row)).toContainEqual(expect.stringMatching(/needed: give it a value or wire it/))
  await press('ControlOrMeta+Enter')
  const dialog = page.getByRole('dialog')
  await dialog.getByText('1 problem keeps it from running').waitFor()
  await dialog.getByRole('button', { name: 'Save and deploy', disabled: true }).waitFor()
  await press('Escape')
  await dialog.waitFor({ state: 'detached' })
  expect((await studio.ask('GET', '/tasks')).status).toBe(200)

  await outline.goTo(/Create document/, /pin storage/)
  await outline.wire('tasks storage')
  await outline.goTo(/on false/, /pin code/)
  await outline.write('422')
  await press('ControlOrMeta+Enter')
  await eventually(textsOf(dialog.locator('section[data-change]'))).toEqual([
    expect.stringMatching(/code.*400.*422/),
  ])
  await focusedOn(/^Save and deploy/)
  await press('Enter')
  await page.getByText('Active, version 2').waitFor()
  expect((await studio.ask('POST', '/tasks', { as: 'admin', body: {} })).status).toBe(422)
}, 180_000)

test('rolled back, the former version answers again, all without a mouse', async () => {
  await focusedOn(/^row /)
  await press('v')
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name: 'Version 1' }).waitFor()
  await outline.tabTo(/^Version 1/)
  await press('Enter')
  await dialog.getByRole('button', { name: 'Roll back to this version' }).waitFor()
  await outline.tabTo('Roll back to this version')
  await press('Enter')
  await focusedOn(/^Roll back$/)
  await press('Enter')
  await page.getByText('Active, version 3').waitFor()
  expect((await studio.ask('POST', '/tasks', { as: 'admin', body: {} })).status).toBe(400)
  // The canvas has the version that was live before, and says so.
  const differs = page.getByRole('dialog', { name: 'The canvas differs from what is live' })
  await eventually(textsOf(differs.locator('section[data-change]'))).toEqual([
    expect.stringMatching(/code.*400.*422/),
  ])
  await outline.tabTo('Take over version 3')
  await press('Enter')
  await differs.waitFor({ state: 'detached' })
  await page.getByRole('button', { name: '1 block not deployed' }).waitFor({ state: 'detached' })
  expect(await pointerEvents(page)).toBe(0)
  expect(studio.complaints()).toEqual([])
})
