/** The tasks API, built in the studio by hand out of nothing: by mouse, called, broken, repaired, deployed and rolled back. */
import type { Page } from 'playwright-core'
import { beforeAll, expect, test } from 'vitest'
import { guidOf } from '../end-to-end/harness.ts'
import { type StudioCanvas, studioCanvas } from './studio-canvas.ts'
import { eventually, textOf, textsOf } from './studio-eventually.ts'
import { administrator, studioOfSuite } from './studio-fixture.ts'
import { expectNoProblem } from './studio-looks.ts'

const studio = studioOfSuite()
let page: Page
let canvas: StudioCanvas
beforeAll(async () => {
  page = await studio.open(undefined, '', { viewport: { width: 1720, height: 1100 } })
})

const title = 'title is required'
let create = ''
let document = ''
let storage = ''
let refuse = ''

/** Says who may call the endpoint whose block is chosen. */
async function openTo(words: string): Promise<void> {
  await page.getByRole('combobox', { name: 'Who may call it' }).click()
  await page.getByRole('option', { name: words }).click()
}

test('the studio of an empty cluster leads to an empty canvas', async () => {
  await page.getByLabel('User name or e-mail').fill(administrator.username)
  await page.getByLabel('Password', { exact: true }).fill(administrator.password)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('heading', { name: 'Welcome to Quoin' }).waitFor()
  await page.getByRole('link', { name: 'Or start from scratch' }).click()
  await page.getByLabel('Name').fill('Tasks by hand')
  await page.getByRole('button', { name: 'Create and open' }).click()
  await page.getByText('Start with a trigger').waitFor()
})

test('tasks are created, and one without a title is refused', async () => {
  canvas = studioCanvas(page)
  create = await canvas.drag('register post', { x: 60, y: 60 })
  for (const _ of [1, 2, 3]) await page.getByRole('button', { name: 'Zoom Out' }).click()
  await canvas.move(create, { x: 60, y: 60 })
  await canvas.write('Value of uri', 'tasks')
  const branch = await canvas.grow({ block: create, out: 'flow' }, 'branch', { x: 430, y: 60 })
  const check = await canvas.grow({ block: branch, in: 'condition' }, 'has field', { x: 400, y: 240 })
  await canvas.write('Value of field', 'title')
  await canvas.wire({ block: create, out: 'body' }, { block: check, in: 'object' })
  refuse = await canvas.grow({ block: branch, out: 'false' }, 'reply json', { x: 640, y: 260 })
  await canvas.write('Value of code', '400')
  await canvas.write('Value of value', `{"error": "${title}"}`)
  document = await canvas.grow({ block: branch, out: 'true' }, 'create document', { x: 640, y: 60 })
  storage = await canvas.grow({ block: document, in: 'storage' }, 'storage', { x: 600, y: 420 })
  await canvas.write('storage', 'tasks')
  const fields = await canvas.grow({ block: document, in: 'mutations' }, 'set fields', { x: 400, y: 380 })
  await canvas.wire({ block: create, out: 'body' }, { block: fields, in: 'object' })
  const reply = await canvas.grow({ block: document, out: 'flow' }, 'reply json', { x: 850, y: 60 })
  await canvas.write('Value of code', '201')
  await canvas.wire({ block: document, out: 'document' }, { block: reply, in: 'value' })
}, 300_000)

