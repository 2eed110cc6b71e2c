/** Lanes, collapsed frames and warnings on the canvas, by mouse and by keys. */
import type { Locator, Page } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import { installBlueprint } from '../../src/flows/blueprints/install-blueprint.ts'
import { findRecords } from '../../src/records/records.ts'
import { setFields } from '../../src/shared/mutation.ts'
import { guidOf } from '../../src/storage/document-fields.ts'
import { systemStorages } from '../../src/storage/system-storages.ts'
import { transact } from '../../src/storage/transact.ts'
import { objectOf } from '../end-to-end/harness.ts'
import { eventually, textsOf } from './studio-eventually.ts'
import { goWithin, studioOfSuite } from './studio-fixture.ts'
import { expectNoProblem } from './studio-looks.ts'

const studio = studioOfSuite()
let page: Page
beforeAll(async () => {
  page = await studio.open('admin', 'nowhere')
}, 240_000)

describe('wires between lanes are told at their ends, and storages are chosen in their blocks', () => {
  /** One is so long that its block has no room for its kind. */
  const reply = (name: string) => `${name}_reply_of_the_lane${name === 'pears' ? '_of_pears' : ''}`
  const lane = (name: string) => ({
    [`${name}_get`]: { type: 'on_startup_register_uri_get', in: { uri: name }, scopes: ['*public'] },
    [`${name}_search`]: {
      type: 'function_search',
      in: {
        flow: `@${name}_get.flow`,
        storage: '@store.storage',
        limit: 3,
        offset: 0,
        where: '=doc.done == true',
      },
    },
    [reply(name)]: {
      type: 'httpconnection_set_json',
      title: `Reply with ${name}`,
      in: { flow: `@${name}_search.flow`, value: `@${name}_search.documents` },
    },
  })
  const names = ['apples', 'pears', 'plums', 'grapes']
  const file = {
    name: 'Fruit',
    blocks: {
      store: { type: 'storage', fields: { storage: 'fruit' } },
      ...Object.assign({}, ...names.map(lane)),
      shared: {
        type: 'function_console_log',
        title: 'Note it',
        // By each lane, so that the last one is far from it: lanes that share a step are side by side.
        in: { flow: names.map((name) => `@${reply(name)}.flow`) },
      },
    },
  }

  let guid = ''
  beforeAll(async () => {
    for (const name of ['fruit', 'bread']) await studio.quoin.manage('POST', '/_system/storages', { name })
    guid = await installBlueprint(studio.quoin.quoin.flows, file, { guid: '', username: 'admin' })
    await page.setViewportSize({ width: 1920, height: 1000 })
    await goWithin(page, `blueprints/${guid}`)
    await titled('GET /apples').waitFor()
  })

  const titled = (title: string) => page.locator(`.react-flow__node-block[aria-label^="${title}, block"]`)
  const chosen = (title: string) =>
    page.locator(`.react-flow__node-block.selected[aria-label^="${title}, block"]`)
  const lanes = () => page.getByRole('navigation', { name: 'Lanes' })
  const wires = () => page.locator('.react-flow__edge.wire-store').count()
  const storageOf = (title: string) => titled(title).getByLabel('Storage of storage')

  /** Texts that are wider or higher than their place. */
  const cut = (texts: Locator) =>
    texts.evaluateAll((all) =>
      all
        .filter((one) => one.scrollWidth > one.clientWidth + 1 || one.scrollHeight > one.clientHeight + 1)
        .map((one) => one.textContent),
    )

  test('the name of a block is whole where its kind is cut, and so is what the palette says of each block', async () => {
    const name = page.getByText('apples_reply_of_the_lane', { exact: true })
    await name.waitFor()
    expect(await cut(name)).toEqual([])
    expect(await cut(name.locator('xpath=preceding-sibling::*'))).toEqual(['Reply with JSON · '])
    const isSeen = (text: Locator) =>
      text
        .locator('xpath=preceding-sibling::*')
        .evaluate(
          (one) =>
            one.getBoundingClientRect().top < Number(one.parentElement?.getBoundingClientRect().bottom) - 2,
        )
    expect(await isSeen(name)).toBe(true)
    // One letter of the kind says nothing: then it is not there at all.
    const long = page.getByText('pears_reply_of_the_lane_of_pears', { exact: true })
    expect([await isSeen(long), await cut(long)]).toEqual([false, []])
    const options = page.getByRole('listbox', { name: 'Blocks' }).getByRole('option')
    expect(await options.count()).toBeGreaterThan(50)
    const words = options.locator('span').filter({ hasNot: page.locator('svg') })
    expect(await cut(words)).toEqual([])
    const signs = options.getByTitle(/^Gives \w+ \(\w+\): /)
    expect(await signs.count()).toBe(await options.locator('svg').count())
  })

  test('notices lie above the buttons of the canvas', async () => {
    const bottom = page.locator('.mantine-Notifications-root[data-position=bottom-left]')
    const edge = (of: Locator, side: 'top' | 'bottom') =>
      of.evaluate((one, name) => one.getBoundingClientRect()[name], side)
    const buttons = await edge(page.locator('.react-flow__controls'), 'top')
    expect(await edge(bottom, 'bottom')).toBeLessThanOrEqual(buttons)
  })

  test('a long wire to another lane is a name at both ends, which leads to the other one', async () => {
    await lanes().getByRole('button', { name: 'GET /grapes', exact: true }).click()
    const search = page
      .locator('.react-flow__node-block[aria-label*="grapes_search"], .react-flow__node-block')
      .filter({ hasText: 'grapes_search' })
    const stub = search.getByRole('button', { name: 'storage comes from fruit' })
    await stub.waitFor()
    expect(await wires()).toBe(0)
    await expectNoProblem(page, 'stubs of wires')
    await stub.click()
    await chosen('fruit').waitFor()
    // Of what is selected all wires are drawn.
    await eventually(wires).toBeGreaterThan(0)
    const list = titled('fruit').getByRole('button', { name: /^storage goes to \d blocks$/ })
    await list.focus()
    await page.keyboard.press('Enter')
    const items = page.getByRole('menuitem')
    await eventually(async () => (await textsOf(items)()).length).toBeGreaterThan(1)
    await eventually(() => items.first().evaluate((one) => one === document.activeElement)).toBe(true)
    await items.last().press('Enter')
    await page.locator('.react-flow__node-block.selected').filter({ hasText: 'grapes_search' }).waitFor()
  })

  test('a step of another lane is named too, and by keys one comes there', async () => {
    const stub = titled('Reply with grapes').getByRole('button', { name: 'flow goes to Note it' })
    await stub.focus()
    await page.keyboard.press('Enter')
    await chosen('Note it').waitFor()
  })

  test('a storage is chosen in the row of its block, in place of the wire', async () => {
    await lanes().getByRole('button', { name: 'GET /grapes', exact: true }).click()
    await page
      .locator('.react-flow__node-block')
      .filter({ hasText: 'grapes_search' })
      .click({ position: { x: 90, y: 12 } })
    const panel = page.getByRole('complementary', { name: 'Properties' })
    await panel.getByRole('button', { name: 'Choose the storage of storage here' }).click()
    const field = panel.getByLabel('Value of storage')
    await eventually(() => field.inputValue()).toBe('fruit')
    await field.click()
    await eventually(textsOf(page.getByRole('option', { name: /^(fruit|bread)$/ }))).toEqual(
      expect.arrayContaining(['fruit']),
    )
    await page.keyboard.press('Escape')
    const row = page
      .locator('.react-flow__node-block')
      .filter({ hasText: 'grapes_search' })
      .getByLabel('Storage of storage')
    expect(await row.inputValue()).toBe('fruit')
    await row.focus()
    await eventually(textsOf(row.locator('option'))).toEqual(['none', 'fruit', 'bread'])
    await row.selectOption('bread')
    await eventually(() => field.inputValue()).toBe('bread')
    await page.keyboard.press('ControlOrMeta+z')
    await eventually(() => storageOf('Search fruit').count()).toBe(0)
    expect(studio.complaints()).toEqual([])
  })

  test('on a phone the list of lanes goes when something else is looked at, and what is found is in sight', async () => {
    await page.setViewportSize({ width: 390, height: 844 })
    await goWithin(page, `blueprints/${guid}`)
    await titled('GET /apples').waitFor()
    const button = lanes().locator('button[aria-expanded]').first()
    const isOpen = () => button.getAttribute('aria-expanded')
    await button.click()
    await eventually(isOpen).toBe('true')
    // Nothing is selected yet: the panel rises with what is found, and the canvas gets lower.
    await page.keyboard.press('ControlOrMeta+f')
    await page.getByRole('combobox', { name: 'Find blocks' }).fill('grapes_reply')
    await page.keyboard.press('Enter')
    await eventually(isOpen).toBe('false')
    const ground = page.locator('.react-flow').first()
    await eventually(() => ground.evaluate((one) => one.clientHeight)).toBeLessThan(500)
    const hidden = async () => {
      const bottom = (of: Locator) => of.evaluateAll((all) => all[0]?.getBoundingClientRect().bottom ?? 9_999)
      return (await bottom(chosen('Reply with grapes'))) - (await bottom(ground))
    }
    await eventually(hidden).toBeLessThan(0)
    await button.click()
    await eventually(isOpen).toBe('true')
    await ground.click({ position: { x: 330, y: 15 } })
    await eventually(isOpen).toBe('false')
    expect(studio.complaints()).toEqual([])
  })
})

