/** Two people at one blueprint: each sees what the other does, and no work is lost unseen. How soon: `npm run bench -- --only studio`. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { guidOf, objectsOf } from '../end-to-end/harness.ts'
import { studioCanvas } from './studio-canvas.ts'
import { eventually, press, textOf } from './studio-eventually.ts'
import { openStudio, type StudioFixture } from './studio-fixture.ts'

let studio: StudioFixture
let ann: Page
let ben: Page
let blueprint: string
let reply: string
beforeAll(async () => {
  studio = await openStudio()
  for (const user of ['ann', 'ben']) await studio.quoin.addUser(user, ['*'])
  blueprint = await studio.quoin.install('Greeting', {
    greet: {
      type: 'on_startup_register_uri_get',
      title: 'Greet',
      in: { uri: 'greeting' },
      scopes: ['*public'],
    },
    answer: {
      type: 'httpconnection_set_json',
      title: 'Answer',
      in: { flow: '@greet.flow', value: 'hello' },
    },
  })
  reply = guidOf((await blocks()).find(({ title }) => title === 'Answer'))
  ann = await studio.open('ann', `blueprints/${blueprint}?block=${reply}`)
  ben = await studio.open('ben', `blueprints/${blueprint}?block=${reply}`)
}, 180_000)
afterAll(() => studio?.close())

async function blocks() {
  return objectsOf(await studio.quoin.manage('GET', `/blueprints/${blueprint}/blocks`))
}

/** The field of the pin `value` of the block that both have open. */
const value = (page: Page) => page.getByLabel('Value of value', { exact: true })

/** What is staged of the reply, and by whom. */
async function staged(): Promise<unknown> {
  const block = (await blocks()).find((one) => guidOf(one) === reply)
  return block?.unsaved
}

test('what one changes appears with the other, on the block and in the panel, with a name', async () => {
  await eventually(() => value(ben).inputValue()).toBe('hello')
  await value(ann).fill('hello from Ann')
  await eventually(() => value(ben).inputValue()).toBe('hello from Ann')
  await ben.getByText(/^Changed by ann at/).waitFor()
  await ben.getByText('1 staged').waitFor()
  expect((await studio.ask('GET', '/greeting')).body).toBe('hello')
})

test('blocks that one adds or moves do so with the other, and his undo takes back only his own', async () => {
  const guid = await studioCanvas(ann).drag('log', { x: 300, y: 500 })
  await studioCanvas(ben).block(guid).waitFor()
  await value(ben).fill('hello from Ben')
  await eventually(staged).toMatchObject({ by: { username: 'ben' } })
  await eventually(() => ann.getByText('2 staged').isVisible()).toBe(true)
  await press(ben, 'Escape')
  await ben.getByRole('button', { name: 'Undo' }).click()
  await eventually(() => value(ben).inputValue()).toBe('hello from Ann')
  expect(await studioCanvas(ben).block(guid).count()).toBe(1)
})

test('both change the same block at once: nothing is overwritten until one of them says what stays', async () => {
  await studioCanvas(ann).choose(reply)
  // His change arrives after she has read the block and before hers is stored.
  await ann.route(
    '**/edits',
    async (route) => {
      await value(ben).fill('Ben was here')
      await eventually(async () => JSON.stringify(await staged())).toContain('Ben was here')
      await route.continue()
    },
    { times: 1 },
  )
  await value(ann).fill('Ann was here')
  const question = ann.getByRole('dialog')
  await question.getByText('Conflicting change').waitFor()
  expect(JSON.stringify(await staged())).toContain('Ben was here')
  await eventually(textOf(question)).toContain('Ben was here')
  await eventually(textOf(question)).toContain('Ann was here')
  await question.getByRole('button', { name: 'Keep mine' }).click()
  await eventually(async () => JSON.stringify(await staged())).toContain('Ann was here')
  await eventually(() => value(ben).inputValue()).toBe('Ann was here')
  expect(studio.complaints()).toEqual([])
})

test('an answer that is older than what was stored meanwhile takes nothing away', async () => {
  await studioCanvas(ann).choose(reply)
  await value(ann).fill('before')
  await eventually(async () => JSON.stringify(await staged())).toContain('before')
  // Ben's change makes the server answer with all blocks, and that answer is held up on its way to Ann.
  const asked = Promise.withResolvers<void>()
  const released = Promise.withResolvers<void>()
  const arrived = Promise.withResolvers<void>()
  const after = Promise.withResolvers<void>()
  let held = 0
  const all = `**/blueprints/${blueprint}/blocks`
  await ann.route(all, async (route) => {
    const response = await route.fetch()
    if (response.status() !== 200) return route.fulfill({ response })
    held += 1
    // What she asks for next would set right what the first answer did.
    if (held > 1) await after.promise
    else {
      asked.resolve()
      await released.promise
    }
    await route.fulfill({ response })
    if (held === 1) arrived.resolve()
  })
  await studioCanvas(ben).drag('log', { x: 500, y: 600 })
  await asked.promise
  await value(ann).fill('after')
  await eventually(async () => JSON.stringify(await staged())).toContain('after')
  released.resolve()
  await arrived.promise
  await ann.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 200))))
  expect(await value(ann).inputValue()).toBe('after')
  after.resolve()
  await ann.unroute(all)
})
