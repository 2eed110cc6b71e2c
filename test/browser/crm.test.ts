/** The example application in a real browser: every page, with JavaScript and without, by keyboard, and for each role. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { guidOf } from '../end-to-end/harness.ts'
import { type LocalServer, startLocalServer } from '../local-server.ts'
import { axeColourProblems, axeProblems } from './axe-check.ts'
import { type CrmFixture, openCrm } from './crm-fixture.ts'
import { eventually } from './studio-eventually.ts'

/** The first document of each kind, as `examples/crm/*.ndjson` have it. */
const customer = '/crm/customers/0190a001-0000-7000-8000-000000000001'
const contact = '/crm/contacts/0190a002-0000-7000-8000-000000000001'
const deal = '/crm/deals/0190a003-0000-7000-8000-000000000002'

const reading: readonly [path: string, heading: string][] = [
  ['/crm', 'Dashboard'],
  ['/crm/customers', 'Customers'],
  [`${customer}/view`, 'Alder & Finch Bakery'],
  ['/crm/contacts', 'Contacts'],
  [`${contact}/view`, 'Mats Tremlett'],
  ['/crm/deals', 'Deals'],
  [`${deal}/view`, 'New till system'],
]
const writing: readonly [path: string, heading: string][] = [
  ['/crm/customers/new', 'New customer'],
  [`${customer}/edit`, 'Alder & Finch Bakery'],
  [`${customer}/new-contact`, 'New contact'],
  [`${customer}/new-deal`, 'New deal'],
  [`${contact}/edit`, 'Mats Tremlett'],
  [`${deal}/edit`, 'New till system'],
  ['/crm/import', 'Import customers'],
]

/** Dashboard, list, document, form and upload. */
const isOfItsKind = ([path]: readonly [path: string, heading: string]) =>
  ['/crm', '/crm/customers', `${customer}/view`, '/crm/customers/new', '/crm/import'].includes(path)

let crm: CrmFixture
let others: LocalServer
const reported: string[] = []
beforeAll(async () => {
  others = await startLocalServer((request, response) => {
    request.setEncoding('utf8')
    let body = ''
    request.on('data', (chunk: string) => {
      body += chunk
    })
    request.on('end', () => {
      reported.push(body)
      response.end('thanks')
    })
  })
  crm = await openCrm({ QUOIN_ALLOWED_HOSTS: `127.0.0.1:${others.port}` })
}, 120_000)
afterAll(async () => {
  await crm?.close()
  await others?.close()
})

const heading = (page: Page) => page.getByRole('heading', { level: 1 })

describe('every page', () => {
  test.each([true, false])(
    'is complete and accessible: JavaScript %j',
    async (javaScriptEnabled) => {
      const page = await crm.open('chief', { javaScriptEnabled })
      const all = [...reading, ...writing, ['/crm/settings', 'Settings'] as const]
      // The server sends the same bytes to both: without scripts one page of each kind is drawn, and filled in below.
      for (const [path, words] of javaScriptEnabled || inject('thorough') ? all : all.filter(isOfItsKind)) {
        const reply = await page.goto(path)
        expect([path, reply?.status(), await heading(page).allTextContents()]).toEqual([path, 200, [words]])
        // axe waits with timers, which a page without JavaScript does not have.
        if (javaScriptEnabled) expect([path, await axeProblems(page)]).toEqual([path, []])
      }
      expect(crm.complaints()).toEqual([])
      await page.context().close()
    },
    180_000,
  )

  test('has no problem in the dark and on a phone either', async () => {
    const problems = inject('thorough') ? axeProblems : axeColourProblems
    const page = await crm.open('sales', { colorScheme: 'dark', viewport: { width: 390, height: 844 } })
    for (const [path] of reading) {
      await page.goto(path)
      expect([path, await problems(page)]).toEqual([path, []])
      const wide = await page.evaluate('document.documentElement.scrollWidth - innerWidth')
      expect([path, Number(wide) <= 0]).toEqual([path, true])
    }
    await page.context().close()
  }, 120_000)

  test('of what is not there says so', async () => {
    const page = await crm.open('viewer')
    for (const kind of ['customer', 'contact', 'deal']) {
      const reply = await page.goto(`/crm/${kind}s/nothing/view`)
      expect([reply?.status(), await heading(page).textContent()]).toEqual([404, `There is no such ${kind}`])
    }
    await page.context().close()
  })
})

