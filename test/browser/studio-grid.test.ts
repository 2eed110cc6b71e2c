/** The documents of a storage as a spreadsheet: what it shows, what keys and clicks store, and what is undone. */
import type { Page } from 'playwright-core'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { JsonObject } from '../../src/shared/json.ts'
import { guidOf, objectsOf } from '../end-to-end/harness.ts'
import { eventually, textOf } from './studio-eventually.ts'
import { studioOfSuite } from './studio-fixture.ts'
import { expectNoProblem, settled } from './studio-looks.ts'

const studio = studioOfSuite()
let page: Page
beforeAll(async () => {
  page = await studio.open('admin', 'nowhere')
}, 240_000)

describe('the grid', () => {
  let storage: string
  const guids: string[] = []

  const fields: readonly JsonObject[] = [
    { name: 'name', type: 'string', required: true, validation_rules: { max_length: 20 } },
    { name: 'price', type: 'decimal' },
    { name: 'built', type: 'integer' },
    { name: 'due', type: 'day' },
    { name: 'size', type: 'choice', validation_rules: { choices: ['S', 'M', 'L'] } },
    { name: 'sold', type: 'boolean' },
    { name: 'maker', type: 'reference', reference: { storage: 'makers' } },
    { name: 'doubled', type: 'number', computed: '(doc.price ?? 0) * 2' },
  ]

  beforeAll(async () => {
    const { quoin } = studio
    await quoin.manage('POST', '/_system/storages', { name: 'makers' })
    storage = guidOf(await quoin.manage('POST', '/_system/storages', { name: 'goods' }))
    for (const [i, field] of fields.entries())
      await quoin.manage('POST', '/blueprintfields', { ...field, storage: 'goods', order: i })
    const makers: string[] = []
    for (const name of ['Acme', 'Borg'])
      makers.push(guidOf(await quoin.manage('POST', '/_system/storages/makers/documents', { name })))
    for (const [i, name] of ['Bolt', 'Nut', 'Wheel'].entries()) {
      const fields = { name, price: 12_345.5 + i, built: 2020 + i, due: '2026-01-31', size: 'M', sold: false }
      const maker = makers[i % 2] ?? ''
      guids.push(
        guidOf(await quoin.manage('POST', '/_system/storages/goods/documents', { ...fields, maker })),
      )
    }
    await page.goto(`data/storages/${storage}?sort=built`)
  })

  const grid = () => page.getByRole('grid', { name: 'Documents of goods' })
  const cell = (row: number, column: string) =>
    page.locator(`[data-row="${row}"] [data-column="${fields.findIndex(({ name }) => name === column)}"]`)
  const stored = async (row: number) =>
    objectsOf([await studio.quoin.manage('GET', `/_system/storages/goods/documents/${guids[row]}`)])[0]
  const press = async (...keys: string[]) => {
    for (const key of keys) await page.keyboard.press(key)
  }

  beforeEach(async () => {
    await grid().waitFor()
    await cell(0, 'name').click()
  })

  describe('what it shows', () => {
    test('values by their types, references by name, and no problem', async () => {
      await eventually(textOf(cell(0, 'maker'))).toBe('Acme')
      expect(await textOf(cell(0, 'price'))()).toBe('12,345.50')
      expect(await textOf(cell(0, 'built'))()).toBe('2020')
      expect(await textOf(cell(0, 'due'))()).toBe('Jan 31, 2026')
      expect(await cell(0, 'price').locator('span').getAttribute('title')).toBe('12345.5')
      expect(await cell(0, 'doubled').getAttribute('aria-readonly')).toBe('true')
      expect(await grid().getAttribute('aria-rowcount')).toBe('4')
      await settled(page)
      await expectNoProblem(page, 'the grid')
    })
  })

  describe('a search for words', () => {
    test('offers the text index, which one click creates', async () => {
      const made = async () =>
        objectsOf([await studio.quoin.manage('GET', `/_system/storages/${storage}/advice`)])[0]?.text_index
      const create = page.getByRole('button', { name: 'Create a text index' })
      expect([await create.count(), await made()]).toEqual([0, false])
      await page.getByLabel('Search all text').fill('nut')
      await create.waitFor()
      await eventually(() => grid().getAttribute('aria-rowcount')).toBe('2')
      await expectNoProblem(page, 'offer of a text index')
      await create.click()
      await create.waitFor({ state: 'detached' })
      expect(await made()).toBe(true)
      await page.getByLabel('Search all text').fill('')
      await eventually(() => grid().getAttribute('aria-rowcount')).toBe('4')
    })
  })

  describe('keys of a spreadsheet', () => {
    test('typing replaces, Enter stores and goes down, Escape does not', async () => {
      await press('R', 'o', 'd', 'Enter')
      await eventually(async () => expect(await stored(0)).toMatchObject({ name: 'Rod', price: 12_345.5 }))
      expect(await grid().getAttribute('aria-activedescendant')).toBe('cell-1-0')
      await press('X', 'Escape', 'F2')
      expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('Nut')
      await press('Escape')
      expect(await stored(1)).toMatchObject({ name: 'Nut' })
    })

    test('a change of a field that others are computed from shows both', async () => {
      await press('ArrowRight', '7', 'Tab')
      await eventually(textOf(cell(0, 'doubled'))).toBe('14')
      expect(await grid().getAttribute('aria-activedescendant')).toBe('cell-0-2')
    })

    test('a box by Space, a choice and a reference by what is typed, Delete clears', async () => {
      await cell(1, 'sold').click()
      await press('Space')
      await cell(1, 'size').click()
      await press('L', 'Enter')
      await eventually(async () => expect(await stored(1)).toMatchObject({ sold: true, size: 'L' }))
      await settled(page)
      await cell(1, 'maker').click()
      await press('A', 'c')
      await page.getByRole('option', { name: 'Acme' }).waitFor()
      await eventually(() => page.getByRole('option').count()).toBe(1)
      await press('Enter')
      await cell(1, 'due').click()
      await press('Delete')
      await eventually(async () =>
        expect(await stored(1)).toMatchObject({ sold: true, size: 'L', due: null }),
      )
      await eventually(textOf(cell(1, 'maker'))).toBe('Acme')
      await settled(page)
    })

    /**
     * Requests of this kind take a second longer, until the function that it gives is called. The route stays: when one is taken
     * away while a request is on its way, that request never gets an answer (30 of 400 tries), and later writes wait for it.
     */
    async function slow(route: string, method: string): Promise<() => void> {
      let isOn = true
      await page.route(route, async (asked) => {
        if (isOn && asked.request().method() === method)
          await new Promise((resolve) => setTimeout(resolve, 1_000))
        // The page has given up some of them.
        await asked.continue().catch(() => undefined)
      })
      return () => {
        isOn = false
      }
    }

    test('a reference keeps what is typed while the cell before is being stored, and after', async () => {
      const end = await slow('**/documents/0*', 'PUT')
      await cell(1, 'size').click()
      await press('S', 'Enter')
      await cell(1, 'maker').click()
      await press('B')
      const input = page.locator('input[aria-label="Maker"]')
      await eventually(() => page.getByRole('option').allTextContents()).toEqual(['Borg'])
      await press('o')
      expect(await input.inputValue()).toBe('Bo')
      await eventually(async () => expect(await stored(1)).toMatchObject({ size: 'S' }))
      await settled(page)
      expect(await input.inputValue()).toBe('Bo')
      await press('Enter')
      await eventually(textOf(cell(1, 'maker'))).toBe('Borg')
      end()
      await settled(page)
    })

    test('Enter before a slow search has its answer takes the first of that answer', async () => {
      const end = await slow('**/documents/search', 'POST')
      await cell(0, 'maker').click()
      await press('B', 'o', 'Enter')
      await eventually(textOf(cell(0, 'maker'))).toBe('Borg')
      await cell(0, 'maker').click()
      await press('A', 'Enter')
      await eventually(textOf(cell(0, 'maker'))).toBe('Acme')
      end()
      await settled(page)
    })

    test.each(['size', 'maker'])('Enter twice leaves %s as it was', async (column) => {
      const before = await stored(1)
      await cell(1, column).click()
      await press('Enter')
      await page.getByRole('option').first().waitFor()
      await press('Enter')
      await page.getByRole('option').first().waitFor({ state: 'detached' })
      await settled(page)
      expect((await stored(1))?.[column]).toBe(before?.[column])
    })

    test('what Quoin writes is not edited', async () => {
      await cell(0, 'doubled').click()
      await press('9', 'Enter')
      expect(await page.getByRole('textbox', { name: 'Doubled' }).count()).toBe(0)
      expect(await stored(0)).toMatchObject({ doubled: 14 })
    })
  })

  describe('refused', () => {
    test('says why at the cell, keeps what was typed, and stores nothing', async () => {
      await press('Enter')
      await page.keyboard.type(' that is much too long')
      await press('Enter', 'ArrowUp')
      const problem = cell(0, 'name').getByRole('alert')
      await problem.waitFor()
      expect(await textOf(problem)()).toContain('20 characters')
      expect(await cell(0, 'name').getAttribute('aria-invalid')).toBe('true')
      await expectNoProblem(page, 'a refused cell')
      await press('F2')
      expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('Rod that is much too long')
      await press('Escape', 'Escape')
      await problem.waitFor({ state: 'detached' })
      expect([await textOf(cell(0, 'name'))(), await stored(0)]).toMatchObject(['Rod', { name: 'Rod' }])
    })

    test('what is no value of the field is not sent', async () => {
      await cell(0, 'price').click()
      await press('a', 'b', 'Enter', 'ArrowUp')
      await cell(0, 'price').getByText('The value is not a number.').waitFor()
      await press('Escape')
      expect(await stored(0)).toMatchObject({ price: 7 })
    })

    test('a cell that another user has changed is not written over; another cell of the row is', async () => {
      const path = `/_system/storages/goods/documents/${guids[2]}`
      await studio.quoin.manage('PUT', path, { name: 'Gear' })
      await cell(2, 'price').click()
      await press('8', 'Enter')
      await eventually(async () => expect(await stored(2)).toMatchObject({ name: 'Gear', price: 8 }))
      await eventually(textOf(cell(2, 'name'))).toBe('Gear')
      await studio.quoin.manage('PUT', path, { name: 'Cog' })
      await cell(2, 'name').click()
      await press('A', 'Enter')
      await cell(2, 'name').click()
      await cell(2, 'name').getByText('Another user has changed this cell. It holds "Cog" now.').waitFor()
      expect(await stored(2)).toMatchObject({ name: 'Cog' })
      await press('Enter', 'Enter')
      await eventually(async () => expect(await stored(2)).toMatchObject({ name: 'A' }))
    })
  })

  describe('while the list is read again', () => {
    const all = '/_system/storages/goods/documents'
    const addAbove = async (name: string) =>
      guidOf(await studio.quoin.manage('POST', all, { name, built: 1 }))
    /** As when its tab is looked at again, which does nothing for what was read a moment ago. */
    const readUntil = (shown: () => Promise<string | null>, text: string) =>
      eventually(async () => {
        await page.evaluate(() => dispatchEvent(new Event('visibilitychange')))
        return await shown()
      }).toBe(text)
    const rows = () => grid().getAttribute('aria-rowcount')

    test('what is typed, and the cursor, stay with their document', async () => {
      const neighbour = await stored(1)
      await cell(2, 'price').click()
      await press('5', '0')
      const first = await addAbove('First')
      await readUntil(textOf(cell(0, 'name')), 'First')
      await press('Enter')
      await eventually(async () => expect(await stored(2)).toMatchObject({ price: 50 }))
      await cell(3, 'due').click()
      const second = await addAbove('Second')
      await readUntil(rows, '6')
      await press('Delete')
      await eventually(async () => expect(await stored(2)).toMatchObject({ due: null }))
      expect(await stored(1)).toEqual(neighbour)
      for (const guid of [first, second]) await studio.quoin.manage('DELETE', `${all}/${guid}`)
      await readUntil(rows, '4')
    })

    test('a cell that changes while it is edited, or whose document goes, is not written', async () => {
      const [neighbour, other] = [await stored(0), await addAbove('Other')]
      await readUntil(textOf(cell(0, 'name')), 'Other')
      await cell(0, 'name').click()
      await press('A')
      await studio.quoin.manage('PUT', `${all}/${other}`, { name: 'Theirs', price: 9 })
      await readUntil(textOf(cell(0, 'price')), '9.00')
      await press('Enter')
      await cell(0, 'name').click()
      await cell(0, 'name').getByText('It holds "Theirs" now.').waitFor()
      await press('Escape', 'B')
      await studio.quoin.manage('DELETE', `${all}/${other}`)
      await readUntil(rows, '4')
      await page.getByText('The edit of a cell was not stored').waitFor()
      expect(await stored(0)).toEqual(neighbour)
    })
  })

  /** Puts text on the clipboard as a spreadsheet would, or tells what was put there. */
  const paste = (text: string) =>
    grid().evaluate((element, content) => {
      const data = new DataTransfer()
      data.setData('text/plain', content)
      element.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true }))
    }, text)

  const copied = () =>
    grid().evaluate((element) => {
      const data = new DataTransfer()
      element.dispatchEvent(new ClipboardEvent('copy', { clipboardData: data, bubbles: true }))
      return data.getData('text/plain')
    })

  describe('blocks of cells', () => {
    test('are copied as a spreadsheet takes them, and pasted from one', async () => {
      await press('Shift+ArrowRight', 'Shift+ArrowDown')
      expect(await copied()).toBe('Rod\t7\nNut\t12346.5')
      await paste('One\t1\nTwo\tx\nThree\t3\n')
      await eventually(async () => expect(await stored(2)).toMatchObject({ name: 'Three', price: 3 }))
      await eventually(async () => expect(await stored(0)).toMatchObject({ name: 'One', price: 1 }))
      // A cell that cannot be read leaves the others of its row alone.
      await eventually(async () => expect(await stored(1)).toMatchObject({ name: 'Two', price: 12_346.5 }))
      expect(await cell(1, 'price').getAttribute('aria-invalid')).toBe('true')
    })

    test('one value fills all cells that are selected', async () => {
      await cell(0, 'built').click()
      await press('Control+Shift+ArrowDown')
      await paste('1999')
      await eventually(async () => {
        for (const row of [0, 1, 2]) expect(await stored(row)).toMatchObject({ built: 1999 })
      })
    })

    test('rows below the last one become documents when that is confirmed, all or none', async () => {
      await cell(2, 'name').click()
      await paste('Three\t3\nFour\tx\nmuch too long to be a name\t5')
      const refused = page.getByRole('dialog', { name: 'Create 2 new documents?' })
      expect(await textOf(refused)()).toContain('row 1, price: “x”')
      await refused.getByRole('button', { name: 'Create' }).click()
      await refused.getByText('Line 2').waitFor()
      await refused.getByRole('button', { name: 'Cancel' }).click()
      await refused.waitFor({ state: 'detached' })
      await paste('Three\nFour\nFive')
      const dialog = page.getByRole('dialog', { name: 'Create 2 new documents?' })
      await dialog.getByRole('button', { name: 'Create' }).click()
      await dialog.waitFor({ state: 'detached' })
      await eventually(() => grid().getAttribute('aria-rowcount')).toBe('6')
      expect(studio.complaints()).toEqual([])
    })
  })
})

