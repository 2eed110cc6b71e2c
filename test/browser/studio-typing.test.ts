/** Nothing typed is lost and no letter is a command, however fast it is typed and however busy the machine is. */
import type { Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { installBlueprint } from '../../src/flows/blueprints/install-blueprint.ts'
import { eventually } from './studio-eventually.ts'
import { openStudio, type StudioFixture } from './studio-fixture.ts'

/** Times that the browser is slower than it could be. */
const SLOWER = 1
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
  : [
      [0, 60],
      [30, 20],
    ]
const paces = all ? [[Number(all), 2000] as const] : often

type Pace = readonly [pace: number, characters: number]

let studio: StudioFixture
let page: Page
let blueprint = ''
const guids = new Map<string, string>()
beforeAll(async () => {
  studio = await openStudio()
  const blocks = {
    get: { type: 'on_startup_register_uri_get', title: 'Greet', in: { uri: 'greet' }, scopes: ['*public'] },
    reply: { type: 'httpconnection_set_json', title: 'Reply', in: { flow: '@get.flow' } },
  }
  const layout = { get: [0, 0], reply: [330, 0] }
  blueprint = await installBlueprint(
    studio.quoin.quoin.flows,
    { name: 'Greetings', blocks, layout },
    { guid: '', username: 'builder' },
  )
  for (const { guid, title } of await stored()) guids.set(title, guid)
  page = await studio.open('admin', `blueprints/${blueprint}?block=${guids.get('Reply')}`)
  await value().waitFor()
  const session = await page.context().newCDPSession(page)
  await session.send('Emulation.setCPUThrottlingRate', { rate: SLOWER })
}, 240_000)
afterAll(() => studio?.close())

interface StoredBlock {
  readonly guid: string
  readonly title: string
  readonly description: string
  readonly in_pins: readonly { readonly id: string; readonly expression?: string; readonly value?: unknown }[]
}

async function stored(): Promise<StoredBlock[]> {
  const { body } = await studio.ask('GET', `/blueprints/${blueprint}/blocks`, { as: 'admin' })
  const records = Array.isArray(body) ? body : []
  return records.map((record) => {
    const { _meta: meta, unsaved, ...content } = JSON.parse(JSON.stringify(record))
    return { ...content, ...unsaved, guid: meta.guid }
  })
}

const reply = async () => (await stored()).find(({ guid }) => guid === guids.get('Reply'))
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
  expect((await stored()).length).toBe(2)
}

/** An empty field of the pin, which holds a value. */
async function emptied(): Promise<Locator> {
  if ((await textMode().getAttribute('aria-pressed')) === 'true') await textMode().click()
  if ((await mode().getAttribute('aria-pressed')) === 'true') await mode().click()
  await value().fill('')
  return value()
}

/** Types the text into one kind of field, and waits until it is stored. */
const kinds: Readonly<Record<string, (text: string, pace: { delay: number }) => Promise<void>>> = {
  async value(text, pace) {
    await (await emptied()).focus()
    await page.keyboard.type(text, pace)
    await eventually(async () => (await pin())?.value).toBe(text)
  },
  // The first key turns the field into an editor of expressions.
  async expression(text, pace) {
    await (await emptied()).focus()
    await page.keyboard.type(`="${text}"`, pace)
    await page.keyboard.press('Enter')
    await eventually(async () => (await pin())?.expression).toBe(`"${text}"`)
  },
  async text(text, pace) {
    await emptied()
    await textMode().click()
    await page.keyboard.type(text, pace)
    await eventually(async () => (await pin())?.expression).toBe(`\`${text}\``)
  },
  async comment(text, pace) {
    const comment = page.getByRole('textbox', { name: 'Comment' })
    await comment.fill('')
    await comment.focus()
    await page.keyboard.type(text, pace)
    await eventually(async () => (await reply())?.description).toBe(text)
  },
}

describe.each(paces)('at %i ms a key no character is lost', (delay, characters) => {
  test.each(Object.entries(kinds))(
    'of the %s',
    async (_, typed) => {
      await typed(words(characters), { delay })
      await expectNoCommand()
    },
    600_000,
  )
})

test('5,000 characters fit into one expression', async () => {
  const text = `"${words(5000)}"`
  await (await emptied()).fill(`=${text}`)
  await page.keyboard.press('Enter')
  await eventually(async () => (await pin())?.expression).toBe(text)
})
