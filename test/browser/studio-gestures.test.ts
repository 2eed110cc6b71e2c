/**
 * What people do with a canvas without being told: drop on a wire, right-click, replace, find, duplicate; and two of them at one. How soon
 * the other one sees it: `npm run bench -- --only studio`.
 */
import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import { installBlueprint } from '../../src/flows/blueprints/install-blueprint.ts'
import { guidOf as guidIn, objectsOf } from '../end-to-end/harness.ts'
import { type StudioCanvas, studioCanvas } from './studio-canvas.ts'
import { eventually, press, textOf, textsOf } from './studio-eventually.ts'
import { goWithin, studioOfSuite } from './studio-fixture.ts'
import { expectNoProblem } from './studio-looks.ts'

const file = {
  name: 'Greeting',
  blocks: {
    get: { type: 'on_startup_register_uri_get', in: { uri: 'greeting' }, scopes: ['*public'] },
    store: { type: 'storage', fields: { storage: 'words' } },
    search: { type: 'function_search', in: { flow: '@get.flow', storage: '@store.storage' } },
    answer: { type: 'httpconnection_set_json', in: { flow: '@search.flow', value: 'Hello' } },
    call: { type: 'function_custom_execute', in: { flow: '@answer.flow', function: 'tidy_up' } },
    tidy: { type: 'trigger_custom_function', fields: { name: 'tidy_up' } },
    done: { type: 'function_return', in: { flow: '@tidy.flow' } },
  },
}

const other = {
  name: 'Morning',
  blocks: {
    every: { type: 'on_startup_register_uri_get', in: { uri: 'morning' }, scopes: ['*public'] },
    cleaning: {
      type: 'function_custom_execute',
      title: 'Tidy up',
      in: { flow: '@every.flow', function: 'tidy_up' },
    },
  },
}

const studio = studioOfSuite()
let page: Page
let canvas: StudioCanvas
beforeAll(async () => {
  await installBlueprint(studio.quoin.quoin.flows, other, { guid: '', username: 'admin' })
  const guid = await installBlueprint(studio.quoin.quoin.flows, file, { guid: '', username: 'admin' })
  page = await studio.open('admin', `blueprints/${guid}`, { viewport: { width: 1920, height: 1100 } })
  canvas = studioCanvas(page)
  await blocks().first().waitFor()
})

const blocks = () => page.locator('.react-flow__node-block')
const titled = (title: string) => page.locator(`.react-flow__node-block[aria-label^="${title}, block"]`)
const guidOf = async (title: string) => (await titled(title).getAttribute('data-id')) ?? ''
const wires = () =>
  page
    .locator('.react-flow__edge.wire-signal')
    .evaluateAll((all) => all.map((one) => one.getAttribute('data-id') ?? ''))
const menuItem = (name: string) => page.getByRole('menuitem', { name, exact: true })

/** The canvas draws what is in sight only. */
async function showAll(): Promise<void> {
  await page.getByRole('button', { name: 'Fit View' }).click()
  await titled('GET /greeting').waitFor()
}

/** A place on the wire between two blocks whose pins `flow` are on one line, once both have stopped moving. */
async function middleOfWire(from: string, to: string): Promise<{ x: number; y: number }> {
  let before = ''
  await eventually(async () => {
    const now = JSON.stringify([await titled(from).boundingBox(), await titled(to).boundingBox()])
    const stands = now === before
    before = now
    return stands
  }).toBe(true)
  const out = await titled(from).locator('.source[data-handleid="flow"]').boundingBox()
  const into = await titled(to).locator('.target[data-handleid="flow"]').boundingBox()
  return { x: ((out?.x ?? 0) + (into?.x ?? 0)) / 2 + 5, y: (out?.y ?? 0) + (out?.height ?? 0) / 2 }
}

