/** What takes a person time, at the pace of a person: a signed webhook as docs/first-endpoint.md says, and a messy workbook of 500 rows on its way into a storage. */
import { readFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { guidOf, objectsOf } from '../end-to-end/harness.ts'
import { type LocalServer, startLocalServer } from '../local-server.ts'
import { messyWorkbook } from '../messy-workbook.ts'
import { type PacedHand, pacedHand } from './paced-hand.ts'
import { eventually } from './studio-eventually.ts'
import { administrator, studioOfSuite } from './studio-fixture.ts'
import { expectNoProblem, settled } from './studio-looks.ts'

// No key of secrets: the first start makes one.
const studio = studioOfSuite({ QUOIN_ALLOWED_HOSTS: '127.0.0.1' })

describe('a signed webhook that calls another server and waits for an approval is built and tried without a restart', () => {
  /** Seconds that a person reads a screen or a dialog which is new. */
  const READ = 3

  let bank: LocalServer
  let page: Page
  let hand: PacedHand
  const asked: string[] = []
  beforeAll(async () => {
    bank = await startLocalServer((request, response) => {
      asked.push(String(request.url))
      response.writeHead(200).end('{}')
    })
    page = await studio.open('admin', 'blueprints')
    hand = pacedHand(page)
  })
  afterAll(async () => {
    await bank?.close()
  })

  let screens = 0
  const dialog = () => page.getByRole('dialog')
  const value = (pin: string) => page.getByLabel(`Value of ${pin}`, { exact: true }).first()

  async function addAfter(pin: string, words: string): Promise<void> {
    await hand.click(page.getByRole('button', { name: `Add a block after ${pin}`, exact: true }))
    await dialog().getByRole('combobox', { name: 'Search blocks' }).waitFor()
    await hand.type(words, 'Enter')
    await dialog().waitFor({ state: 'detached' })
    screens += 1
  }

  /** Of a new block its first needed field. */
  const hasKeyboard = (pin: string) =>
    eventually(() => value(pin).evaluateAll((all) => all[0] === document.activeElement)).toBe(true)

  test('the flow is built, with a secret that is made in its field', async () => {
    await hand.click(page.getByRole('button', { name: 'New blueprint' }).first())
    await eventually(() => dialog().getByLabel('Name').count()).toBeGreaterThan(0)
    await hand.type('Payments', 'Enter')
    await hand.click(page.getByRole('button', { name: /^Choose a block/ }))
    await dialog().getByRole('combobox', { name: 'Search blocks' }).waitFor()
    await hand.type('register post', 'Enter')
    await dialog().waitFor({ state: 'detached' })
    await hasKeyboard('uri')
    await hand.type('payments')
    await hand.click(page.getByRole('combobox', { name: 'Who may call it' }))
    await hand.click(page.getByRole('option', { name: 'Everyone (public)' }))

    await addAfter('flow', 'check signature')
    await hand.click(page.getByRole('combobox', { name: /^Sender/ }))
    await hand.click(page.getByRole('option', { name: 'github' }))
    await hand.click(value('secret'))
    await hand.type('PAY_KEY')
    await hand.click(page.getByRole('button', { name: 'New secret PAY_KEY …' }).first())
    await hand.click(dialog().getByRole('textbox', { name: /^Value/ }))
    await hand.type('whsec_payments')
    await hand.click(dialog().getByRole('button', { name: 'Create' }))
    await dialog().waitFor({ state: 'detached' })

    await addAfter('valid', 'create document')
    await hasKeyboard('storage')
    await hand.type('payments')
    await hand.click(value('set'))
    await hand.type('=')
    await page.getByRole('textbox', { name: 'Expression of set' }).waitFor()
    await hand.type('body', 'Escape')
    // The list of completions has gone, and what it lay over is where it was.
    await page.locator('.cm-tooltip').waitFor({ state: 'detached' })

    await addAfter('flow', 'http request')
    await hand.click(value('url'))
    await hand.type(`${bank.url}/pay`)

    await addAfter('flow', 'wait for approval')
    await hasKeyboard('title')
    await hand.type('Payment')
    await hand.click(value('scopes'))
    await hand.type('["*loggedin"]')

    await addAfter('now', 'reply json')
    await hand.click(value('value'))
    await hand.type('waiting')
  }, 120_000)

  test('it is deployed, and answers a signed request that the server signs', async () => {
    await hand.click(page.getByRole('button', { name: 'Deploy and activate' }))
    await hand.click(dialog().getByRole('button', { name: 'Save, deploy and activate' }))
    await page.getByText('Active, version 1').waitFor()
    screens += 2
    await hand.click(page.getByRole('button', { name: 'Try it' }))
    const panel = page.getByRole('complementary', { name: 'Try it' })
    await hand.click(panel.getByRole('button', { name: 'Send POST' }))
    await panel.getByText('200', { exact: true }).waitFor()
    await eventually(() => asked).toEqual(['/pay'])
    expect(await studio.quoin.documents('payments')).toHaveLength(1)
    expect((await studio.ask('POST', '/payments', { body: {} })).status).toBe(401)
    expect(JSON.stringify(await studio.quoin.documents('_waits'))).toContain('Payment')
    expect(studio.complaints()).toEqual([])
  })

  test('at the pace of a person, with three seconds to read each new screen, it takes less than 90 s', async () => {
    const guide = await readFile(new URL('../../docs/first-endpoint.md', import.meta.url), 'utf8')
    expect(guide).toContain(hand.said())
    expect(hand.seconds + READ * screens).toBeLessThan(90)
  })
})

describe('a messy workbook is recognized, asked about, and mended in the dialog', () => {
  const ROWS = 500
  const known = ['Acme', 'Globex', 'שלום <b>']

  let page: Page
  let hand: PacedHand
  let storage: string
  beforeAll(async () => {
    const { quoin } = studio
    await quoin.manage('POST', '/_system/storages', { name: 'customers' })
    const customer = { name: 'name', type: 'string', storage: 'customers', unique: true, required: true }
    await quoin.manage('POST', '/blueprintfields', customer)
    for (const name of known) await quoin.manage('POST', '/_system/storages/customers/documents', { name })
    storage = guidOf(await quoin.manage('POST', '/_system/storages', { name: 'orders' }))
    const fields = [
      {
        name: 'customer',
        type: 'reference',
        reference: { storage: 'customers', on_delete: 'refuse' },
        required: true,
      },
      { name: 'number', type: 'string', unique: true },
      { name: 'amount', type: 'number' },
      { name: 'ordered', type: 'day' },
      { name: 'shipped', type: 'day' },
    ]
    for (const [order, field] of fields.entries())
      await quoin.manage('POST', '/blueprintfields', { ...field, order, storage: 'orders' })
    page = await studio.open('admin', `data/storages/${storage}`)
    hand = pacedHand(page)
  }, 300_000)

  /** Two customers that there are not, two ways to write a number and a day, and days that may mean two things. */
  function row(n: number): (string | number)[] {
    const customer = n % 40 === 7 ? 'Akme' : n % 90 === 11 ? 'Globecks' : (known[n % known.length] ?? '')
    const amount = n % 3 === 0 ? `1.${String(n).padStart(3, '0')},56` : '12,50 EUR'
    const ordered = n % 2 === 0 ? '31.01.2026' : '2026-02-01'
    return [customer, `A-${n}`, amount, ordered, '03/04/2026']
  }

  const workbook = () =>
    messyWorkbook([
      {
        name: 'Orders',
        title: 'Orders of 2026, as of February',
        rows: [
          ['Customer', 'Number', 'Amount', 'Ordered', 'Shipped'],
          ...Array.from({ length: ROWS }, (_none, n) => row(n)),
        ],
      },
      { name: 'Notes', rows: [['none']] },
    ])

  const dialog = () => page.getByRole('dialog')
  const count = async () =>
    objectsOf(
      await studio.quoin.manage('POST', '/_system/storages/orders/documents/search', { limit: 1_000 }),
    )

  /** What the browser keeps over a reload. */
  const storedCells = () =>
    page.evaluate(
      () =>
        new Promise<string>((resolve) => {
          const opening = indexedDB.open('quoin')
          opening.onsuccess = () => {
            const reading = opening.result.transaction('imports').objectStore('imports').getAll()
            reading.onsuccess = () => resolve(JSON.stringify(reading.result))
          }
        }),
    )

  async function choose(buffer: Buffer, name: string): Promise<void> {
    await hand.click(page.getByRole('button', { name: 'Import', exact: true }))
    const chooser = page.waitForEvent('filechooser')
    await hand.click(dialog().locator('button', { hasText: 'Choose a file' }))
    await (await chooser).setFiles({ name, mimeType: '', buffer })
  }

  test('line of names, sheet, numbers and days are recognized; what may mean two things is asked', async () => {
    await choose(await workbook(), 'orders.xlsx')
    // In the dialog of the system: the file, and Open.
    const preview = dialog().getByRole('table', { name: 'Preview' })
    await preview.getByText('1.000,56 → 1000.56').waitFor()
    expect(await dialog().getByLabel('Line with the names').inputValue()).toBe('3')
    expect(await dialog().getByLabel('Sheet').inputValue()).toBe('Orders')
    await preview.getByText('31.01.2026 → 2026-01-31').waitFor()
    await preview.getByText('03/04/2026 → 2026-04-03').waitFor()
    await preview.getByText('03/04/2026 → 2026-03-04').waitFor()
    await dialog().getByText('Choose how to read Shipped.').waitFor()
    expect(await dialog().getByRole('button', { name: 'Import' }).isDisabled()).toBe(true)
    await settled(page)
    await expectNoProblem(page, 'a question about days')
    hand.read()
    // The list is opened, and its entry clicked.
    await hand.click(preview.getByLabel('Format of Shipped'))
    await preview.getByLabel('Format of Shipped').selectOption('day/month/year')
    await eventually(() => preview.getByText('03/04/2026 → 2026-03-04').count()).toBe(0)
    await eventually(() => dialog().getByRole('button', { name: 'Import' }).isEnabled()).toBe(true)
    expect(await count()).toEqual([])
  })

  test('wrong cells are shown with line, column and value, and nothing is imported', async () => {
    await hand.click(dialog().getByRole('button', { name: 'Import' }))
    await dialog().getByText('Nothing was imported: 19 lines are refused.').waitFor()
    const lines = dialog().getByRole('list', { name: 'Refused lines' }).getByRole('listitem')
    await eventually(() => lines.count()).toBe(19)
    const shown = await lines.getByText(/^Line \d+$/).allTextContents()
    const wrong = Array.from({ length: ROWS }, (_none, n) => n).filter((n) => n % 40 === 7 || n % 90 === 11)
    expect(shown).toEqual(wrong.map((n) => `Line ${n + 4}`))
    expect(await dialog().getByLabel('Customer in line 11').inputValue()).toBe('Akme')
    await lines.first().getByText('names no document: customers has none with this name').waitFor()
    await lines.first().getByText('Number: A-7').waitFor()
    await expectNoProblem(page, 'refused lines')
    hand.read()
    expect(await count()).toEqual([])
  })

  test('refused lines stay when the dialog is closed', async () => {
    await dialog().getByRole('button', { name: 'Close' }).last().click()
    await page.getByText('19 lines of orders.xlsx are not imported yet.').waitFor()
    await page.getByRole('button', { name: 'Show' }).click()
    await dialog().getByText('Nothing was imported: 19 lines are refused.').waitFor()
  })

  test('refused lines and their file stay when the tab is reloaded', async () => {
    await dialog().getByLabel('Customer in line 11').fill('Reloaded')
    // It is stored a moment after it was typed.
    await eventually(storedCells).toContain('Reloaded')
    await page.reload()
    await page.getByText('19 lines of orders.xlsx are not imported yet.').waitFor()
    await page.getByRole('button', { name: 'Show' }).click()
    await dialog().getByText('Nothing was imported: 19 lines are refused.').waitFor()
    expect(await dialog().getByLabel('Customer in line 11').inputValue()).toBe('Reloaded')
    await dialog().getByLabel('Customer in line 11').fill('Akme')
  })

  test('the lines with their reasons can be downloaded', async () => {
    const download = page.waitForEvent('download')
    await dialog().getByRole('button', { name: 'Download these lines' }).click()
    const done = await download
    expect(done.suggestedFilename()).toBe('orders-refused.csv')
    const text = await readFile(await done.path(), 'utf8')
    expect(text.split('\r\n').slice(0, 2)).toEqual([
      '\ufeffCustomer,Number,Amount,Ordered,Shipped,_meta.line,_meta.reasons',
      'Akme,A-7,"12,50 EUR",2026-02-01,03/04/2026,11,The value of customer names no document: customers has none with this name.',
    ])
  })

  test('one correction mends all lines with the same text, and only these lines are sent again', async () => {
    const sent: { readonly isMended: boolean; readonly size: number }[] = []
    page.on('requestfinished', async (request) => {
      if (!request.url().includes('/documents/import')) return
      const { requestBodySize: size } = await request.sizes()
      sent.push({ isMended: request.url().includes('rows=arrays'), size })
    })
    for (const [line, wrong, right, alike] of [
      [11, 'Akme', 'Acme', 'Also in 12 lines with "Akme"'],
      [15, 'Globecks', 'Globex', 'Also in 5 lines with "Globecks"'],
    ] as const) {
      await hand.click(dialog().getByLabel(`Customer in line ${line}`).and(page.locator('input')))
      for (const _letter of wrong) await hand.type('', 'Backspace')
      await hand.type(right)
      await page.keyboard.press('Escape')
      await hand.click(dialog().getByRole('button', { name: alike }))
    }
    await hand.click(dialog().getByRole('button', { name: 'Import all lines' }))
    await dialog().getByText('500 documents imported.').waitFor()
    hand.read()
    const lines = (at: number) => JSON.stringify(row(at)).length + 1
    const mended = Array.from({ length: ROWS }, (_none, n) => n).filter((n) => n % 40 === 7 || n % 90 === 11)
    const most = mended.reduce((sum, n) => sum + lines(n), 100)
    await eventually(() => sent.map(({ isMended }) => isMended)).toEqual([false, true])
    expect(sent[1]?.size).toBeLessThan(most)
    const stored = await count()
    expect(stored).toHaveLength(ROWS)
    const seventh = stored.find(({ number }) => number === 'A-7')
    expect(seventh).toMatchObject({ amount: 12.5, ordered: '2026-02-01', shipped: '2026-04-03' })
    expect(stored.find(({ number }) => number === 'A-123')).toMatchObject({ amount: 1123.56 })
    expect(studio.complaints()).toEqual([])
  })

  test('at the pace of a person it takes less than a minute', () => {
    // The dialog of the system in which a file is chosen: two clicks and a look.
    const system = 5
    expect(hand.seconds + system).toBeLessThan(60)
  })

  test('all of it is undone with one click', async () => {
    await dialog().getByRole('button', { name: 'Undo the import' }).click()
    await dialog().getByText('Undone: 500 documents deleted.').waitFor()
    await dialog().getByRole('button', { name: 'Close' }).last().click()
    expect(await count()).toEqual([])
  })

  test('lines with markup, of thousands of characters and from right to left are shown as they are, and only the first 1,000', async () => {
    const attack = '<img src=x onerror="globalThis.hurt = 1">'
    const long = `${attack}\u05d0\u202e`.repeat(80)
    const lines = Array.from(
      { length: 1_050 },
      (_none, n) => `"${long.replaceAll('"', '""')}",${attack.length}${n}\n`,
    )
    await choose(
      Buffer.from(`Customer,Number\n${lines.join('')}`),
      `${attack}.csv`.replaceAll('"', "'").replaceAll('/', ''),
    )
    await dialog().getByRole('table', { name: 'Preview' }).waitFor()
    const send = dialog().getByRole('button', { name: 'Import' })
    await eventually(() => send.isEnabled()).toBe(true)
    // On a phone the dialog is longer than the screen, and its buttons are in sight.
    await page.setViewportSize({ width: 390, height: 700 })
    await eventually(async () => (await send.boundingBox())?.y ?? 700).toBeLessThan(650)
    await page.setViewportSize({ width: 1280, height: 800 })
    await send.click()
    await dialog().getByText('Nothing was imported: 1,000 lines are refused.').waitFor()
    const shown = dialog().getByRole('list', { name: 'Refused lines' }).getByRole('listitem')
    await eventually(() => shown.count()).toBe(25)
    await dialog().getByText('More than the first 1,000 lines may be refused.').waitFor()
    expect(await dialog().getByRole('button', { name: 'Import all but' }).isDisabled()).toBe(true)
    await page.setViewportSize({ width: 390, height: 800 })
    await expectNoProblem(page, 'refused lines on a phone')
    const { scroll, client }: { scroll: number; client: number } = await page.evaluate(
      '(({ scrollWidth: scroll, clientWidth: client }) => ({ scroll, client }))(document.documentElement)',
    )
    expect(scroll).toBeLessThanOrEqual(client)
    expect(await page.evaluate('globalThis.hurt')).toBeUndefined()
    // By the keyboard alone: the text of the cell is replaced, and the other lines with it.
    await dialog().getByLabel('Customer in line 2', { exact: true }).and(page.locator('input')).focus()
    await page.keyboard.press('Control+A')
    await page.keyboard.type('Acme')
    await page.keyboard.press('Escape')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await dialog().getByRole('button', { name: 'Import all lines' }).waitFor()
    await page.setViewportSize({ width: 1280, height: 800 })
    expect(await count()).toEqual([])
    expect(studio.complaints()).toEqual([])
  })

  test('refused lines do not stay for the next user of the tab', async () => {
    await dialog().getByRole('button', { name: 'Close' }).last().click()
    await page.getByText('are not imported yet.').waitFor()
    await page.getByRole('button', { name: /your account/ }).click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    await page.getByLabel('User name or e-mail').fill(administrator.username)
    await page.getByLabel('Password', { exact: true }).fill(administrator.password)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('button', { name: 'Import', exact: true }).waitFor()
    expect(await page.getByText('are not imported yet.').count()).toBe(0)
  })
})
