/** What docs/canvas.md says of a list page with a chart and a card: made by lists, in the clicks and keys that it says. */
import { readFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type PacedHand, pacedHand } from './paced-hand.ts'
import { eventually } from './studio-eventually.ts'
import { openStudio, type StudioFixture } from './studio-fixture.ts'
import { expectNoProblem, settled } from './studio-looks.ts'

/** Seconds that a person reads a screen or a dialog which is new. */
const READ = 3

let studio: StudioFixture
let guide: string
let page: Page
let hand: PacedHand
beforeAll(async () => {
  guide = await readFile(new URL('../../docs/canvas.md', import.meta.url), 'utf8')
  studio = await openStudio()
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
  page = await studio.open('admin', 'data')
  hand = pacedHand(page)
}, 300_000)
afterAll(() => studio?.close())

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
  const reply = await fetch(`${studio.address}/contracts`, { headers: { cookie: `access_token=${token}` } })
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
