/** Nothing typed is lost: however fast it is typed, and where the server restarts. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { installBlueprint } from '../../src/flows/blueprints/install-blueprint.ts'
import { readOptions } from '../../src/options/options.ts'
import { openQuoin, type Quoin } from '../../src/quoin/quoin.ts'
import type { JsonObject } from '../../src/shared/json.ts'
import { adminPassword, guidOf, objectOf } from '../end-to-end/harness.ts'
import { type SharedBrowser, shareBrowser } from './shared-browser.ts'
import { eventually, press } from './studio-eventually.ts'
import { goWithin, studioOfSuite } from './studio-fixture.ts'

const studio = studioOfSuite()

describe('no letter is lost or a command, however fast it is typed', () => {
  /** Times that the browser is slower while keys are typed, as on a busy core. */
  const SLOWER = 4
  /**
   * Milliseconds a key, and characters; more of them in `npm run torture`. QUOIN_TYPE_ALL=90 types 2,000 at that pace: three minutes
   * for a field, so `-t "of the comment"` takes one of them, within the ten that a suite has.
   */
  const all = process.env.QUOIN_TYPE_ALL
  const often: readonly Pace[] = inject('thorough')
    ? [
        [0, 200],
        [20, 60],
        [90, 20],
      ]
    : [[0, 60]]
  const paces = all ? [[Number(all), 2000] as const] : often

  type Pace = readonly [pace: number, characters: number]

  let page: Page
  let throttle: (rate: number) => Promise<void>
  let blueprint = ''
  let storage = ''
  let document = ''
  let template = ''
  const guids = new Map<string, string>()
  beforeAll(async () => {
    const blocks = {
      get: { type: 'on_startup_register_uri_get', title: 'Greet', in: { uri: 'greet' }, scopes: ['*public'] },
      reply: { type: 'httpconnection_set_json', title: 'Reply', in: { flow: '@get.flow' } },
      code: { type: 'run_code', title: 'Code', fields: { code: 'return 1' } },
    }
    const layout = { get: [0, 0], reply: [330, 0], code: [330, 300] }
    blueprint = await installBlueprint(
      studio.quoin.quoin.flows,
      { name: 'Greetings', blocks, layout },
      { guid: '', username: 'builder' },
    )
    for (const { guid, title } of await stored()) guids.set(title, guid)
    page = await studio.open('admin', `blueprints/${blueprint}?block=${guids.get('Reply')}`)
    await value().waitFor()
    const session = await page.context().newCDPSession(page)
    throttle = async (rate) => void (await session.send('Emulation.setCPUThrottlingRate', { rate }))
    const boats = await studio.quoin.manage('POST', '/_system/storages', { name: 'boats' })
    await studio.quoin.manage('POST', '/blueprintfields', { name: 'note', type: 'string', storage: 'boats' })
    storage = `_system/storages/${guidOf(boats)}`
    document = guidOf(await studio.quoin.manage('POST', `/${storage}/documents`, { note: 'First' }))
    const house = { name: 'House', description: '', content: '{}' }
    template = guidOf(await studio.quoin.manage('POST', '/blueprinttemplates', house))
  }, 240_000)

  interface StoredBlock {
    readonly guid: string
    readonly title: string
    readonly description: string
    readonly name?: string
    readonly fields: JsonObject
    readonly in_pins: readonly Readonly<{ id: string; expression?: string; value?: unknown }>[]
  }

  async function stored(): Promise<StoredBlock[]> {
    const { body } = await studio.ask('GET', `/blueprints/${blueprint}/blocks`, { as: 'admin' })
    const records = Array.isArray(body) ? body : []
    return records.map((record) => {
      const { _meta: meta, unsaved, ...content } = JSON.parse(JSON.stringify(record))
      return { ...content, ...unsaved, guid: meta.guid }
    })
  }

  const called = async (title: string) => (await stored()).find(({ guid }) => guid === guids.get(title))
  const reply = () => called('Reply')
  const pin = async () => (await reply())?.in_pins.find(({ id }) => id === 'value')
  const value = () => page.getByLabel('Value of value', { exact: true })
  const textMode = () => page.getByRole('button', { name: 'Text with values for value' })
  const mode = () => page.getByRole('button', { name: 'fx: expression for value' })

  /** Every letter that is a shortcut of the canvas is in it. */
  function words(characters: number): string {
    return 'vote on a note, then go big at the gate = ok? '
      .repeat(characters)
      .slice(0, characters - 1)
      .concat('.')
  }

  /** Nothing opened, nothing was added and nothing went. */
  async function expectNoCommand(): Promise<void> {
    expect(await page.getByRole('dialog').count()).toBe(0)
    expect(await page.getByRole('treeitem').count()).toBe(0)
    expect(await page.getByRole('complementary', { name: 'Properties' }).count()).toBe(1)
    expect((await stored()).length).toBe(3)
  }

  /** An empty field of the pin, which holds a value. */
  async function emptied(): Promise<Locator> {
    if ((await textMode().getAttribute('aria-pressed')) === 'true') await textMode().click()
    if ((await mode().getAttribute('aria-pressed')) === 'true') await mode().click()
    await value().fill('')
    return value()
  }

  type Typed = (text: string, write: (text: string) => Promise<void>) => Promise<void>

  /** Types the text into one kind of field of the editor, and waits until it is stored. */
  const kinds: Readonly<Record<string, Typed>> = {
    async value(text, write) {
      await (await emptied()).focus()
      await write(text)
      await eventually(async () => (await pin())?.value).toBe(text)
    },
    // The first key turns the field into an editor of expressions.
    async expression(text, write) {
      await (await emptied()).focus()
      await write(`="${text}"`)
      await page.keyboard.press('Enter')
      await eventually(async () => (await pin())?.expression).toBe(`"${text}"`)
    },
    async text(text, write) {
      await emptied()
      await textMode().click()
      await write(text)
      await eventually(async () => (await pin())?.expression).toBe(`\`${text}\``)
    },
    async comment(text, write) {
      const comment = page.getByRole('textbox', { name: 'Comment' })
      await comment.fill('')
      await comment.focus()
      await write(text)
      await eventually(async () => (await reply())?.description).toBe(text)
    },
  }

  /** Fields with the same editors, or as short as names: they are typed into once. */
  const more: Readonly<Record<string, Typed>> = {
    async JSON(text, write) {
      await cleared(page.getByLabel('Value of headers', { exact: true }))
      await write(`{"x-note":"${text}"}`)
      await page.keyboard.press('Tab')
      const headers = async () => (await reply())?.in_pins.find(({ id }) => id === 'headers')?.value
      await eventually(headers).toEqual({ 'x-note': text })
    },
    async title(text, write) {
      await cleared(page.getByLabel('Title', { exact: true }))
      await write(text)
      await eventually(async () => (await reply())?.title).toBe(text)
    },
    async name(text, write) {
      const name = text.replace(/\W+/g, '_').slice(0, 50)
      await cleared(page.getByLabel('Name in expressions'))
      await write(name)
      await page.keyboard.press('Enter')
      await eventually(async () => (await reply())?.name).toBe(name)
    },
    async 'search for blocks'(text, write) {
      const search = page.getByRole('combobox', { name: 'Search blocks' })
      await cleared(search)
      await write(text)
      expect(await search.inputValue()).toBe(text)
      await search.fill('')
    },
    async code(text, write) {
      await goWithin(page, `blueprints/${blueprint}?block=${guids.get('Code')}`)
      const panel = page.getByRole('complementary', { name: 'Properties' })
      await cleared(panel.getByLabel(/^code( \*)?$/i))
      await write(`return '${text}'`)
      await page.keyboard.press('Tab')
      await eventually(async () => (await called('Code'))?.fields.code).toBe(`return '${text}'`)
    },
  }

  const record = async (path: string) => objectOf(await studio.quoin.manage('GET', path))

  /** Fields of other screens. */
  const elsewhere: Readonly<Record<string, Typed>> = {
    async 'cell of the grid'(text, write) {
      await goWithin(page, storage.replace('_system', 'data'))
      await page.locator('[data-row="0"] [data-column="0"]').filter({ hasText: 'First' }).click()
      await write(text)
      await page.keyboard.press('Enter')
      await eventually(async () => (await record(`/${storage}/documents/${document}`)).note).toBe(text)
    },
    async 'field of a document'(text, write) {
      await goWithin(page, `${storage.replace('_system', 'data')}/documents/${document}`)
      await cleared(page.getByRole('textbox', { name: 'note' }))
      await write(`${text} and more`)
      await page.keyboard.press('ControlOrMeta+s')
      const note = async () => (await record(`/${storage}/documents/${document}`)).note
      await eventually(note).toBe(`${text} and more`)
    },
    async template(text, write) {
      await goWithin(page, `data/templates/${template}`)
      await cleared(page.getByLabel('Description'))
      await write(text)
      await page.getByRole('tab', { name: 'CSS' }).click()
      await cleared(page.getByRole('textbox', { name: 'CSS' }))
      await write(`/* ${text} */`)
      await page.keyboard.press('ControlOrMeta+s')
      const shown = async () => {
        const { description, css } = await record(`/blueprinttemplates/${template}`)
        return [description, css]
      }
      await eventually(shown).toEqual([text, `/* ${text} */`])
    },
  }

  async function cleared(field: Locator): Promise<void> {
    await field.fill('')
    await field.focus()
  }

  /** As fast as it goes, or at a pace, in a browser on a busy core. */
  const typing = (delay: number) => async (text: string) => {
    await throttle(SLOWER)
    await page.keyboard.type(text, { delay })
    await throttle(1)
  }

  describe.each(paces)('at %i ms a key no character is lost', (delay, characters) => {
    test.each(Object.entries(kinds))(
      'of the %s',
      async (_, typed) => {
        await typed(words(characters), typing(delay))
        await expectNoCommand()
      },
      600_000,
    )
  })

  test.each(Object.entries(kinds))('5,000 characters that are pasted fit into one %s', async (_, typed) => {
    await typed(words(5000), (text) => page.keyboard.insertText(text))
    await expectNoCommand()
  })

  test('a remark is written behind the key that adds it, and takes 5,000 characters', async () => {
    await page.locator('.react-flow__pane').click({ position: { x: 200, y: 450 } })
    await page.keyboard.press('n')
    await page.locator('.react-flow__node textarea:focus').waitFor()
    await typing(0)(words(60))
    await page.keyboard.insertText(words(4940))
    await page.keyboard.press('Escape')
    const notes = async () => (await studio.ask('GET', `/blueprints/${blueprint}`, { as: 'admin' })).body
    await eventually(notes).toMatchObject({ notes: [{ text: words(60) + words(4940) }] })
  })

  test.each(Object.entries(more))('no character is lost of the %s', async (_, typed) => {
    if (new URL(page.url()).searchParams.get('block') !== guids.get('Reply'))
      await goWithin(page, `blueprints/${blueprint}?block=${guids.get('Reply')}`)
    await page.getByLabel('Title', { exact: true }).waitFor()
    await typed(words(60), typing(0))
    await expectNoCommand()
  })

  test.each(Object.entries(elsewhere))('no character is lost of the %s', async (_, typed) => {
    await typed(words(60), typing(0))
    expect(await page.getByRole('dialog').count()).toBe(0)
    expect(studio.complaints()).toEqual([])
  })
})