test('a click on one of several selected blocks selects that one; with Shift, and after a move, they stay', async () => {
  const at = { position: { x: 90, y: 12 } }
  const selected = () => page.locator('.react-flow__node-block.selected').count()
  const [get, search] = [titled('GET /greeting'), titled('Search words')]
  await get.click(at)
  await search.click({ ...at, modifiers: ['Shift'] })
  await eventually(selected).toBe(2)
  const box = await search.boundingBox()
  const [x, y] = [(box?.x ?? 0) + 90, (box?.y ?? 0) + 12]
  await page.mouse.move(x, y)
  await page.mouse.down()
  await page.mouse.move(x + 60, y + 60, { steps: 5 })
  await page.mouse.up()
  await eventually(async () => (await search.boundingBox())?.y).not.toBe(box?.y)
  expect(await selected()).toBe(2)
  await search.click(at)
  await eventually(selected).toBe(1)
  await page.keyboard.press('Control+z')
  await eventually(async () => (await search.boundingBox())?.y).toBe(box?.y)
})

test('while the canvas is carried nothing in it is under the pointer; afterwards, and after a click, it is', async () => {
  const at = async () => {
    const box = await titled('GET /greeting').boundingBox()
    return { x: (box?.x ?? 0) + 90, y: (box?.y ?? 0) + 12 }
  }
  const isUnder = async () =>
    page.evaluate(
      ({ x, y }) => document.elementFromPoint(x, y)?.closest('.react-flow__node') !== null,
      await at(),
    )
  const { x, y } = await at()
  await titled('GET /greeting').click({ position: { x: 90, y: 12 } })
  // A hand that shakes clicks the canvas, which selects nothing.
  await page.mouse.move(x, y + 300)
  await page.mouse.down()
  await page.mouse.move(x + 1, y + 300)
  expect(await isUnder()).toBe(true)
  await page.mouse.up()
  await eventually(() => page.locator('.react-flow__node-block.selected').count()).toBe(0)
  await page.mouse.down()
  await page.mouse.move(x + 60, y + 340, { steps: 4 })
  await eventually(at).toEqual({ x: x + 60, y: y + 40 })
  expect(await isUnder()).toBe(false)
  await page.mouse.up()
  await eventually(isUnder).toBe(true)
  await titled('GET /greeting').click({ position: { x: 90, y: 12 } })
  await eventually(() => page.locator('.react-flow__node-block.selected').count()).toBe(1)
})

test('the end of a click that is told after the next press does not end the movement of that one', async () => {
  const box = await page.locator('.react-flow__pane').boundingBox()
  const [x, y] = [(box?.x ?? 0) + 20, (box?.y ?? 0) + (box?.height ?? 0) - 120]
  const reported = await page.evaluate(
    async ({ x, y }) => {
      const pane = document.querySelector('.react-flow__pane')
      const say = (type: string, at: Element | Window | null, dx = 0) => {
        const place = { clientX: x + dx, clientY: y, buttons: 1 }
        at?.dispatchEvent(new MouseEvent(type, { bubbles: true, view: window, ...place }))
        // No timer comes in between, but the next event is a later one.
        for (const now = performance.now(); performance.now() < now + 2; );
      }
      const isCarried = () => document.querySelector('[data-carried]') !== null
      say('mousedown', pane)
      say('mousemove', window, 1)
      say('mouseup', window, 1)
      say('mousedown', pane)
      await new Promise((resolve) => setTimeout(resolve, 50))
      say('mousemove', window, 40)
      const carried = isCarried()
      say('mouseup', window, 40)
      await new Promise((resolve) => setTimeout(resolve, 50))
      return { carried, afterwards: isCarried() }
    },
    { x, y },
  )
  expect(reported).toEqual({ carried: true, afterwards: false })
  await page.mouse.click(x, y)
})

