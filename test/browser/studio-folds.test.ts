/** Frames and lanes are collapsed into one box and expanded again: by mouse, by keys, and by what leads into them. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { installBlueprint } from '../../src/flows/blueprints/install-blueprint.ts'
import { eventually } from './studio-eventually.ts'
import { openStudio, type StudioFixture } from './studio-fixture.ts'
import { expectNoProblem } from './studio-looks.ts'

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

let studio: StudioFixture
let page: Page
let guid = ''
beforeAll(async () => {
  studio = await openStudio()
  guid = await installBlueprint(studio.quoin.quoin.flows, file, { guid: '', username: 'admin' })
  page = await studio.open('admin', `blueprints/${guid}`, { viewport: { width: 2300, height: 1000 } })
  await titled('Answer').waitFor()
})
afterAll(() => studio?.close())

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