test('tasks are listed, and read one by one', async () => {
  const list = await canvas.drag('register get', { x: 60, y: 560 })
  await canvas.write('Value of uri', 'tasks')
  await openTo('Everyone (public)')
  const search = await canvas.grow({ block: list, out: 'flow' }, 'search documents', { x: 430, y: 560 })
  await canvas.wire({ block: storage, out: 'storage' }, { block: search, in: 'storage' })
  const all = await canvas.grow({ block: search, out: 'flow' }, 'reply json', { x: 640, y: 560 })
  await canvas.wire({ block: search, out: 'documents' }, { block: all, in: 'value' })

  const read = await canvas.drag('register get', { x: 60, y: 760 })
  await canvas.write('Value of uri', 'tasks/{guid}')
  await openTo('Everyone (public)')
  const get = await canvas.grow({ block: read, out: 'flow' }, 'get document', { x: 430, y: 760 })
  await canvas.wire({ block: storage, out: 'storage' }, { block: get, in: 'storage' })
  await canvas.grow({ block: get, in: 'guid' }, 'request parameters', { x: 400, y: 900 })
  await canvas.write('Value of field', 'guid')
  const one = await canvas.grow({ block: get, out: 'flow' }, 'reply json', { x: 640, y: 760 })
  await canvas.wire({ block: get, out: 'document' }, { block: one, in: 'value' })
  await canvas.grow({ block: get, out: 'not_found' }, 'reply json', { x: 850, y: 860 })
  await canvas.write('Value of code', '404')
  await canvas.write('Value of value', '{"error": "no such task"}')
}, 300_000)

const dialog = () => page.getByRole('dialog')

test('it is deployed with a diff that says what is new', async () => {
  await page.getByRole('button', { name: 'Deploy and activate' }).click()
  const fresh = dialog().locator('section[data-change=created]')
  await eventually(() => fresh.count()).toBe(16)
  const reported = /POST \/tasks.*open to\s*signed-in users/
  await eventually(textsOf(fresh)).toContainEqual(expect.stringMatching(reported))
  expect((await studio.ask('GET', '/tasks')).status).toBe(404)
  await dialog().getByRole('button', { name: 'Save, deploy and activate' }).click()
  await page.getByText('Active, version 1').waitFor()
  // A moment after the dialog the drawing has the keyboard again; it takes it from whatever was clicked before that.
  await page.locator('.react-flow__node.selected:focus').waitFor()
})

test('it replies in Try it and to anonymous clients', async () => {
  await page.getByRole('button', { name: 'Try it' }).click()
  const panel = page.getByRole('complementary', { name: 'Try it' })
  const endpoint = panel.getByRole('combobox', { name: 'What to run' })
  const option = page.getByRole('option', { name: 'POST /tasks' })
  await endpoint.click()
  await option.click()
  await eventually(() => endpoint.inputValue()).toBe('POST /tasks')
  const send = async (body: string) => {
    await panel.getByLabel('Body', { exact: true }).fill(body)
    await panel.getByRole('button', { name: 'Send POST' }).click()
  }
  await send('{}')
  await panel.getByText('400', { exact: true }).waitFor()
  await panel.getByText(title).waitFor()
  await send('{"title": "Paint the fence"}')
  await panel.getByText('201', { exact: true }).waitFor()
  await panel.getByText('Paint the fence').last().waitFor()

  const anonymous = await studio.ask('POST', '/tasks', { body: { title: 'Anonymous' } })
  expect(anonymous.status).toBe(404)
  const wrong = await studio.ask('POST', '/tasks', { as: 'admin', body: { name: 'x' } })
  expect(wrong).toEqual({ status: 400, body: { error: title } })
  const made = await studio.ask('POST', '/tasks', { as: 'admin', body: { title: 'Buy milk' } })
  expect([made.status, made.body]).toMatchObject([201, { title: 'Buy milk' }])
  const all = await studio.ask('GET', '/tasks')
  expect([all.status, all.body]).toMatchObject([200, [{ title: 'Buy milk' }, { title: 'Paint the fence' }]])
  const one = await studio.ask('GET', `/tasks/${guidOf(made.body)}`)
  expect([one.status, one.body]).toMatchObject([200, { title: 'Buy milk' }])
  const none = await studio.ask('GET', '/tasks/01a1fe40-d16f-70a7-930d-55d07b100edb')
  expect(none).toEqual({ status: 404, body: { error: 'no such task' } })
  expect((await studio.quoin.documents('tasks')).map((task) => task.title)).toEqual([
    'Paint the fence',
    'Buy milk',
  ])
})