test('a block from the palette that is dropped on a wire goes into it', async () => {
  const [search, answer] = [await guidOf('Search words'), await guidOf('Reply Hello')]
  const place = await middleOfWire('Search words', 'Reply Hello')
  const palette = page.getByRole('complementary', { name: 'Blocks to add' })
  await palette.getByRole('combobox').fill('log')
  const pane = await page.locator('.react-flow__pane').boundingBox()
  await palette.getByRole('option', { name: /^Log/ }).dragTo(page.locator('.react-flow__pane'), {
    targetPosition: { x: place.x - (pane?.x ?? 0), y: place.y - (pane?.y ?? 0) },
    force: true,
  })
  await titled('Log').waitFor()
  const log = await guidOf('Log')
  await eventually(wires).toEqual(
    expect.arrayContaining([`${search}|flow>${log}|flow`, `${log}|flow>${answer}|flow`]),
  )
  expect(await wires()).not.toContain(`${search}|flow>${answer}|flow`)
  // Behind it there is room for it.
  const [a, b] = [await titled('Log').boundingBox(), await titled('Reply Hello').boundingBox()]
  expect((b?.x ?? 0) - (a?.x ?? 0)).toBeGreaterThan(a?.width ?? Number.NaN)
})

test('a wire has a menu, which inserts what fits there', async () => {
  await showAll()
  const { x, y } = await middleOfWire('Log', 'Reply Hello')
  await page.mouse.click(x, y, { button: 'right' })
  await menuItem('Insert a block').click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('combobox').fill('custom function')
  // A trigger has no place in a wire.
  expect(await dialog.getByRole('option', { name: /^Custom function/ }).count()).toBe(0)
  await dialog
    .getByRole('option', { name: /^Call a custom function/ })
    .first()
    .click()
  await page.locator('.react-flow__node-block.selected').waitFor()
  await showAll()
  await eventually(() => blocks().count()).toBe(9)
  await page.keyboard.press('ControlOrMeta+z')
  await eventually(() => blocks().count()).toBe(8)
})

test('a block is replaced, and keeps what fits', async () => {
  const answer = await guidOf('Reply Hello')
  await titled('Reply Hello').click({ button: 'right', position: { x: 60, y: 12 } })
  await menuItem('Replace with …').click()
  const dialog = page.getByRole('dialog')
  await expectNoProblem(page, 'replace a block')
  await dialog.getByRole('combobox').fill('reply')
  await dialog
    .getByRole('option', { name: /^Reply(?! with)/ })
    .first()
    .click()
  await eventually(async () => (await canvas.block(answer).textContent()) ?? '').toContain('Reply · answer')
  await titled('Reply Hello').waitFor()
  await eventually(wires).toEqual(expect.arrayContaining([expect.stringContaining(`>${answer}|flow`)]))
  await page.getByText(/staged$/).waitFor()
})

test('a call leads to its function, and the function to its calls', async () => {
  await showAll()
  await titled('Call tidy_up').click({ button: 'right', position: { x: 60, y: 12 } })
  await menuItem('Go to tidy_up').click()
  await page.locator('.react-flow__node-block.selected[aria-label^="Function tidy_up"]').waitFor()
  await showAll()
  await titled('Function tidy_up').click({ button: 'right', position: { x: 60, y: 12 } })
  await menuItem('Find its calls').click()
  const calls = page.getByRole('dialog').getByRole('listitem')
  await eventually(textsOf(calls)).toEqual([
    'GreetingCustom function · tidy',
    'GreetingCall a custom function · call',
    'MorningTidy up · cleaning',
  ])
  await expectNoProblem(page, 'calls of a function')
  await calls.getByRole('button', { name: /· call$/ }).click()
  await page.locator('.react-flow__node-block.selected[aria-label^="Call tidy_up"]').waitFor()
})

test('one click goes to a call in another blueprint, and from there to the function', async () => {
  await page.getByText(/staged$/).waitFor()
  const address = page.url()
  await showAll()
  await titled('Function tidy_up').click({ button: 'right', position: { x: 60, y: 12 } })
  await menuItem('Find its calls').click()
  await page
    .getByRole('dialog')
    .getByRole('button', { name: /^Morning/ })
    .click()
  await page.locator('.react-flow__node-block.selected[aria-label^="Tidy up"]').waitFor()
  await titled('Tidy up').click({ button: 'right', position: { x: 60, y: 12 } })
  await menuItem('Go to tidy_up').click()
  await page.locator('.react-flow__node-block.selected[aria-label^="Function tidy_up"]').waitFor()
  expect(page.url().split('?')[0]).toBe(address.split('?')[0])
})