describe('roles', () => {
  test('no visitor is asked to sign in', async () => {
    const page = await crm.open(undefined)
    for (const [path] of [...reading, ...writing]) {
      // Without drawing it: with the cookies of the browser.
      const reply = await page.request.get(path)
      expect(new URL(reply.url()).pathname).toBe('/login')
    }
    await page.context().close()
  }, 60_000)

  test.each(['viewer', 'sales'] as const)('%s', async (user) => {
    const page = await crm.open(user)
    const seen: (number | undefined)[] = []
    for (const paths of [reading, writing, [['/crm/settings']]])
      for (const [path = ''] of paths) seen.push((await page.request.get(path)).status())
    const may = user === 'sales' ? 200 : 403
    expect(seen).toEqual([...reading.map(() => 200), ...writing.map(() => may), 403])
    await page.context().close()
  })
})

/** Presses Tab until what is in focus says these words. */
async function tabTo(page: Page, words: string): Promise<void> {
  const label = `(() => { const at = document.activeElement; return (at?.labels?.[0] ?? at)?.innerText ?? '' })()`
  for (let pressed = 0; pressed < 80; pressed += 1) {
    await page.keyboard.press('Tab')
    if (String(await page.evaluate(label)).startsWith(words)) return
  }
  throw new Error(`Tab does not reach ${words} at ${page.url()}.`)
}

