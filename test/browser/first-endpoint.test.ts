/** What docs/first-endpoint.md tells a newcomer to do, done in a browser: every word in bold is there, and the reply is the one it shows. */
import { readFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { studioCanvas } from './studio-canvas.ts'
import { eventually, textOf } from './studio-eventually.ts'
import { administrator, openStudio, type StudioRoom } from './studio-room.ts'

let studio: StudioRoom
let page: Page
let guide: string
beforeAll(async () => {
  guide = await readFile(new URL('../../docs/first-endpoint.md', import.meta.url), 'utf8')
  studio = await openStudio()
  page = await studio.open(undefined, '')
})
afterAll(() => studio?.close())

/** Words that the guide has in bold. */
function bold(words: string): string {
  expect(guide).toContain(`**${words}**`)
  return words
}

const expression = () => /^```text\n=(.*)\n```$/m.exec(guide)?.[1] ?? ''
const dialog = () => page.getByRole('dialog')

test('steps 2 and 3: sign in and create a blueprint', async () => {
  await page.getByLabel('User name or e-mail').fill(administrator.username)
  await page.getByLabel('Password', { exact: true }).fill(administrator.password)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('link', { name: bold('Or start from scratch') }).click()
  await page
    .getByRole('button', { name: bold('New blueprint') })
    .first()
    .click()
  await page.getByLabel('Name').waitFor()
  await page.keyboard.type('Greeting')
  await page.keyboard.press('Enter')
  await page.getByText('Start with a trigger').waitFor()
})

test('steps 4 and 5: a public address, and a reply that is calculated', async () => {
  await page.getByRole('button', { name: bold('Answer a GET request') }).click()
  const canvas = studioCanvas(page)
  await canvas.write(`Value of ${bold('uri')}`, 'greeting')
  await page.getByRole('combobox', { name: bold('Who may call it') }).click()
  await page.getByRole('option', { name: bold('Everyone (public)') }).click()
  const arrow = page.locator(`.react-flow__handle.source[data-handleid="${bold('flow')}"]`).first()
  await arrow.dragTo(page.locator('.react-flow__pane'), { targetPosition: { x: 560, y: 560 }, steps: 8 })
  await dialog().getByRole('combobox').fill('reply json')
  await page.keyboard.press('Enter')
  await page.getByLabel(`Value of ${bold('value')}`, { exact: true }).fill('=')
  const field = page.getByRole('textbox', { name: 'Expression of value' })
  await eventually(() => field.evaluate((element) => element === document.activeElement)).toBe(true)
  await page.keyboard.type(expression().trimStart())
  await eventually(textOf(field)).toBe(expression())
  expect(await field.getAttribute('aria-invalid')).toBe('false')
}, 60_000)

test('step 6: deploy', async () => {
  await page.getByRole('button', { name: bold('Deploy and activate') }).click()
  await dialog()
    .getByRole('button', { name: bold('Save, deploy and activate') })
    .click()
  await page.getByText('Active, version 1').waitFor()
})

test('step 7: try it, and what curl prints', async () => {
  await page.getByRole('button', { name: bold('Try it') }).click()
  const panel = page.getByRole('complementary', { name: 'Try it' })
  await panel.getByLabel(bold('Query'), { exact: true }).fill('name=Ann')
  await panel.getByRole('button', { name: bold('Send GET') }).click()
  await panel.getByText('200', { exact: true }).waitFor()
  await panel.getByText('Ann').last().waitFor()
  const [, path = ''] = /^curl 'http:\/\/127\.0\.0\.1:8080\/api\/v1([^']*)'$/m.exec(guide) ?? []
  const [, shown = ''] = /^```json\n(.*)\n```$/m.exec(guide) ?? []
  expect((await studio.ask('GET', path)).body).toEqual(JSON.parse(shown))
  expect((await studio.ask('GET', '/greeting')).body).toEqual({ hello: 'world' })
  expect(studio.complaints()).toEqual([])
})

test('the endpoint that stores what is sent, with the values of the table', async () => {
  const written = (pin: string) =>
    new RegExp(String.raw`\| [^|]*\| \*\*${pin}\*\* \| \`(.*)\` \|`).exec(
      guide.split('## Store')[1] ?? '',
    )?.[1]
  await studio.quoin.install('Guests', {
    post: { type: 'on_startup_register_uri_post', in: { uri: written('uri') ?? '' }, scopes: ['*public'] },
    create_document: {
      type: 'function_create_document_from_mutations',
      in: { flow: '@post.flow', storage: written('storage') ?? '', set: written('set') ?? '' },
    },
    reply: {
      type: 'httpconnection_set_json',
      in: { flow: '@create_document.flow', code: Number(written('code')), value: written('value') ?? '' },
    },
  })
  const made = await studio.ask('POST', '/guests', { body: { name: ' Ann ' } })
  expect(made).toMatchObject({ status: 201, body: { name: 'Ann', visits: 1 } })
})