describe('frames and lanes are collapsed into one box and expanded again', () => {
  const log = (flow: string, title: string) => ({ type: 'function_console_log', title, in: { flow } })
  const file = {
    name: 'Orders',
    blocks: {
      ask: { type: 'on_startup_register_uri_get', in: { uri: 'orders' }, scopes: ['*public'] },
      first: log('@ask.flow', 'First step'),
      second: log('@first.flow', 'Second step'),
      reply: {
        type: 'httpconnection_set_json',
        title: 'Answer',
        in: { flow: '@second.flow', value: { done: true } },
      },
      other: { type: 'on_startup_register_uri_get', in: { uri: 'others' }, scopes: ['*public'] },
      last: { type: 'httpconnection_set_json', title: 'Other answer', in: { flow: '@other.flow', value: 1 } },
    },
    layout: {
      ask: [0, 0],
      first: [400, 0],
      second: [800, 0],
      reply: [1200, 0],
      other: [0, 500],
      last: [400, 500],
    },
    notes: [{ kind: 'group', text: 'Middle steps', color: 'blue', at: [370, -50], size: [720, 300] }],
  }

  let guid = ''
  beforeAll(async () => {
    guid = await installBlueprint(studio.quoin.quoin.flows, file, { guid: '', username: 'admin' })
    await page.setViewportSize({ width: 2300, height: 1000 })
    await goWithin(page, `blueprints/${guid}`)
    await titled('Answer').waitFor()
  })

  const titled = (title: string) => page.locator(`.react-flow__node-block[aria-label^="${title}, block"]`)
  const chosen = (title: string) =>
    page.locator(`.react-flow__node-block.selected[aria-label^="${title}, block"]`)
  const box = (name: string) => page.locator(`.react-flow__node-box[aria-label^="${name}, collapsed"]`)
  const wiresTo = (name: string) =>
    page
      .locator('.react-flow__edge.wire')
      .evaluateAll(
        (all, label) => all.filter((one) => one.getAttribute('aria-label')?.includes(label)).length,
        name,
      )
  const wires = () => page.locator('.react-flow__edge.wire').count()
  const stored = async () => {
    const blueprint = JSON.stringify(await studio.quoin.manage('GET', `/blueprints/${guid}`))
    return blueprint.split('"collapsed":').length - 1
  }

  test('a frame becomes one box with its count and its ways, and wires lead to it', async () => {
    const before = await wires()
    await page.getByRole('button', { name: 'Collapse Middle steps' }).click()
    await box('Middle steps').waitFor()
    expect(await box('Middle steps').textContent()).toContain('2 blocks')
    expect(await titled('First step').count()).toBe(0)
    // The wire between the two inside is not drawn; those to them and from them lead to the box.
    await eventually(wires).toBe(before - 1)
    expect(await wiresTo('flow')).toBeGreaterThan(0)
    expect(
      await box('Middle steps').locator('.react-flow__handle-left:not([data-handleid=other])').count(),
    ).toBe(1)
    expect(
      await box('Middle steps').locator('.react-flow__handle-right:not([data-handleid=other])').count(),
    ).toBe(1)
    await eventually(stored).toBe(1)
    await expectNoProblem(page, 'a collapsed frame')
    await page.reload()
    await box('Middle steps').waitFor()
    expect(await titled('First step').count()).toBe(0)
  })

  test('undo and redo', async () => {
    await box('Middle steps').click({ position: { x: 120, y: 12 } })
    await page.keyboard.press('c')
    await titled('First step').waitFor()
    await eventually(stored).toBe(0)
    await page.keyboard.press('ControlOrMeta+z')
    await box('Middle steps').waitFor()
    await page.keyboard.press('ControlOrMeta+Shift+z')
    await titled('First step').waitFor()
    await page.keyboard.press('ControlOrMeta+z')
    await box('Middle steps').waitFor()
    await eventually(stored).toBe(1)
  })

  test('it expands by its button with the keyboard, and by a double click', async () => {
    await page.getByRole('button', { name: 'Expand Middle steps' }).press('Enter')
    await titled('First step').waitFor()
    await page.getByRole('button', { name: 'Collapse Middle steps' }).press('Enter')
    await box('Middle steps').dblclick({ position: { x: 120, y: 30 } })
    await titled('First step').waitFor()
    await page.getByRole('button', { name: 'Collapse Middle steps' }).click()
    await box('Middle steps').waitFor()
  })

  test('a search leads into it, and it stays stored as collapsed', async () => {
    await eventually(stored).toBe(1)
    await page.keyboard.press('ControlOrMeta+f')
    await page.getByRole('combobox', { name: 'Find blocks' }).fill('Second step')
    await page.keyboard.press('Enter')
    await chosen('Second step').waitFor()
    expect(await stored()).toBe(1)
    await page.getByRole('button', { name: 'Collapse Middle steps' }).click()
    await box('Middle steps').waitFor()
  })

  test('a box is moved with what is inside, as one step of undo', async () => {
    const place = () => box('Middle steps').evaluate((one) => one.style.transform)
    const before = await place()
    await box('Middle steps').click({ position: { x: 120, y: 12 } })
    await box('Middle steps').press('ArrowDown')
    await eventually(place).not.toBe(before)
    await page.keyboard.press('ControlOrMeta+z')
    await eventually(place).toBe(before)
  })

  test('a box is removed with what is inside, and one undo brings all of it back', async () => {
    const before = await wires()
    await box('Middle steps').click({ position: { x: 120, y: 12 } })
    await page.keyboard.press('Delete')
    await box('Middle steps').waitFor({ state: 'detached' })
    await page.getByText('Removed with 2 blocks inside').waitFor()
    await eventually(stored).toBe(0)
    await eventually(() => page.locator('.react-flow__node-block').count()).toBe(4)
    await eventually(wires).toBe(before - 2)
    await page
      .getByText(/^\d staged$/)
      .first()
      .waitFor()
    await page.keyboard.press('ControlOrMeta+z')
    await box('Middle steps').waitFor()
    await eventually(wires).toBe(before)
    await eventually(stored).toBe(1)
    expect(await box('Middle steps').textContent()).toContain('2 blocks')
    // By its menu, too; a frame that is drawn in full goes alone.
    await box('Middle steps').click({ button: 'right', position: { x: 120, y: 12 } })
    await page.getByRole('menuitem', { name: 'Remove with its blocks' }).click()
    await box('Middle steps').waitFor({ state: 'detached' })
    await page.keyboard.press('ControlOrMeta+z')
    await box('Middle steps').dblclick({ position: { x: 120, y: 30 } })
    await titled('First step').waitFor()
    await page.keyboard.press('Delete')
    await eventually(() => page.getByRole('button', { name: 'Collapse Middle steps' }).count()).toBe(0)
    expect(await titled('First step').count()).toBe(1)
    await page.keyboard.press('ControlOrMeta+z')
    await page.getByRole('button', { name: 'Collapse Middle steps' }).click()
    await box('Middle steps').waitFor()
  })

  test('a lane collapses in the list of lanes, its wires to other lanes stay, and the list expands it', async () => {
    const lanes = page.getByRole('navigation', { name: 'Lanes' })
    await lanes.getByRole('button', { name: 'Collapse GET /others' }).click()
    await box('GET /others').waitFor()
    expect(await titled('Other answer').count()).toBe(0)
    await eventually(stored).toBe(2)
    await expectNoProblem(page, 'a collapsed lane')
    await lanes.getByRole('button', { name: 'Expand GET /others' }).click()
    await titled('Other answer').waitFor()
    await eventually(stored).toBe(1)
    expect(studio.complaints()).toEqual([])
  })

  test('blocks are arranged with the box as one of them', async () => {
    await page.locator('.react-flow__pane').click({ position: { x: 900, y: 700 } })
    await page.keyboard.press('l')
    const gap = async () => {
      const [one, two] = [await box('Middle steps').boundingBox(), await titled('Answer').boundingBox()]
      return one && two ? Math.round(((two.x - one.x) / one.width) * 10) : 0
    }
    await eventually(gap).toBeLessThan(20)
    await page.getByRole('button', { name: 'Expand Middle steps' }).click()
    await titled('First step').waitFor()
    const boxes = async () => {
      const all = await page.locator('.react-flow__node-block').all()
      return Promise.all(all.map((one) => one.boundingBox()))
    }
    const overlaps = async () => {
      const drawn = (await boxes()).flatMap((one) => (one ? [one] : []))
      return drawn.filter((a, at) =>
        drawn.some(
          (b, other) =>
            other > at &&
            a.x < b.x + b.width &&
            b.x < a.x + a.width &&
            a.y < b.y + b.height &&
            b.y < a.y + a.height,
        ),
      ).length
    }
    await eventually(overlaps).toBe(0)
    expect(studio.complaints()).toEqual([])
  })
})