describe('work', () => {
  test('a customer is added with the keyboard alone, also after a mistake', async () => {
    const page = await crm.open('sales')
    await page.goto('/crm/customers')
    await tabTo(page, 'New customer')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'New customer' }).waitFor()
    await tabTo(page, 'Website')
    await page.keyboard.type('no address')
    await page.keyboard.press('Enter')
    await page.locator('.summary').waitFor()
    await page.locator('.summary:focus').waitFor()
    await tabTo(page, 'Name')
    await page.keyboard.press('Enter')
    await page.locator('input:focus').waitFor()
    await page.keyboard.type('Zebra Crossing Paint')
    await tabTo(page, 'Website')
    await page.keyboard.press('ControlOrMeta+a')
    await page.keyboard.type('https://zebra.example')
    await tabTo(page, 'Add customer')
    await page.keyboard.press('Enter')
    await page.getByText('The customer was added.').waitFor()
    const made = (await crm.quoin.documents('crm-customers')).at(-1)
    expect(made).toMatchObject({
      name: 'Zebra Crossing Paint',
      status: 'Lead',
      website: 'https://zebra.example',
    })
    expect(crm.complaints()).toEqual([])
    await page.context().close()
  }, 60_000)

  test.each([true, false])(
    'from a new customer to a deal that is won and told: JavaScript %j',
    async (javaScriptEnabled) => {
      const chief = await crm.open('chief', { javaScriptEnabled })
      await chief.goto('/crm/settings')
      await chief.getByLabel('Address for won deals').fill(`${others.url}/won`)
      await chief.getByRole('button', { name: 'Save' }).click()
      await chief.getByText('The settings were saved.').waitFor()
      await chief.context().close()

      const page = await crm.open('sales', { javaScriptEnabled })
      const name = `Larch & Sons ${javaScriptEnabled}`
      for (const message of ['The customer was added.', 'There is a customer of this name already.']) {
        await page.goto('/crm/customers/new')
        await page.getByLabel('Name').fill(name)
        await page.getByRole('button', { name: 'Add customer' }).click()
        await page.getByText(message).first().waitFor()
      }
      await page.goto(`/crm/customers?customers.q=${encodeURIComponent(name)}`)
      await page.getByRole('link', { name }).click()
      await page.getByRole('link', { name: 'New contact' }).click()
      await page.getByLabel('Name').fill('Ida Larch')
      await page.getByRole('button', { name: 'Add contact' }).click()
      await page.getByRole('rowheader', { name: 'Ida Larch' }).waitFor()
      await page.getByRole('link', { name: 'New deal' }).click()
      await page.getByLabel('Title').fill('Fence paint')
      await page.getByLabel('Amount in euros').fill('1250')
      await page.getByLabel('Closes by').fill('2099-01-31')
      await page.getByRole('button', { name: 'Add deal' }).click()
      await page.getByRole('link', { name: 'Fence paint' }).click()
      await page.getByRole('link', { name: 'Edit or move' }).click()
      const before = reported.length
      await page.getByRole('button', { name: 'Won' }).first().click()
      await page.getByRole('dialog').getByRole('button', { name: 'Won' }).click()
      await page.getByText('Well done: the deal is won.').waitFor()
      await eventually(() => reported.length).toBe(before + 1)
      expect(JSON.parse(reported.at(-1) ?? '')).toMatchObject({
        event: 'deal.won',
        deal: { title: 'Fence paint', stage: 'Won', amount: 1250, customer_name: name },
      })

      await page.getByRole('link', { name }).click()
      await page.getByRole('link', { name: 'Edit' }).click()
      await page.getByLabel('Name').fill(`${name} Ltd`)
      await page.getByRole('button', { name: 'Save' }).click()
      await page.getByText('The customer was saved.').waitFor()
      const named = async () =>
        [...(await crm.quoin.documents('crm-contacts')), ...(await crm.quoin.documents('crm-deals'))].filter(
          (one) => one.customer_name === `${name} Ltd`,
        ).length
      await eventually(named).toBe(2)
      expect(crm.complaints()).toEqual([])
      await page.context().close()
    },
    120_000,
  )

  test('a change that another user saved meanwhile is not lost', async () => {
    const mine = await crm.open('sales')
    const theirs = await crm.open('chief')
    for (const page of [mine, theirs]) await page.goto(`${contact}/edit`)
    await theirs.getByLabel('Role').fill('Director')
    await theirs.getByRole('button', { name: 'Save' }).click()
    await theirs.getByText('The contact was saved.').waitFor()
    await mine.getByLabel('Role').fill('Trainee')
    await mine.getByRole('button', { name: 'Save' }).click()
    await mine.getByText('Another user saved a change').first().waitFor()
    await eventually(() => mine.getByLabel('Role').inputValue()).toBe('Trainee')
    const [first] = (await crm.quoin.documents('crm-contacts')).filter((one) => contact.endsWith(guidOf(one)))
    expect(first?.role).toBe('Director')
    for (const page of [mine, theirs]) await page.context().close()
  }, 60_000)

  test.each([true, false])(
    'customers come in as a file, all or none: JavaScript %j',
    async (javaScriptEnabled) => {
      const page = await crm.open('sales', { javaScriptEnabled })
      const send = async (name: string, text: string | Buffer) => {
        await page.goto('/crm/import')
        await page
          .getByLabel('CSV file')
          .setInputFiles({ name, mimeType: 'text/csv', buffer: Buffer.from(text) })
        await page.getByRole('button', { name: 'Import' }).click()
      }
      const names = async () => (await crm.quoin.documents('crm-customers')).map(({ name }) => name)
      const before = await names()
      const [one, two] = [`Möbel Krüger ${javaScriptEnabled}`, `Fenn "& Sons" ${javaScriptEnabled}`]
      for (const [text, said] of [
        ['name\n"open', 'a quote in line 2 that is never closed'],
        [Buffer.from([0x6e, 0x0a, 0xff, 0xfe]), 'is not UTF-8 text'],
        [`city\nYork`, 'Row 1: name is required'],
        [`name,status\n${one},Lead\n${two},Asleep`, 'Row 2: status'],
      ] as const) {
        await send('bad.csv', text)
        await page.getByText(said).first().waitFor()
        expect(await names()).toEqual(before)
      }
      const [there] = before
      await send(
        'good.csv',
        `Name;Status;City;Customer since\r\n${one};Active;Köln;2024-03-01\r\n"${two.replaceAll('"', '""')}";;;\r\n${there};;;\r\n`,
      )
      await page.getByText('Customers added: 2 of 3 rows.').waitFor()
      const made = (await crm.quoin.documents('crm-customers')).slice(before.length)
      expect(made).toMatchObject([
        { name: one, status: 'Active', city: 'Köln', since: '2024-03-01' },
        { name: two, status: 'Lead' },
      ])
      expect(crm.complaints()).toEqual([])
      await page.context().close()
    },
    60_000,
  )

  test('who may only read is not shown what they may not do', async () => {
    const page = await crm.open('viewer')
    await page.goto('/crm/customers')
    expect(await page.getByRole('link', { name: 'New customer' }).count()).toBe(0)
    await page.goto(`${contact}/view`)
    expect(await page.getByRole('link', { name: 'Edit' }).count()).toBe(0)
    await page.context().close()
  })

  test('a lead that comes in is seen at once', async () => {
    const page = await crm.open('viewer')
    const events = page.waitForResponse((reply) => reply.request().resourceType() === 'eventsource')
    await page.goto('/crm/customers?customers.is.status=Lead&customers.sort=name')
    // A stream does not send earlier changes.
    await events
    const lead = { company: 'Aardvark Removals', name: 'Art Vark', email: 'art@aardvark.example' }
    const refused = await crm.quoin.send('POST', '/crm/leads', { as: 'viewer', body: lead })
    expect(refused.status).toBeGreaterThanOrEqual(400)
    expect((await crm.quoin.send('POST', '/crm/leads', { as: 'website', body: {} })).status).toBe(400)
    expect((await crm.quoin.send('POST', '/crm/leads', { as: 'website', body: lead })).status).toBe(201)
    await page.getByRole('rowheader', { name: 'Aardvark Removals' }).waitFor()
    expect((await crm.quoin.documents('crm-contacts')).at(-1)).toMatchObject({
      name: 'Art Vark',
      customer_name: 'Aardvark Removals',
    })
    await page.context().close()
  }, 60_000)
})
