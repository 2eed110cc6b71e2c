/** A session that ends while its user types: nothing typed is lost, nothing is sent twice, and no key is for the password. */
import type { Page, Response } from 'playwright-core'
import { beforeAll, expect, test } from 'vitest'
import { installBlueprint } from '../../src/flows/blueprints/install-blueprint.ts'
import type { JsonObject } from '../../src/shared/json.ts'
import { guidOf, objectOf, objectsOf } from '../end-to-end/harness.ts'
import { axeProblems } from './axe-check.ts'
import { eventually } from './studio-eventually.ts'
import { administrator, goWithin, studioOfSuite } from './studio-fixture.ts'

const studio = studioOfSuite()
let page: Page
let blueprint = ''
let storage = ''
let document = ''
let template = ''
const guids = new Map<string, string>()

const manage = (method: 'GET' | 'POST', path: string, body?: JsonObject) =>
  studio.quoin.manage(method, path, body)

beforeAll(async () => {
  const blocks = {
    get: { type: 'on_startup_register_uri_get', title: 'Greet', in: { uri: 'greet' }, scopes: ['*public'] },
    reply: { type: 'httpconnection_set_json', title: 'Reply', in: { flow: '@get.flow' } },
    code: { type: 'run_code', title: 'Code', fields: { code: 'return 1' } },
  }
  const file = { name: 'Greetings', blocks, layout: { get: [0, 0], reply: [330, 0], code: [330, 300] } }
  blueprint = await installBlueprint(studio.quoin.quoin.flows, file, { guid: '', username: 'builder' })
  for (const one of await stored()) guids.set(String(one.title), guidOf(one))
  storage = guidOf(await manage('POST', '/_system/storages', { name: 'boats' }))
  await manage('POST', '/blueprintfields', { name: 'note', type: 'string', storage: 'boats' })
  document = guidOf(await manage('POST', '/_system/storages/boats/documents', { note: '' }))
  template = guidOf(
    await manage('POST', '/blueprinttemplates', { name: 'House', description: '', content: '{}' }),
  )
  page = await studio.open(undefined, 'people')
  await page.getByLabel('User name or e-mail').fill(administrator.username)
  await page.getByLabel('Password', { exact: true }).fill(administrator.password)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('heading', { name: 'Users', exact: true }).waitFor()
}, 240_000)

async function stored(): Promise<JsonObject[]> {
  const blocks = objectsOf(await manage('GET', `/blueprints/${blueprint}/blocks`))
  return blocks.map(({ unsaved, ...block }) => ({ ...block, ...(unsaved ? objectOf(unsaved) : {}) }))
}

const called = async (title: string) => (await stored()).find((one) => guidOf(one) === guids.get(title))

async function pin(): Promise<JsonObject | undefined> {
  const { in_pins: pins = [] } = (await called('Reply')) ?? {}
  return objectsOf(pins).find(({ id }) => id === 'value')
}

const atBlock = (title: string) => goWithin(page, `blueprints/${blueprint}?block=${guids.get(title)}`)
const documentAt = async () => objectOf(await manage('GET', `/_system/storages/boats/documents/${document}`))
const bar = () => page.getByRole('alert').filter({ hasText: 'Your session has ended' })
const password = () => page.getByLabel('Password', { exact: true })
const type = (text: string) => page.keyboard.type(text)

/** In another tab it was found out that the session is over, as it is on the server. */
async function endSession(): Promise<void> {
  const token = await page.evaluate<string>("sessionStorage.getItem('quoin.token')")
  const headers = { authorization: `Bearer ${token}` }
  await fetch(`${studio.address}/api/v1/auth/signout`, { method: 'POST', headers })
  const reported = JSON.stringify({ kind: 'expired', token })
  await page.evaluate(`{
    const channel = new BroadcastChannel('quoin.session')
    channel.postMessage(${reported})
    channel.close()
  }`)
}

async function signInAgain(): Promise<void> {
  expect(await password().inputValue()).toBe('')
  await eventually(() => page.getByLabel('User name or e-mail').inputValue()).toBe(administrator.username)
  await password().fill(administrator.password)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await password().waitFor({ state: 'detached' })
}

interface Kind {
  /** Puts the cursor into the empty field. */
  readonly begin: () => Promise<unknown>
  /** Keys behind the text. */
  readonly end?: string
  readonly stored: () => Promise<unknown>
  readonly expected: (text: string) => unknown
  /** What is written once, such as `PUT /_system/…`. */
  readonly once?: RegExp
}

const value = () => page.getByLabel('Value of value', { exact: true })

async function emptyValue(): Promise<void> {
  await atBlock('Reply')
  await page.getByRole('button', { name: 'fx: expression for value' }).waitFor()
  for (const mode of ['Text with values for value', 'fx: expression for value']) {
    const button = page.getByRole('button', { name: mode })
    if ((await button.getAttribute('aria-pressed')) === 'true') await button.click()
  }
  await value().fill('')
  await value().focus()
}