describe('what is probably a mistake is said at the block, in the bar, beside the canvas and before a deploy', () => {
  const file = {
    name: 'Mails',
    blocks: {
      post: { type: 'on_startup_register_uri_post', in: { uri: 'mails' }, scopes: ['*loggedin'] },
      search: { type: 'function_search', in: { flow: '@post.flow', storage: 'mails' } },
      answer: { type: 'reply', in: { flow: '@search.flow', value: 'sent' } },
    },
  }

  beforeAll(async () => {
    const guid = await installBlueprint(studio.quoin.quoin.flows, file, { guid: '', username: 'admin' })
    await page.setViewportSize({ width: 1280, height: 800 })
    await goWithin(page, `blueprints/${guid}`)
    await titled('POST /mails').waitFor()
  })

  const titled = (title: string) => page.locator(`.react-flow__node-block[aria-label^="${title}, block"]`)
  const overview = () => page.getByRole('region', { name: 'Overview' })
  const inBar = () => page.getByRole('button', { name: /Show them\.$/ })

  test('a flow in order has no problems, and the bar is silent', async () => {
    await overview().getByRole('heading', { name: 'No problems' }).waitFor()
    expect(await inBar().count()).toBe(0)
  })

  test('a trigger that leads nowhere and steps that hang loose are told everywhere', async () => {
    await titled('Search mails').click({ position: { x: 60, y: 12 } })
    await page.keyboard.press('Delete')
    await inBar().waitFor()
    await page.locator('.react-flow__pane').click({ position: { x: 300, y: 600 } })
    const said = overview().getByRole('button')
    await eventually(textsOf(said)).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/POST \/mails.*nothing|POST \/mails.*leads|POST \/mails.*behind/i),
        expect.stringMatching(/Reply.*No trigger leads to this block/),
      ]),
    )
    expect(await overview().getByText('No problems').count()).toBe(0)
    // At the block too.
    await titled('POST /mails').locator('[data-level]').waitFor()
    await expectNoProblem(page, 'warnings in the bar')
    await page.getByRole('button', { name: 'Deploy', exact: true }).click()
    await page
      .getByRole('dialog')
      .getByText(/warning|problem/)
      .first()
      .waitFor()
    await page.keyboard.press('Escape')
  })

  test('the button in the bar leads to the list', async () => {
    await titled('POST /mails').click({ position: { x: 60, y: 12 } })
    await overview().waitFor({ state: 'detached' })
    await inBar().click()
    await overview()
      .getByRole('heading', { name: /warning|problem/ })
      .waitFor()
    await page.keyboard.press('ControlOrMeta+z')
    await overview().getByRole('heading', { name: 'No problems' }).waitFor()
    await eventually(() => inBar().count()).toBe(0)
    expect(studio.complaints()).toEqual([])
  })

  test('a setting that an earlier Quoin stored without its block having it is removed with a button', async () => {
    const { database } = studio.quoin.quoin.flows.records
    const query = { kind: 'term', field: 'type', value: 'reply' } as const
    const reply = () => findRecords(database.session(), systemStorages.blocks, query)
    const [stored] = await reply()
    const changes = setFields({ fields: { ...objectOf(stored?.fields), colour: 'red' } })
    await transact(database, (session) =>
      session.update(systemStorages.blocks, guidOf(stored ?? {}), changes),
    )
    await page.reload()
    await overview()
      .getByText(/no setting colour/)
      .click()
    await expectNoProblem(page, 'the button of a setting that is no setting')
    await page.getByRole('button', { name: 'Remove the setting colour' }).click()
    await eventually(async () => objectOf(objectOf((await reply())[0]?.unsaved).fields).colour).toBe(
      undefined,
    )
    await page.locator('.react-flow__pane').click({ position: { x: 300, y: 600 } })
    await overview().getByRole('heading', { name: 'No problems' }).waitFor()
    expect(studio.complaints()).toEqual([])
  })
})