describe('undo; what another user has changed stays', () => {
  const guids: string[] = []
  beforeAll(async () => {
    const storage = guidOf(await studio.quoin.manage('POST', '/_system/storages', { name: 'tools' }))
    for (const [order, field] of [
      { name: 'n', type: 'integer' },
      { name: 'name', type: 'string' },
    ].entries())
      await studio.quoin.manage('POST', '/blueprintfields', { ...field, order, storage: 'tools' })
    for (const [n, name] of ['Bolt', 'Nut', 'Wheel'].entries())
      guids.push(guidOf(await studio.quoin.manage('POST', '/_system/storages/tools/documents', { n, name })))
    await page.goto(`data/storages/${storage}?sort=n`)
  })

  const cell = (row: number, column: number) => page.locator(`[data-row="${row}"] [data-column="${column}"]`)
  const undo = () => page.getByRole('button', { name: /^Undo the/ })
  const names = async () =>
    objectsOf(
      await studio.quoin.manage('POST', '/_system/storages/tools/documents/search', { sort: [{ n: 'asc' }] }),
    ).map(({ name }) => name ?? null)
  const others = (row: number, fields: Record<string, string>) =>
    studio.quoin.manage('PUT', `/_system/storages/tools/documents/${guids[row]}`, fields)
  const dialog = () => page.getByRole('dialog')
  const bar = () => page.getByRole('toolbar', { name: 'Selected documents' })

  async function type(row: number, text: string): Promise<void> {
    await cell(row, 1).click()
    await page.keyboard.type(text)
    await page.keyboard.press('Enter')
  }

  beforeEach(async () => {
    await page.getByRole('grid').waitFor()
    expect([await names(), await undo().count()]).toEqual([['Bolt', 'Nut', 'Wheel'], 0])
  })

  test('edits of cells go back one by one, the latest first', async () => {
    await type(0, 'Rod')
    await type(0, 'Bar')
    await type(1, 'Washer')
    await eventually(names).toEqual(['Bar', 'Washer', 'Wheel'])
    await undo().waitFor()
    await settled(page)
    await expectNoProblem(page, 'the grid with something to undo')
    await page.keyboard.press('Control+z')
    await eventually(names).toEqual(['Bar', 'Nut', 'Wheel'])
    await eventually(() => cell(1, 1).textContent()).toContain('Nut')
    await page.keyboard.press('Control+z')
    await eventually(names).toEqual(['Rod', 'Nut', 'Wheel'])
    await undo().click()
    await undo().waitFor({ state: 'detached' })
  })

  test('a write that is on its way is waited for', async () => {
    const held = Promise.withResolvers<void>()
    await page.route('**/documents/*', async (route) => {
      if (route.request().method() === 'PUT') await held.promise
      await route.continue()
    })
    const sent = page.waitForRequest((request) => request.method() === 'PUT')
    const written: string[] = []
    page.on('response', (response) => {
      if (/PUT|put-back/.test(`${response.request().method()} ${response.url()}`))
        written.push(response.request().postData() ?? '')
    })
    await type(0, 'Rod')
    await sent
    await page.keyboard.press('Control+z')
    held.resolve()
    // Not the notification: that of the undo before may be there still.
    await eventually(() => written).toEqual([expect.stringContaining('Rod'), expect.stringContaining('Bolt')])
    await page.unrouteAll({ behavior: 'wait' })
    expect(await names()).toEqual(['Bolt', 'Nut', 'Wheel'])
    await undo().waitFor({ state: 'detached' })
  })

  test('cells that are cleared together are one step', async () => {
    await cell(0, 1).click()
    await cell(2, 1).click({ modifiers: ['Shift'] })
    await page.keyboard.press('Delete')
    await eventually(names).toEqual([null, null, null])
    await page.getByRole('button', { name: 'Undo the change of 3 documents' }).waitFor()
    await page.keyboard.press('Control+z')
    await undo().waitFor({ state: 'detached' })
  })

  test('what another user has changed since is not overwritten, and named', async () => {
    await cell(0, 1).click()
    await cell(1, 1).click({ modifiers: ['Shift'] })
    await page.keyboard.press('Delete')
    await eventually(names).toEqual([null, null, 'Wheel'])
    await others(0, { name: 'Theirs' })
    await page.keyboard.press('Control+z')
    await page.getByText('Not all of it was undone').waitFor()
    await page.getByText(`${guids[0]}: It was changed since: name.`).waitFor()
    await settled(page)
    await expectNoProblem(page, 'an undo with a conflict')
    await page.locator('.mantine-Notification-closeButton').first().click()
    expect(await names()).toEqual(['Theirs', 'Nut', 'Wheel'])
    await others(0, { name: 'Bolt' })
    await undo().waitFor({ state: 'detached' })
  })

  test('a change of many and a removal of all are taken back', async () => {
    await page.getByRole('checkbox', { name: 'Select all rows of this page' }).click()
    await bar().getByRole('button', { name: 'Change a field' }).click()
    await dialog().getByRole('combobox', { name: 'Field' }).click()
    await page.getByRole('option', { name: 'Name' }).click()
    await dialog().getByRole('textbox', { name: 'Value' }).fill('Same')
    await dialog().getByRole('button', { name: 'Change' }).click()
    await dialog().waitFor({ state: 'detached' })
    expect(await names()).toEqual(['Same', 'Same', 'Same'])
    await page.getByRole('checkbox', { name: 'Select all rows of this page' }).click()
    await bar().getByRole('button', { name: 'Remove' }).click()
    await dialog().getByRole('button', { name: 'Remove' }).click()
    await dialog().waitFor({ state: 'detached' })
    expect(await names()).toEqual([])
    await page.getByText('No documents').waitFor()
    const written: string[] = []
    page.on('request', (request) => {
      if (/PUT|DELETE|restore|-many|put-back/.test(`${request.method()} ${request.url()}`))
        written.push(request.url().split('/').at(-1) ?? '')
    })
    await page.getByRole('button', { name: 'Undo the removal of 3 documents' }).click()
    await eventually(names).toEqual(['Same', 'Same', 'Same'])
    await page.getByRole('button', { name: 'Undo the change of 3 documents' }).waitFor()
    await page.getByRole('grid').focus()
    await page.keyboard.press('Control+z')
    await undo().waitFor({ state: 'detached' })
    expect(await names()).toEqual(['Bolt', 'Nut', 'Wheel'])
    await page.getByRole('button', { name: 'Redo the change of 3 documents' }).waitFor()
    await page.keyboard.press('Control+Shift+z')
    await undo().waitFor()
    expect(await names()).toEqual(['Same', 'Same', 'Same'])
    await page.getByRole('button', { name: 'Redo the removal of 3 documents' }).waitFor()
    await page.keyboard.press('Control+z')
    await undo().waitFor({ state: 'detached' })
    expect(await names()).toEqual(['Bolt', 'Nut', 'Wheel'])
    // One request each, however many documents.
    expect(written).toEqual(['put-back', 'put-back', 'put-back', 'put-back'])
    expect(studio.complaints()).toEqual([])
  })

  test('a document that was deleted meanwhile is named, and the others come back', async () => {
    await page.getByRole('checkbox', { name: 'Select all rows of this page' }).click()
    await bar().getByRole('button', { name: 'Remove' }).click()
    await dialog().getByRole('button', { name: 'Remove' }).click()
    await dialog().waitFor({ state: 'detached' })
    await studio.quoin.manage('DELETE', `/_system/storages/tools/documents/${guids[2]}?hard=true`)
    await undo().click()
    await page.getByText(`${guids[2]}: It was deleted since.`).waitFor()
    expect(await names()).toEqual(['Bolt', 'Nut'])
  })
})