test('a storage is chosen in the block that uses it', async () => {
  await showAll()
  const store = await guidOf('words')
  await titled('words').click({ button: 'right', position: { x: 60, y: 12 } })
  await menuItem('Choose words in its blocks').click()
  await eventually(() => canvas.block(store).count()).toBe(0)
  await eventually(() => titled('Search words').getByLabel('Storage of storage').inputValue()).toBe('words')
})

test('Ctrl F finds blocks by what is in them', async () => {
  await page.locator('.react-flow__pane').click({ button: 'right', position: { x: 30, y: 700 } })
  await page.getByRole('menuitem', { name: /^Find/ }).waitFor()
  await expectNoProblem(page, 'menu of the canvas')
  await page.keyboard.press('Escape')
  await page.keyboard.press('ControlOrMeta+f')
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('combobox').fill('hello')
  await eventually(textsOf(dialog.getByRole('option'))).toEqual([expect.stringContaining('Reply Hello')])
  await expectNoProblem(page, 'find in a blueprint')
  await page.keyboard.press('Enter')
  await page.locator('.react-flow__node-block.selected[aria-label^="Reply Hello"]').waitFor()
})

test('Ctrl K finds functions and endpoints of all blueprints, and Enter goes to them', async () => {
  const palette = page.getByRole('dialog', { name: 'Search and commands' })
  await page.keyboard.press('ControlOrMeta+k')
  await page.keyboard.press('Escape')
  await palette.waitFor({ state: 'detached' })
  await page.keyboard.press('ControlOrMeta+k')
  await palette.getByRole('textbox').fill('tidy')
  await palette.getByRole('group', { name: 'Functions' }).getByRole('option', { name: 'tidy_up' }).waitFor()
  await page.keyboard.press('Enter')
  await page.locator('.react-flow__node-block.selected[aria-label^="Function tidy_up"]').waitFor()
  await page.keyboard.press('ControlOrMeta+k')
  await palette.getByRole('textbox').fill('get /morn')
  await palette.getByRole('option', { name: 'GET /morning' }).click()
  await page.locator('.react-flow__node-block.selected[aria-label^="GET /morning"]').waitFor()
})

test('a blueprint is duplicated, without what is only staged, and is not active', async () => {
  await goWithin(page, 'blueprints')
  await page.getByRole('button', { name: 'More about Greeting' }).click()
  await menuItem('Duplicate').click()
  await page.getByRole('link', { name: 'Greeting (copy)' }).waitFor()
  await page.getByRole('link', { name: 'Greeting (copy)' }).click()
  await eventually(() => blocks().count()).toBe(7)
  await page.getByText('Inactive').waitFor()
  expect(studio.complaints()).toEqual([])
})