test('broken, it says on the block and pin why, and what answers is not touched', async () => {
  await page.getByRole('button', { name: 'Try it' }).click()
  await canvas.choose(document)
  const pin = page.getByRole('group', { name: /^storage, / })
  await pin.getByRole('button', { name: /^Remove the wire from tasks/ }).click()
  const reason = /storage.*(needed|needs|required|value)/i
  await eventually(textOf(pin)).toMatch(reason)
  const row = canvas.block(document).locator('[data-broken]').filter({ hasText: 'storage' })
  await eventually(async () => (await row.last().getAttribute('title')) ?? '').toMatch(reason)
  await page.getByRole('button', { name: 'Deploy', exact: true }).click()
  await dialog().getByText('1 problem keeps it from running').waitFor()
  await dialog().getByRole('button', { name: 'Save and deploy', disabled: true }).waitFor()
  await eventually(textOf(dialog().locator('section[data-change=updated]'))).toContain('storage')
  await dialog().getByRole('button', { name: 'Cancel' }).click()
  expect((await studio.ask('GET', '/tasks')).status).toBe(200)
})

test('repaired and changed, it is deployed with a diff of what changed', async () => {
  await canvas.wire({ block: storage, out: 'storage' }, { block: document, in: 'storage' })
  await canvas.choose(refuse)
  await canvas.write('Value of code', '422')
  await page.getByRole('button', { name: 'Deploy', exact: true }).click()
  const changed = dialog().locator('section[data-change]')
  await eventually(textsOf(changed)).toEqual([expect.stringMatching(/code.*400.*422/)])
  await dialog().getByRole('button', { name: 'Save and deploy' }).click()
  await page.getByText('Active, version 2').waitFor()
  expect((await studio.ask('POST', '/tasks', { as: 'admin', body: {} })).status).toBe(422)
})

test('rolling back asks first, and then the canvas says that it differs from what is live', async () => {
  await page.getByRole('button', { name: 'More', exact: true }).click()
  await page.getByRole('menuitem', { name: 'Versions' }).click()
  await dialog().getByRole('button', { name: 'Version 1' }).click()
  await eventually(textsOf(dialog().locator('section[data-change]'))).toEqual([
    expect.stringMatching(/code.*422.*400/),
  ])
  const roll = dialog().getByRole('button', { name: 'Roll back to this version' })
  const shown = page.viewportSize()
  await page.setViewportSize({ width: 390, height: 844 })
  // On a phone the button is whole in its dialog.
  await eventually(async () => {
    const [box, of] = [await roll.boundingBox(), await dialog().boundingBox()]
    return box && of ? of.x + of.width - box.x - box.width : -1
  }).toBeGreaterThan(0)
  await page.setViewportSize(shown ?? { width: 1280, height: 720 })
  await roll.click()
  await page.getByText('The blocks of version 1 go live at once').waitFor()
  expect((await studio.ask('POST', '/tasks', { as: 'admin', body: {} })).status).toBe(422)
  await page.getByRole('button', { name: 'Roll back', exact: true }).click()
  await page.getByText('Active, version 3').waitFor()
  expect((await studio.ask('POST', '/tasks', { as: 'admin', body: {} })).status).toBe(400)
  const differs = page.getByRole('dialog', { name: 'The canvas differs from what is live' })
  await differs.waitFor()
  await expectNoProblem(page, 'canvas differs from what is live')
  await differs.getByRole('button', { name: 'Keep mine' }).click()
  await canvas.choose(refuse)
  await eventually(() => page.getByLabel('Value of code').inputValue()).toBe('422')
  await page.getByRole('button', { name: '1 block not deployed' }).click()
  await eventually(textsOf(differs.locator('section[data-change]'))).toEqual([
    expect.stringMatching(/code.*400.*422/),
  ])
  await differs.getByRole('button', { name: 'Take over version 3' }).click()
  await eventually(() => page.getByLabel('Value of code').inputValue()).toBe('400')
  await page.getByRole('button', { name: '1 block not deployed' }).waitFor({ state: 'detached' })
  expect(studio.complaints()).toEqual([])
})