describe('the server restarts in the middle of a journey, and nothing that was typed is lost', () => {
  let directory: string
  let quoin: Quoin
  let address: string
  let token: string
  let blueprint: string
  let browser: SharedBrowser
  let page: Page

  /** On the port of before. */
  async function start(port = '0'): Promise<void> {
    const quiet = { QUOIN_EXAMPLES: '0', QUOIN_LOG_LEVEL: 'silent', QUOIN_RATE_LIMIT: '0' }
    const settings = { ...quiet, QUOIN_PORT: port }
    quoin = await openQuoin(
      readOptions({ ...settings, QUOIN_DATA: directory, QUOIN_ADMIN_PASSWORD: adminPassword }),
      {
        clock: Date.now,
        random: (bytes) => void crypto.getRandomValues(bytes),
        passwordCost: { memory: 64, passes: 1, parallelism: 1 },
      },
    )
    address = await quoin.server.listen()
  }

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'quoin-restart-'))
    await start()
    const admin = { username: 'admin', password: adminPassword, ip: '127.0.0.1' }
    const signedIn = await quoin.access.signIn(admin)
    token = signedIn.access_token
    const blocks = {
      get: { type: 'on_startup_register_uri_get', in: { uri: 'greet' }, scopes: ['*public'] },
      reply: { type: 'httpconnection_set_json', in: { flow: '@get.flow', value: 'first' } },
    }
    const file = { name: 'Greetings', blocks, layout: { get: [0, 0], reply: [330, 0] } }
    blueprint = await installBlueprint(quoin.flows, file, { guid: '', username: 'admin' })
    browser = await shareBrowser()
    const context = await browser.newContext({ baseURL: `${address}/studio/`, reducedMotion: 'reduce' })
    await context.addInitScript(`sessionStorage.setItem('quoin.token', ${JSON.stringify(token)})`)
    context.setDefaultTimeout(20_000)
    page = await context.newPage()
    const reply = (await blocksOf()).find(({ type }) => type === 'httpconnection_set_json')
    await page.goto(`blueprints/${blueprint}?block=${reply?._meta.guid}`)
  }, 240_000)

  afterAll(async () => {
    await browser?.close()
    await quoin?.close()
    await rm(directory, { recursive: true, force: true })
  })

  interface Block {
    readonly type: string
    readonly _meta: { readonly guid: string }
  }

  async function blocksOf(): Promise<readonly Block[]> {
    const reply = await fetch(`${address}/api/v1/blueprints/${blueprint}/blocks`, {
      headers: { authorization: `Bearer ${token}` },
    })
    const blocks: readonly Block[] = await reply.json()
    return blocks
  }

  const stored = async () => JSON.stringify(await blocksOf())
  const value = () => page.getByLabel('Value of value', { exact: true })

  const dialog = () => page.getByRole('dialog')
  const away = 'The server does not answer.'

  async function whileAway(act: () => Promise<void>): Promise<void> {
    const { port } = new URL(address)
    await quoin.close()
    try {
      await act()
    } finally {
      await start(port)
    }
  }

  const fetched = (part: string) =>
    page.evaluate<boolean>(
      `performance.getEntriesByType('resource').some(({ name }) => name.includes('/${part}-'))`,
    )

  test('what is typed while the server is away is stored when it is back', async () => {
    // What is opened later was fetched before.
    await eventually(() => fetched('try-panel')).toBe(true)
    await value().fill('before')
    await eventually(stored).toContain('"before"')
    await whileAway(async () => {
      await value().fill('typed while it was away')
      await page.getByRole('alert').waitFor()
    })
    await eventually(stored).toContain('"typed while it was away"')
    expect(await value().inputValue()).toBe('typed while it was away')
  })

  test('what is undone meanwhile is not sent, and a blueprint that is left meanwhile is stored', async () => {
    const { pathname, search } = new URL(page.url())
    await whileAway(async () => {
      await value().fill('taken back')
      await page.getByText('Not stored yet').waitFor()
      await press(page, 'Escape')
      await page.getByRole('button', { name: 'Undo' }).click()
      await page.getByText('Not stored yet').waitFor({ state: 'detached' })
      await value().fill('left behind')
      await page.getByText('Not stored yet').waitFor()
      await page.evaluate(`history.pushState(null, '', '/studio/nowhere')`)
      await page.getByText('Some changes are not stored yet').waitFor()
    })
    await eventually(stored).toContain('"left behind"')
    await goWithin(page, `${pathname.split('/studio/')[1]}${search}`)
  })

  test('the journey goes on: it is deployed, and answers', async () => {
    await page.getByRole('button', { name: 'Deploy', exact: true }).click()
    const deploy = dialog().getByRole('button', { name: 'Save and deploy' })
    await deploy.and(page.locator(':enabled')).waitFor()
    await whileAway(async () => {
      await deploy.click()
      await page.getByText(away).first().waitFor()
    })
    await deploy.click()
    await page.getByText('Active, version 2').waitFor()
    expect(await (await fetch(`${address}/api/v1/greet`)).text()).toContain('left behind')
  })

  test('a request of Try it is sent again', async () => {
    const panel = page.getByRole('complementary', { name: 'Try it' })
    const query = panel.getByLabel('Query', { exact: true })
    await whileAway(async () => {
      await page.getByRole('button', { name: 'Try it' }).click()
      await query.fill('name=Ann')
      await panel.getByRole('button', { name: 'Send GET' }).click()
      await page.getByText(away).first().waitFor()
    })
    expect(await query.inputValue()).toBe('name=Ann')
    await panel.getByRole('button', { name: 'Send GET' }).click()
    await panel.getByText('200', { exact: true }).waitFor()
  })

  test.each<[string, string, Readonly<Record<string, string>>]>([
    ['a collection', 'data', { Name: 'goods' }],
    ['the secret of a webhook', 'operate/secrets', { Name: 'PAY_KEY', Value: 'whsec_1' }],
    ['an alert', 'operate/alerts', { Name: 'dead', Webhook: 'https://example.com/dead' }],
    ['a group', 'people/groups', { Name: 'Desk' }],
  ])('%s: the same button goes on when the server is back', async (_what, path, typed) => {
    await goWithin(page, path)
    await page.getByRole('button', { name: /^New / }).click()
    const field = (label: string) => dialog().getByLabel(new RegExp(`^${label}( \\*)?$`))
    for (const [label, text] of Object.entries(typed)) await field(label).fill(text)
    const create = dialog().locator('button[type=submit]')
    await whileAway(async () => {
      await create.click()
      await dialog().getByText(away).waitFor()
    })
    for (const [label, text] of Object.entries(typed)) expect(await field(label).inputValue()).toBe(text)
    await create.click()
    await dialog().waitFor({ state: 'detached' })
  })

  test('a file is imported, and a cell of it changed, when the server is back', async () => {
    await goWithin(page, 'data')
    await page.getByRole('link', { name: 'goods' }).click()
    await page.getByRole('button', { name: 'Import' }).click()
    const chooser = page.waitForEvent('filechooser')
    await dialog().locator('button', { hasText: 'Choose a file' }).click()
    const buffer = Buffer.from('title\nFirst\n')
    await whileAway(async () => {
      await (await chooser).setFiles({ name: 'goods.csv', mimeType: '', buffer })
      await dialog().getByText(away).first().waitFor()
      // The file is not to blame.
      expect(await dialog().getByRole('alert').textContent()).toContain('The preview could not be loaded')
    })
    await dialog().getByRole('button', { name: 'Try again' }).click()
    await dialog().getByRole('cell', { name: 'First' }).waitFor()
    const begin = dialog().getByRole('button', { name: 'Import' })
    await whileAway(async () => {
      await begin.click()
      await dialog().getByText(away).first().waitFor()
    })
    await begin.click()
    await dialog().getByText('1 document imported.').waitFor()
    await dialog().getByRole('button', { name: 'Close' }).last().click()
    const cell = page.locator('[data-row="0"] [data-column="0"]')
    await cell.filter({ hasText: 'First' }).click()
    await whileAway(async () => {
      await page.keyboard.type('Second')
      await page.keyboard.press('Enter')
      await cell.getByText(away).waitFor({ state: 'attached' })
    })
    expect(await cell.textContent()).toContain('Second')
    await cell.click()
    await page.keyboard.press('Enter')
    await page.keyboard.press('Enter')
    await cell.getByText(away).waitFor({ state: 'detached' })
    expect(await cell.textContent()).toBe('Second')
  })

  test('an API of a collection: the same button goes on when the server is back', async () => {
    await goWithin(page, 'data')
    await page.getByRole('link', { name: 'goods' }).click()
    await page.getByRole('button', { name: 'Make API' }).click()
    const make = dialog().getByRole('button', { name: 'Make and activate' })
    await make.waitFor()
    await eventually(() => fetched('blueprint-transfer')).toBe(true)
    await whileAway(async () => {
      await make.click()
      await dialog().getByText(away).waitFor()
    })
    await make.click()
    await page.waitForURL(/\/blueprints\/[0-9a-f-]{36}/)
  })
})