describe('two people at one blueprint', () => {
  let ann: Page
  let ben: Page
  let blueprint: string
  let reply: string
  beforeAll(async () => {
    for (const user of ['ann', 'ben']) await studio.quoin.addUser(user, ['*'])
    blueprint = await studio.quoin.install('Greeting', {
      greet: {
        type: 'on_startup_register_uri_get',
        title: 'Greet',
        in: { uri: 'greeting-of-two' },
        scopes: ['*public'],
      },
      answer: {
        type: 'httpconnection_set_json',
        title: 'Answer',
        in: { flow: '@greet.flow', value: 'hello' },
      },
    })
    reply = guidIn((await blocks()).find(({ title }) => title === 'Answer'))
    ann = await studio.open('ann', `blueprints/${blueprint}?block=${reply}`)
    ben = await studio.open('ben', `blueprints/${blueprint}?block=${reply}`)
  }, 180_000)

  async function blocks() {
    return objectsOf(await studio.quoin.manage('GET', `/blueprints/${blueprint}/blocks`))
  }

  /** The field of the pin `value` of the block that both have open. */
  const value = (page: Page) => page.getByLabel('Value of value', { exact: true })

  /** What is staged of the reply, and by whom. */
  async function staged(): Promise<unknown> {
    const block = (await blocks()).find((one) => guidIn(one) === reply)
    return block?.unsaved
  }

  test('what one changes appears with the other, on the block and in the panel, with a name', async () => {
    await eventually(() => value(ben).inputValue()).toBe('hello')
    await value(ann).fill('hello from Ann')
    await eventually(() => value(ben).inputValue()).toBe('hello from Ann')
    await ben.getByText(/^Changed by ann at/).waitFor()
    await ben.getByText('1 staged').waitFor()
    expect((await studio.ask('GET', '/greeting-of-two')).body).toBe('hello')
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
    await value(ann).fill('Ann')
    // She types on while it is found out, and after it asks: no key of hers chooses, and none is lost.
    await ann.keyboard.type(' was here', { delay: 150 })
    const question = ann.getByRole('dialog')
    await question.getByText('Conflicting change').waitFor()
    expect(await value(ann).inputValue()).toBe('Ann was here')
    await ann.keyboard.type(' as')
    await ann.keyboard.press('Enter')
    await ann.keyboard.type(' well')
    expect(JSON.stringify(await staged())).toContain('Ben was here')
    await eventually(textOf(question)).toContain('Ben was here')
    await eventually(textOf(question)).toContain('Ann was here')
    await question.getByRole('button', { name: 'Keep mine' }).click()
    await eventually(async () => JSON.stringify(await staged())).toContain('Ann was here as well')
    await eventually(() => value(ben).inputValue()).toBe('Ann was here as well')
    expect(studio.complaints()).toEqual([])
  })

  test('a remark that one adds while the other moves one stays, also when that is undone', async () => {
    const path = `/blueprints/${blueprint}`
    /** The places of remarks by their texts. */
    async function remarks() {
      const { notes } = JSON.parse(JSON.stringify(await studio.quoin.manage('GET', path)))
      return new Map(objectsOf(notes).map(({ text, position }) => [text, JSON.stringify(position)]))
    }
    async function add(page: Page, text: string, y: number): Promise<void> {
      await page.locator('.react-flow__pane').click({ position: { x: 500, y } })
      await page.keyboard.press('n')
      await page.locator('.react-flow__node textarea:focus').waitFor()
      await page.keyboard.type(text)
      await page.keyboard.press('Escape')
    }
    await add(ann, 'Of Ann', 60)
    await ben.getByText('Of Ann').waitFor()
    const first = (await remarks()).get('Of Ann')
    // Her move cannot be stored at once: she reads his remark before.
    const reached = Promise.withResolvers<void>()
    let isAborted = false
    await ann.route(`**${path}`, async (route) => {
      if (isAborted || route.request().method() !== 'PUT') return route.fallback()
      isAborted = true
      await route.abort()
      reached.resolve()
    })
    await ann.locator('.react-flow__node-note').click()
    await ann.keyboard.press('ArrowRight')
    await reached.promise
    await add(ben, 'Of Ben', 300)
    await ann.getByText('Of Ben').waitFor()
    await eventually(async () => (await remarks()).get('Of Ann') !== first).toBe(true)
    await ann.unroute(`**${path}`)
    expect([...(await remarks()).keys()]).toEqual(['Of Ann', 'Of Ben'])
    await press(ann, 'Escape')
    await ann.getByRole('button', { name: 'Undo' }).click()
    await eventually(async () => (await remarks()).get('Of Ann') === first).toBe(true)
    expect([...(await remarks()).keys()]).toEqual(['Of Ann', 'Of Ben'])
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
})
