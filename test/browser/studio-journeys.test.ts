/** Journeys from nothing: the tasks API without a mouse, and what docs/grid.md and docs/canvas.md promise in the clicks and keys that they say. */
import { readFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import { guidOf, objectsOf } from '../end-to-end/harness.ts'
import { type PacedHand, pacedHand } from './paced-hand.ts'
import { eventually, press as pressIn, textsOf } from './studio-eventually.ts'
import { administrator, goWithin, studioOfSuite } from './studio-fixture.ts'
import { expectNoProblem, settled } from './studio-looks.ts'
import { pointerEvents, type StudioOutline, studioOutline, watchPointer } from './studio-outline.ts'

const studio = studioOfSuite()

describe('the tasks API without a mouse: every step is a key, from signing in to rolling back', () => {
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
})

describe('a storage becomes an API, pages, a chart and a card', () => {
  let page: Page
  beforeAll(async () => {
    page = await studio.open('admin', 'nowhere')
  }, 240_000)

  describe('a storage with three fields becomes a documented API and pages', () => {
    let guide: string
    let hand: PacedHand
    beforeAll(async () => {
      guide = await readFile(new URL('../../docs/grid.md', import.meta.url), 'utf8')
      await page.setViewportSize({ width: 1280, height: 800 })
      await goWithin(page, 'blueprints')
      hand = pacedHand(page)
    }, 300_000)

    async function field(name: string, kind?: string): Promise<void> {
      const input = page.getByLabel('New field')
      await eventually(() => input.evaluate((one) => one === document.activeElement)).toBe(true)
      await hand.type(name, kind === undefined ? 'Enter' : undefined)
      if (kind !== undefined) {
        await hand.click(page.getByRole('combobox', { name: 'Type' }))
        await hand.click(page.getByRole('option', { name: kind, exact: true }))
        await hand.click(page.getByRole('button', { name: 'Add', exact: true }))
      }
      await page.getByRole('table').getByText(name, { exact: true }).waitFor()
    }

    test('from nothing to an API', async () => {
      await hand.click(page.getByRole('link', { name: 'Data' }))
      await hand.click(page.getByRole('button', { name: 'New storage' }))
      await page.getByRole('dialog').getByLabel('Name').waitFor()
      await hand.type('goods', 'Enter')
      await field('name')
      await field('cost', 'Number')
      await field('ok', 'Yes or no')
      await hand.click(page.getByRole('button', { name: 'Make API' }))
      await hand.click(page.getByRole('button', { name: 'Make and activate' }))
      await page.waitForURL(/\/blueprints\/[0-9a-f-]{36}/)
      const made = await studio.ask('POST', '/goods', {
        as: 'admin',
        body: { name: 'Bolt', cost: 2, ok: true },
      })
      expect(made.status).toBe(201)
      expect((await studio.ask('POST', '/goods', { as: 'admin', body: { cost: 'x' } })).status).toBe(400)
      // Nothing is public that was not chosen to be.
      expect((await studio.ask('GET', '/goods')).status).toBe(404)
      const { body } = await studio.ask('GET', '/openapi.json', { as: 'admin' })
      expect(body).toHaveProperty(['paths', '/api/v1/goods', 'post'])
      const cost = ['components', 'schemas', 'GoodsDocument', 'properties', 'cost']
      expect(body).toHaveProperty(cost, { type: ['number', 'null'] })
      const storages = await studio.quoin.manage('POST', '/_system/storages/search', {})
      const goods = objectsOf(storages).filter(({ name }) => name === 'goods')
      expect(goods).toMatchObject([{ history: true }])

      expect(hand.clicks).toBeLessThanOrEqual(12)
      expect(hand.seconds).toBeLessThan(60)
      expect(guide).toContain(hand.said())
      expect(studio.complaints()).toEqual([])
    }, 120_000)

    test('and on to pages, which are tried', async () => {
      await hand.click(page.getByRole('link', { name: 'Data' }))
      await hand.click(page.getByRole('link', { name: 'goods', exact: true }).first())
      await hand.click(page.getByRole('button', { name: 'Make pages' }))
      await hand.click(page.getByRole('button', { name: 'Make and activate' }))
      await page.waitForURL(/\/blueprints\/[0-9a-f-]{36}/)
      const token = await studio.quoin.tokenOf('admin')
      await page
        .context()
        .addCookies([{ name: 'access_token', value: token, url: studio.address, httpOnly: true }])
      await page.goto(`${studio.address}/goods`)
      await hand.click(page.getByRole('link', { name: 'New', exact: true }))
      await hand.click(page.getByLabel('Name'))
      await hand.type('Nut')
      await hand.click(page.getByRole('main').getByRole('button').last())
      await page.getByText('Nut').first().waitFor()
      expect(hand.seconds).toBeLessThan(180)
      expect(guide).toContain(hand.said())
      const stored = await studio.ask('GET', '/goods', { as: 'admin' })
      expect(JSON.stringify(stored.body)).toContain('Nut')
      expect(studio.complaints()).toEqual([])
    }, 120_000)
  })

  describe('a list page with a chart by month and a card with the sum', () => {
    /** Seconds that a person reads a screen or a dialog which is new. */
    const READ = 3

    let guide: string
    let hand: PacedHand
    beforeAll(async () => {
      guide = await readFile(new URL('../../docs/canvas.md', import.meta.url), 'utf8')
      const { quoin } = studio
      const storage = 'contracts'
      await quoin.manage('POST', '/_system/storages', { name: storage })
      const fields = [
        { name: 'title', type: 'string' },
        { name: 'start', type: 'day' },
        { name: 'amount', type: 'decimal', validation_rules: { currency: 'EUR' } },
      ]
      for (const [order, field] of fields.entries())
        await quoin.manage('POST', '/blueprintfields', { ...field, storage, order })
      const contracts = [
        ['2026-01-10', 1000],
        ['2026-01-20', 500],
        ['2026-03-01', 144.5],
      ] as const
      for (const [start, amount] of contracts)
        await quoin.manage('POST', `/_system/storages/${storage}/documents`, {
          title: `From ${start}`,
          start,
          amount,
        })
      // What is before ends on a page of the cluster.
      await page.goto('data')
      hand = pacedHand(page)
    }, 300_000)

    const dialog = () => page.getByRole('dialog')
    const title = (text: string) => dialog().getByText(text, { exact: true })
    let screens = 0
    /** A person reads it. */
    const read = async (text: string) => {
      await title(text).waitFor()
      screens += 1
    }

    /** The page part of the type behind the block that is selected. */
    async function addPart(type: string): Promise<void> {
      await hand.click(page.getByRole('button', { name: 'Add a block after state' }))
      await eventually(() =>
        dialog()
          .getByRole('combobox')
          .evaluate((one) => one === document.activeElement),
      ).toBe(true)
      await hand.type(type, 'Enter')
    }

    test('pages of a storage, with a chart by month and a card with the sum', async () => {
      await hand.click(page.getByRole('link', { name: 'contracts', exact: true }).first())
      await hand.click(page.getByRole('button', { name: 'Make pages' }))
      await read('Make pages for contracts')
      await hand.click(page.getByRole('button', { name: 'Make and activate' }))
      await page.waitForURL(/\/blueprints\/[0-9a-f-]{36}/)
      screens += 1
      await hand.click(page.locator('.react-flow__node-block[aria-label^="Button"]').first())
      await addPart('chart')
      await read('What the chart shows')
      await dialog().getByText('Columns: month, sum_amount').waitFor()
      await settled(page)
      await expectNoProblem(page, 'the dialog of a chart')
      await hand.type('', 'Enter')
      await dialog().waitFor({ state: 'detached' })
      await addPart('card')
      await read('What the card shows')
      await dialog().getByText('Columns: sum_amount').waitFor()
      await hand.type('', 'Enter')
      await dialog().waitFor({ state: 'detached' })
      await hand.click(page.getByRole('button', { name: 'Deploy', exact: true }))
      screens += 1
      await hand.click(dialog().getByRole('button', { name: 'Save and deploy' }))
      await page.getByText('Active, version 2').waitFor()
    }, 120_000)

    test('visitors see them: bars with months, amounts in the currency of the field, and the table below', async () => {
      const token = await studio.quoin.tokenOf('admin')
      const reply = await fetch(`${studio.address}/contracts`, {
        headers: { cookie: `access_token=${token}` },
      })
      const html = await reply.text()
      expect(html).toContain('Sum of amount by month')
      expect(html).toContain('2026-01')
      expect(html).toContain('€1,500.00')
      expect(html).toContain('<p class="figure">€1,644.50</p>')
      expect(html).toContain('From 2026-03-01')
      expect(studio.complaints()).toEqual([])
    })

    test('at the pace of a person, with three seconds to read each new screen, it takes less than 90 s', () => {
      expect(guide).toContain(hand.said())
      expect(hand.seconds + READ * screens).toBeLessThan(90)
    })
  })
})
