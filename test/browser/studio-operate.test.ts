/** Screens of Operate: values of the environment, charts, backups, settings, alerts, extensions and spaces, each made, read and changed by a person. */

import { mkdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { writeTemplate } from '../../src/cli/extensions/extension-template.ts'
import { addFigures } from '../../src/records/figures/figure-documents.ts'
import { guidOf, objectOf, objectsOf } from '../end-to-end/harness.ts'
import { type MailServer, openMailServer } from '../mail-server.ts'
import { axeProblems } from './axe-check.ts'
import { studioCanvas } from './studio-canvas.ts'
import { eventually, press, textOf, textsOf } from './studio-eventually.ts'
import { goWithin, openStudio, type StudioFixture } from './studio-fixture.ts'
import { expectNoProblem } from './studio-looks.ts'

/** Not there before the test of extensions. */
const folder = join(tmpdir(), `quoin-blocks-${process.pid}`)
let mails: MailServer
let studio: StudioFixture
let page: Page
beforeAll(async () => {
  mails = await openMailServer({ authOptional: true, hideSTARTTLS: true })
  studio = await openStudio({
    QUOIN_STREAMS: '1234',
    QUOIN_BLOCKS: folder,
    QUOIN_METRICS_TOKEN: 'a-token-of-the-metrics',
    QUOIN_MAIL_URL: `smtp://127.0.0.1:${mails.port}?tls=off`,
    QUOIN_MAIL_FROM: 'quoin@example.org',
  })
  page = await studio.open('admin', 'nowhere')
}, 240_000)
afterAll(async () => {
  await studio?.close()
  await mails?.close()
})

describe('values of the environment, which expressions are offered', () => {
  let blueprint = ''
  beforeAll(async () => {
    blueprint = await studio.quoin.install('Links', {
      get: { type: 'on_startup_register_uri_get', in: { uri: 'links' }, scopes: ['*public'] },
      reply: { type: 'httpconnection_set_json', title: 'Reply', in: { flow: '@get.flow', value: '=1' } },
    })
    await goWithin(page, 'operate/environment')
  })

  const present = () => studio.quoin.quoin.flows.environmentValues.present()
  const dialog = () => page.getByRole('dialog')
  const rows = () => page.getByRole('main').getByRole('row')

  test('without values the screen says how they are read', async () => {
    await page.getByText("=env.BASE_URL + '/orders'").waitFor()
    expect(await axeProblems(page)).toEqual([])
  })

  test('a name that is none is refused in the dialog, and a text is added', async () => {
    await page.getByRole('button', { name: 'New value' }).click()
    await dialog().getByLabel('Name').fill('base-url')
    await dialog().getByLabel('Value', { exact: true }).fill('https://shop.example')
    await dialog().getByRole('button', { name: 'Create' }).click()
    await dialog().getByRole('alert').waitFor()
    expect(present()).toEqual({})
    await dialog().getByLabel('Name').fill('BASE_URL')
    await dialog().getByRole('button', { name: 'Create' }).click()
    await eventually(textOf(rows())).toMatch(/BASE_URL.*https:\/\/shop\.example.* by admin/)
    expect(present()).toEqual({ BASE_URL: 'https://shop.example' })
  })

  test('a value becomes JSON, with what is wrong said while it is typed', async () => {
    await page.getByRole('link', { name: 'BASE_URL' }).click()
    await dialog()
      .getByText(/^Changed .* by admin$/)
      .waitFor()
    await dialog().getByText('JSON', { exact: true }).click()
    await dialog().getByLabel('Value', { exact: true }).fill('{ "shop": ')
    await eventually(textOf(dialog())).toMatch(/line 1/i)
    expect(await axeProblems(page)).toEqual([])
    await dialog().getByLabel('Value', { exact: true }).fill('{ "shop": "https://shop.example" }')
    await dialog().getByRole('button', { name: 'Save' }).click()
    await dialog().waitFor({ state: 'detached' })
    expect(present()).toEqual({ BASE_URL: { shop: 'https://shop.example' } })
  })

  test('expressions are completed with the names and fields of values', async () => {
    await goWithin(page, `blueprints/${blueprint}`)
    const blocks = objectsOf(await studio.quoin.manage('GET', `/blueprints/${blueprint}/blocks`))
    const reply = blocks.find(({ title }) => title === 'Reply')
    await studioCanvas(page).choose(guidOf(reply))
    const field = page.getByRole('textbox', { name: 'Expression of value' })
    await field.click()
    await field.press('ControlOrMeta+a')
    await page.keyboard.type('env.BA')
    const options = page.locator('.cm-tooltip-autocomplete').getByRole('option')
    await eventually(textsOf(options)).toEqual([expect.stringMatching(/^BASE_URL/)])
    await press(page, 'Enter')
    await page.keyboard.type('.')
    await eventually(textsOf(options)).toEqual([expect.stringMatching(/^shop/)])
    await goWithin(page, 'operate/environment')
  })

  test('a value is removed when that is confirmed', async () => {
    await page.getByRole('button', { name: 'Remove BASE_URL' }).click()
    await dialog().getByText('env.BASE_URL').waitFor()
    expect(Object.keys(present())).toEqual(['BASE_URL'])
    await dialog().getByRole('button', { name: 'Remove' }).click()
    await page.getByText('No values').waitFor()
    expect(present()).toEqual({})
    expect(studio.complaints()).toEqual([])
  })
})

describe('charts over time, which lead from a failure to what the cluster logged', () => {
  const now = Math.floor(Date.now() / 1000)
  /** When requests failed: three hours ago. */
  const spike = now - 3 * 3_600

  beforeAll(async () => {
    const { database, flows } = studio.quoin.quoin
    for (let at = now - 86_400 + 700; at < now - 600; at += 600) {
      const failed = Math.abs(at - spike) < 300 ? 40 : 0
      const traffic = [300 + (at % 97), 12, failed, 80, failed, 0, 200, 60, 20, 0, 0, 0, 12]
      await addFigures({ database, clock: Date.now }, at, [
        [{ kind: 'traffic', node: 'north' }, traffic],
        [{ kind: 'traffic', node: 'south' }, [100]],
        [{ kind: 'queues', node: '' }, [at % 40, 2, failed === 0 ? 0 : 3, at % 300]],
      ])
    }
    flows.log.write({ level: 'error', message: 'The till does not answer.' })
    await flows.log.flush()
    await goWithin(page, 'operate/charts')
  })

  const main = () => page.getByRole('main')
  const chart = (name: string) => main().getByRole('img', { name })

  test('each chart has a picture with a name, and nothing is wrong with the page in either theme', async () => {
    const names = [
      'Requests per ten minutes',
      'Failures per ten minutes',
      'Latency of requests',
      'Jobs in queues',
    ]
    for (const name of names) await chart(name).waitFor()
    expect(await chart('Failures per ten minutes').locator('path').count()).toBe(3)
    await expectNoProblem(page, 'charts')
    await expectNoProblem(page, 'charts')
  })

  test('a table has the same figures, of one node or of all', async () => {
    await main().getByRole('button', { name: 'Show as a table' }).first().click()
    const table = main().getByRole('table', { name: 'Requests per ten minutes' })
    const cells = table.getByRole('row').nth(10).getByRole('cell')
    await eventually(async () => Number((await textsOf(cells)())[1])).toBeGreaterThanOrEqual(400)
    expect(await table.getByRole('row').count()).toBe(145)
    expect(await axeProblems(page)).toEqual([])
    await main().getByRole('combobox', { name: 'Node' }).click()
    await page.getByRole('option', { name: 'south' }).click()
    await eventually(async () => (await textsOf(cells)())[1]).toBe('100')
    await main().getByRole('combobox', { name: 'Node' }).click()
    await page.getByRole('option', { name: 'All nodes' }).click()
  })

  test('a failure leads to its minutes, and to what was logged then', async () => {
    await main()
      .getByText(/Most failures: 40/)
      .waitFor()
    await main().getByRole('link', { name: 'Minute by minute' }).click()
    await chart('Failures per minute').waitFor()
    await main()
      .getByText(/Most failures: 40/)
      .waitFor()
    await main().getByRole('link', { name: 'Errors of this time' }).first().click()
    await main().getByRole('heading', { name: 'System log' }).waitFor()
    await main().getByText('No log records').waitFor()
    await main().getByRole('button', { name: 'Show all times' }).click()
    await main().getByText('The till does not answer.').waitFor()
  })

  test('the log of a time has what was logged in it', async () => {
    await goWithin(page, `operate/system-log?level=error&since=${now - 60}&until=${now + 3_600}`)
    await main().getByText('The till does not answer.').waitFor()
    expect(studio.complaints()).toEqual([])
  })
})

describe('backups', () => {
  beforeAll(async () => {
    await goWithin(page, 'operate/backups')
  })

  const listed = async () => objectsOf(objectOf(await studio.quoin.manage('GET', '/_system/backups')).backups)
  const main = () => page.getByRole('main')
  const dialog = () => page.getByRole('dialog')

  test('a backup is made, checked, restored into a new folder, and deleted when that is confirmed', async () => {
    await page.getByText('No backups').waitFor()
    expect(await axeProblems(page)).toEqual([])
    await page.getByRole('button', { name: 'Back up now' }).click()
    await eventually(textOf(main())).toMatch(/Made \d{8}T\d{6}Z-hand/)
    expect(await listed()).toMatchObject([{ kind: 'hand', checked: null }])
    await page.getByRole('button', { name: /^Check / }).click()
    await eventually(textOf(main())).toMatch(/every checksum is right/)
    await eventually(textOf(page.getByRole('row'))).toMatch(/passed/)
    expect(await axeProblems(page)).toEqual([])
    await page.getByRole('button', { name: /^Restore / }).click()
    await dialog().getByRole('button', { name: 'Restore' }).click()
    await eventually(textOf(main())).toMatch(/Into .*restored.*Start a server with this folder/)
    const copies = page.getByRole('region', { name: 'Restored copies' })
    await copies.getByText(/^restored\/\d{8}T\d{6}Z-hand-/).waitFor()
    expect(await axeProblems(page)).toEqual([])
    const coming = page.waitForEvent('download')
    await page.getByRole('link', { name: /^Download / }).click()
    const download = await coming
    expect(download.suggestedFilename()).toMatch(/^quoin-\d{8}T\d{6}Z-hand\.tar$/)
    expect((await stat(await download.path())).size).toBeGreaterThan(100_000)
    await copies.getByRole('button', { name: /^Delete / }).click()
    await dialog().getByText('The backup that it was restored from stays').waitFor()
    await dialog().getByRole('button', { name: 'Delete' }).click()
    await copies.waitFor({ state: 'detached' })
    await page.getByRole('button', { name: /^Delete / }).click()
    await dialog().getByText('deleted permanently').waitFor()
    expect((await listed()).length).toBe(1)
    await dialog().getByRole('button', { name: 'Delete' }).click()
    await page.getByText('No backups').waitFor()
    expect(await listed()).toEqual([])
    expect(studio.complaints()).toEqual([])
  })
})

describe('settings', () => {
  beforeAll(async () => {
    await goWithin(page, 'operate/settings')
  })

  const stored = async (name: string) =>
    objectOf(await studio.quoin.manage('GET', `/_system/settings/${name}`)).stored
  const field = (name: string) => page.getByLabel(name, { exact: true })
  const changing = () => page.getByRole('region', { name: 'Change without a restart' })
  const fixed = () => page.getByRole('region', { name: 'Need a restart' })

  test('a wrong value is refused at its field, a right one is saved with Enter, and reset', async () => {
    await field('Run budget').fill('few')
    await press(page, 'Enter')
    await eventually(textOf(changing())).toMatch(/QUOIN_RUN_BUDGET is "few"; it must be a whole number/)
    expect(await stored('QUOIN_RUN_BUDGET')).toBe(null)
    expect(await axeProblems(page)).toEqual([])
    await field('Run budget').fill('5000')
    await press(page, 'Enter')
    await page.getByRole('button', { name: /: Run budget$/ }).waitFor()
    expect(await stored('QUOIN_RUN_BUDGET')).toBe('5000')
    await page.getByRole('button', { name: /: Run budget$/ }).click()
    await page.getByRole('button', { name: /: Run budget$/ }).waitFor({ state: 'detached' })
    expect(await stored('QUOIN_RUN_BUDGET')).toBe(null)
    expect(await field('Run budget').inputValue()).toBe('1000000')
  })

  test('what the environment sets cannot be edited, what needs a restart says so, and secrets are not shown', async () => {
    await eventually(textOf(changing())).toMatch(/The environment of this node sets QUOIN_STREAMS/)
    expect(await field('Streams').count()).toBe(0)
    expect(await fixed().getByRole('textbox').count()).toBe(0)
    await eventually(textOf(fixed())).toMatch(/Needs a restart: QUOIN_PORT in the environment/)
    await eventually(textOf(fixed())).toMatch(/Metrics token ?QUOIN_METRICS_TOKEN ?environment/)
    expect(await page.content()).not.toContain('a-token-of-the-metrics')
  })

  test('settings are found by their words', async () => {
    await page.getByLabel('Search settings').fill('failed sign-ins')
    await eventually(() => changing().getByRole('textbox').count()).toBe(1)
    await field('Lockout attempts').waitFor()
    await eventually(textOf(fixed())).toMatch(/No setting has these words/)
    expect(studio.complaints()).toEqual([])
  })
})

describe('alerts', () => {
  beforeAll(async () => {
    await goWithin(page, 'operate/alerts')
  })

  const dialog = () => page.getByRole('dialog')
  const rows = () => page.getByRole('main').getByRole('row')

  /** A second try finds what the first one found. Loaded again: the list is not read twice in one second. */
  async function removeAlerts(): Promise<void> {
    const { manage } = studio.quoin
    for (const one of objectsOf(await manage('POST', '/_system/alerts/search', {})))
      await manage('DELETE', `/_system/alerts/${guidOf(one)}`)
  }
  let tries = 0

  test('an alert is made, with what is wrong said in the dialog', async () => {
    if (tries++ > 0) {
      await removeAlerts()
      await page.goto('operate/alerts')
    }
    await page.getByText('No alerts').waitFor()
    await expectNoProblem(page, 'no alerts')
    await page.getByRole('button', { name: 'New alert' }).click()
    await dialog().getByLabel('Name').fill('FULL_DISK')
    await dialog().getByRole('combobox', { name: 'Figure' }).click()
    await page.getByRole('option', { name: 'Free disk' }).click()
    expect(await dialog().getByLabel('Threshold (MiB)').inputValue()).toBe('2000')
    await dialog().getByLabel('Mail to').fill('ann')
    await page.keyboard.press('Enter')
    await dialog().getByRole('button', { name: 'Create' }).click()
    await dialog().getByRole('alert').waitFor()
    expect(await axeProblems(page)).toEqual([])
    await dialog().getByLabel('Mail to').press('Backspace')
    await dialog().getByLabel('Mail to').fill('ann@example.org')
    await page.keyboard.press('Enter')
    await dialog().getByRole('button', { name: 'Create' }).click()
    await eventually(textOf(rows())).toMatch(
      /FULL_DISK.*quiet.*Free disk.*2,000 MiB or less.*ann@example\.org/,
    )
    await expectNoProblem(page, 'one alert')
  })

  test('its test arrives as a mail', async () => {
    const before = mails.taken.length
    await page.getByRole('button', { name: 'Test FULL_DISK' }).click()
    await eventually(() => mails.taken.slice(before).map(({ headers }) => headers.subject)).toEqual([
      'Test of the alert FULL_DISK',
    ])
  })

  let changed = 0

  test('an alert that was changed is shown so, and removed', async () => {
    const name = `CHANGED_${++changed}`
    await removeAlerts()
    await studio.quoin.manage('POST', '/_system/alerts', {
      name,
      figure: 'disk_free',
      threshold: 9,
    })
    await page.goto('operate/alerts')
    await page.getByRole('link', { name }).click()
    await dialog().getByLabel('Checked each minute').uncheck()
    await dialog().getByRole('button', { name: 'Save' }).click()
    await eventually(textOf(rows())).toMatch(new RegExp(`${name}.*off`))
    await page.getByRole('button', { name: `Remove ${name}` }).click()
    await dialog().getByRole('button', { name: 'Remove' }).click()
    await page.getByText('No alerts').waitFor()
    expect(studio.complaints()).toEqual([])
  })
})

describe('extensions', () => {
  afterAll(() => rm(folder, { recursive: true, force: true }))

  test('one is looked at, switched on, then off, and removed', async () => {
    await goWithin(page, 'operate/extensions')
    await page.getByText('No extensions').waitFor()
    await mkdir(folder)
    await writeTemplate('acme', join(folder, 'acme'))
    await page.reload()
    const card = page.getByRole('region', { name: 'acme' })
    await card.getByText('Reaches nothing but the values that its blocks are given.').waitFor()
    expect(await axeProblems(page)).toEqual([])
    const confirm = (name: string) => page.getByRole('dialog').getByRole('button', { name }).click()
    const flip = card.getByRole('switch')
    await flip.click({ force: true })
    expect(await flip.isChecked()).toBe(false)
    await confirm('Switch on')
    await card.getByText('version 0.1.0').waitFor()
    const types = async () =>
      objectsOf(await studio.quoin.manage('GET', '/blocks')).map((one) => one.identifier)
    expect(await types()).toContain('acme_greet')
    await flip.click({ force: true })
    await confirm('Switch off')
    const greet = JSON.stringify({ name: 'greets', blocks: { greet: { type: 'acme_greet' } } })
    const changes = [
      { path: 'quoin.json', text: '{ "name": "greets" }' },
      { path: 'blueprints/greet.json', text: greet },
    ]
    const draft = await studio.quoin.manage('POST', '/_system/drafts', { application: 'greets', changes })
    await card.getByRole('button', { name: 'Remove acme' }).click()
    await confirm('Remove')
    await page.getByText('A draft of greets, by admin has blocks of it.').waitFor()
    await studio.quoin.manage('DELETE', `/_system/drafts/${String(objectOf(draft).guid)}`)
    await eventually(() => card.getByRole('button', { name: 'Remove acme' }).count()).toBe(0)
    expect(await types()).not.toContain('acme_greet')
  })
})

describe('spaces', () => {
  const dialog = () => page.getByRole('dialog')
  const stored = async () => objectsOf(await studio.quoin.manage('POST', '/_system/spaces/search', {}))
  const limit = (name: string) => dialog().getByLabel(name)

  test('one is made, its password is shown once, and its first user signs in there', async () => {
    await goWithin(page, 'operate/spaces')
    await page.getByText('No spaces').waitFor()
    await page.getByRole('button', { name: 'New space' }).click()
    await dialog().getByLabel(/^Name/).fill('Sales')
    await dialog().getByLabel('Host names').fill('Sales.example.test sales.localhost')
    await limit('Most documents').fill('20')
    await dialog().getByRole('button', { name: 'Make it' }).click()
    await dialog().getByRole('alert').waitFor()
    expect(await stored()).toEqual([])
    await dialog().getByLabel(/^Name/).fill('sales')
    await dialog().getByRole('button', { name: 'Make it' }).click()
    const password = (await dialog().getByLabel('Password', { exact: true }).textContent()) ?? ''
    await page.keyboard.press('Escape')
    expect(await axeProblems(page)).toEqual([])
    await dialog().getByRole('button', { name: 'Done' }).click()
    expect(await stored()).toMatchObject([
      { name: 'sales', hosts: ['sales.example.test', 'sales.localhost'], quotas: { documents: 20, jobs: 0 } },
    ])
    const quoin = await studio.quoin.quoin.spaces?.enter('sales')
    const signedIn = await quoin?.access.signIn({ username: 'admin', password, ip: '127.0.0.1' })
    // In the space there are none, also for those who type the address.
    const inside = await studio.open(undefined, 'nowhere')
    await inside.addInitScript(`sessionStorage.setItem('quoin.token', '${signedIn?.access_token}')`)
    await inside.goto(`http://sales.localhost:${new URL(studio.address).port}/studio/operate/spaces`)
    await inside.getByText('This is a space').waitFor()
    await inside.context().close()
  })

  test('its use is counted, its quotas are changed, and it is suspended and goes on', async () => {
    await page.getByRole('link', { name: 'sales' }).click()
    await dialog().getByText('0 of 20').waitFor()
    expect(await axeProblems(page)).toEqual([])
    await dialog().getByRole('button', { name: 'Change' }).click()
    await limit('Most documents').fill('')
    await limit('Most jobs that wait or run').fill('7')
    await dialog().getByRole('button', { name: 'Save' }).click()
    await dialog().getByText('0 of 7').waitFor()
    expect(await stored()).toMatchObject([{ quotas: { documents: 0, jobs: 7 } }])
    for (const [action, state] of [
      ['Suspend', 'suspended'],
      ['End the suspension', 'active'],
    ] as const) {
      await dialog().getByRole('button', { name: action }).click()
      await dialog().filter({ hasText: '?' }).getByRole('button', { name: action }).last().click()
      await eventually(stored).toMatchObject([{ state }])
      await dialog().getByText(state, { exact: true }).waitFor()
    }
  })

  test('only with its name typed is it deleted', async () => {
    await dialog().getByRole('button', { name: 'Delete' }).click()
    const ask = page.getByRole('dialog', { name: 'Delete the space sales?' })
    const confirm = ask.getByRole('button', { name: 'Delete' })
    await ask.getByRole('textbox').fill('sale')
    expect(await confirm.isDisabled()).toBe(true)
    expect(await stored()).toHaveLength(1)
    await ask.getByRole('textbox').fill('sales')
    await confirm.click()
    await page.getByText('No spaces').waitFor()
    expect(await stored()).toEqual([])
    expect(studio.complaints()).toEqual([])
  })
})