const kinds: Readonly<Record<string, Kind>> = {
  'value of a pin': {
    begin: emptyValue,
    stored: async () => (await pin())?.value,
    expected: (text) => text,
  },
  expression: {
    async begin() {
      await emptyValue()
      await type('="')
    },
    end: '"',
    stored: async () => (await pin())?.expression,
    expected: (text) => `"${text}"`,
  },
  'text with values': {
    async begin() {
      await emptyValue()
      await page.getByRole('button', { name: 'Text with values for value' }).click()
    },
    stored: async () => (await pin())?.expression,
    expected: (text) => `\`${text}\``,
  },
  'code editor': {
    async begin() {
      await atBlock('Code')
      const properties = page.getByRole('complementary', { name: 'Properties' })
      await properties.getByLabel(/^code( \*)?$/i).fill('')
    },
    stored: async () => objectOf((await called('Code'))?.fields ?? {}).code,
    expected: (text) => text,
  },
  comment: {
    async begin() {
      await atBlock('Reply')
      await page.getByRole('textbox', { name: 'Comment' }).focus()
    },
    stored: async () => (await called('Reply'))?.description,
    expected: (text) => text,
  },
  'cell of the grid': {
    async begin() {
      await goWithin(page, `data/storages/${storage}`)
      await page.locator('[data-row="0"] [data-column="0"]').click()
    },
    end: 'Enter',
    stored: async () => (await documentAt()).note,
    expected: (text) => text,
    once: /^PUT .*\/documents\//,
  },
  'form of a document': {
    async begin() {
      await goWithin(page, `data/storages/${storage}/documents/${document}`)
      await page.getByRole('textbox', { name: 'note' }).fill('')
      await page.getByRole('textbox', { name: 'note' }).focus()
    },
    end: 'ControlOrMeta+s',
    stored: async () => (await documentAt()).note,
    expected: (text) => text,
    once: /^PUT .*\/documents\//,
  },
  template: {
    async begin() {
      await goWithin(page, `data/templates/${template}`)
      await page.getByRole('tab', { name: 'CSS' }).click()
      await page.getByRole('textbox', { name: 'CSS' }).focus()
    },
    end: 'ControlOrMeta+s',
    stored: async () => objectOf(await manage('GET', `/blueprinttemplates/${template}`)).css,
    expected: (text) => text,
    once: /^PUT .*\/blueprinttemplates\//,
  },
  dialog: {
    async begin() {
      await goWithin(page, 'data/fields?open=new')
      await page.getByRole('dialog').getByRole('textbox', { name: /^Name/ }).first().focus()
    },
    end: 'Enter',
    async stored() {
      const found = await manage('POST', '/blueprintfields/search', { limit: 100 })
      return objectsOf(found).map(({ name }) => name)
    },
    expected: (text) => expect.arrayContaining([text]),
    once: /^POST .*\/blueprintfields$/,
  },
}

test.each(Object.entries(kinds))(
  'the %s: nothing is lost, and what is written is written once',
  async (name, kind) => {
    const text = `vote_on_${name.replace(/\W/g, '_')}`
    const written: string[] = []
    const note = (response: Response) => {
      const line = `${response.request().method()} ${new URL(response.url()).pathname}`
      if (response.ok() && kind.once?.test(line)) written.push(line)
    }
    page.on('response', note)
    await kind.begin()
    await type(text.slice(0, 6))
    await endSession()
    await bar().waitFor()
    await type(text.slice(6))
    expect(await password().count()).toBe(0)
    if (kind.end !== undefined) await (kind.end === '"' ? type(kind.end) : page.keyboard.press(kind.end))
    await page.getByRole('button', { name: 'Sign in again' }).click()
    await signInAgain()
    await eventually(kind.stored).toEqual(kind.expected(text))
    await eventually(() => written.length).toBe(kind.once === undefined ? 0 : 1)
    page.off('response', note)
    expect(studio.complaints()).toEqual([])
  },
)

test('the bar takes no key: Escape leaves it, F6 asks for the password, and the cursor is back behind it', async () => {
  await kinds.comment?.begin()
  const comment = page.getByRole('textbox', { name: 'Comment' })
  await comment.fill('')
  await type('one')
  await endSession()
  await bar().waitFor()
  expect(await axeProblems(page, '.sign-in-bar')).toEqual([])
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Sign in again' }).press('Escape')
  expect([await bar().count(), await password().count()]).toEqual([1, 0])
  await comment.focus()
  await page.keyboard.press('End')
  await type(' two')
  await page.keyboard.press('F6')
  await password().waitFor()
  expect(await bar().count()).toBe(0)
  await signInAgain()
  expect(await comment.evaluate((one) => one.matches(':focus'))).toBe(true)
  await type(' three')
  await eventually(async () => (await called('Reply'))?.description).toBe('one two three')
})

test('to leave the field asks for the password, and what was pressed then is done once', async () => {
  await kinds.dialog?.begin()
  await type('left')
  await endSession()
  await bar().waitFor()
  await page.getByRole('dialog').getByRole('button', { name: 'Create' }).click()
  await password().waitFor()
  await signInAgain()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  const names = objectsOf(await manage('POST', '/blueprintfields/search', { limit: 100 })).map(
    ({ name }) => name,
  )
  expect(names.filter((name) => name === 'left')).toEqual(['left'])
})

test('who has left the field before is asked for the password at once', async () => {
  await kinds.comment?.begin()
  await type('four')
  await page.locator('.react-flow__pane').click({ position: { x: 200, y: 450 } })
  await endSession()
  await password().waitFor()
  expect(await bar().count()).toBe(0)
  await signInAgain()
})
