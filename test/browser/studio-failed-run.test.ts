/** Runs are found: from a failure to its run on the canvas, and among more runs than the list reads at once. */
import { readFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import { setFields } from '../../src/shared/mutation.ts'
import { transact } from '../../src/storage/transact.ts'
import { guidOf, objectsOf } from '../end-to-end/harness.ts'
import { axeProblems } from './axe-check.ts'
import { pacedHand } from './paced-hand.ts'
import { eventually } from './studio-eventually.ts'
import { goWithin, studioOfSuite } from './studio-fixture.ts'

const studio = studioOfSuite()
let page: Page
beforeAll(async () => {
  page = await studio.open('admin', 'nowhere')
}, 240_000)

describe('from a log, a dead letter, an endpoint and an alert to the run', () => {
  const desktop = { width: 1500, height: 900 }
  let blueprint = ''
  const guids = new Map<unknown, string>()
  beforeAll(async () => {
    const { quoin } = studio
    blueprint = await quoin.install('Orders', {
      post: { type: 'on_startup_register_uri_post', in: { uri: 'orders' }, scopes: ['*public'] },
      price: {
        type: 'function_custom_execute',
        title: 'Find the price',
        in: { flow: '@post.flow', function: 'price of tea' },
      },
      reply: { type: 'httpconnection_set_json', in: { flow: '@price.flow', value: 1 } },
      get: { type: 'on_startup_register_uri_get', in: { uri: 'orders' }, scopes: ['*public'] },
      count: {
        type: 'function_search',
        title: 'Count orders',
        in: { flow: '@get.flow', storage: 'orders', limit: '=0 - 5' },
      },
      counted: { type: 'httpconnection_set_json', in: { flow: '@count.flow', value: '=count.total' } },
      put: { type: 'on_startup_register_uri_put', in: { uri: 'orders' }, scopes: ['*public'] },
      later: {
        type: 'function_custom_execute_from_queue',
        in: { flow: '@put.flow', function: 'ship', attempts: 1 },
      },
      ship: { type: 'trigger_custom_function', fields: { name: 'ship' } },
      call: {
        type: 'function_custom_execute',
        title: 'Call the carrier',
        in: { flow: '@ship.flow', function: 'carrier' },
      },
    })
    for (const block of objectsOf(await quoin.manage('GET', `/blueprints/${blueprint}/blocks`)))
      guids.set(block.name, guidOf(block))
    expect((await studio.ask('GET', '/orders')).status).toBe(500)
    expect((await studio.ask('POST', '/orders', { body: { item: 'tea' } })).status).toBe(500)
    await page.setViewportSize({ width: 1500, height: 900 })
    await goWithin(page, '')
  })

  /** The canvas shows a run that failed at this block, which is selected. */
  async function expectRunAt(name: string, title: string): Promise<void> {
    const bar = page.getByRole('region', { name: 'Shown run' })
    await bar.waitFor()
    const block = page.locator(`.react-flow__node-block.selected[aria-label^="${title}, block"]`)
    await eventually(() => block.getAttribute('aria-label')).toContain('failed')
    const words = new URL(page.url()).searchParams
    expect([words.get('block'), words.get('run')]).toEqual([guids.get(name), expect.stringMatching(/./)])
  }

  test('the cause of a failing endpoint is found in the clicks that the guide names', async () => {
    const hand = pacedHand(page)
    await hand.click(page.getByRole('link', { name: 'Operate' }))
    await hand.click(page.getByRole('link', { name: 'Errors in the last hour' }))
    await hand.click(page.getByRole('row', { name: /price of tea/ }).getByRole('link', { name: 'Run' }))
    await expectRunAt('price', 'Find the price')
    const step = page.getByRole('region', { name: 'Steps' })
    await step.getByText('Find the price').waitFor()
    expect(await readFile(new URL('../../docs/tracing.md', import.meta.url), 'utf8')).toContain(hand.said())
  })

  /** Of a second try there is one more. */
  const deadLetter = () => page.getByRole('row', { name: /carrier/ }).first()

  test('a dead letter leads to the run of its last attempt, and back leads to where its link was', async () => {
    expect((await studio.ask('PUT', '/orders', { body: {} })).status).toBe(204)
    await goWithin(page, 'operate/queues?status=dead')
    await deadLetter().getByRole('link', { name: 'Run' }).click()
    await expectRunAt('call', 'Call the carrier')
    await page.goBack()
    await deadLetter().waitFor()
    expect(new URL(page.url()).pathname).toBe('/studio/operate/queues')
  })

  test('an endpoint with failed requests leads to the newest of its runs', async () => {
    await goWithin(page, 'operate')
    const row = page.getByRole('row', { name: /GET.*orders/ })
    await row.getByRole('link', { name: 'Run' }).click()
    await expectRunAt('count', 'Count orders')
  })

  test('a run whose values are not kept leads to its block all the same', async () => {
    const [entry] = objectsOf(
      await studio.quoin.manage('POST', '/_system/systemlogs/search', {
        filters: { block: guids.get('count') ?? '' },
      }),
    )
    const { database } = studio.quoin.quoin
    const session = database.session()
    await session.delete('_runs', String(entry?.run))
    await session.transaction.commit()
    await goWithin(page, `operate/runs/${String(entry?.run)}`)
    // Notices of a first try are still there.
    await page.getByText('The values of this run are not kept').last().waitFor()
    await eventually(() => new URL(page.url()).searchParams.get('block')).toBe(guids.get('count'))
    await goWithin(page, 'operate/runs/01900000-0000-7000-8000-000000000000')
    await page.getByText('This run is not kept').last().waitFor()
  })

  test('without a failed run, the errors of the blueprint that was asked for are led to', async () => {
    const other = '01900000-0000-7000-8000-000000000001'
    await goWithin(page, `operate/runs/failed?blueprint=${other}`)
    const link = page.getByRole('link', { name: 'Errors in the system log' })
    expect(await link.getAttribute('href')).toBe(`/studio/operate/system-log?level=error&blueprint=${other}`)
  })

  let watchers = 0

  test('a user without access to values comes to the block by way of the log', async () => {
    const { quoin } = studio
    const user = `watcher${++watchers}`
    await quoin.addUser(user, ['systemlogs_view', 'blueprints_view', 'blueprintactions_view'])
    const [entry] = objectsOf(
      await quoin.manage('POST', '/_system/systemlogs/search', {
        filters: { block: guids.get('price') ?? '' },
      }),
    )
    const watcher = await studio.open(user, `operate/runs/${String(entry?.run)}`)
    await eventually(() => new URL(watcher.url()).searchParams.get('block')).toBe(guids.get('price'))
    expect(new URL(watcher.url()).searchParams.has('run')).toBe(false)
    await watcher.context().close()
  })

  let installed = 0

  test('a run that failed behind its reply is sent again from its panel and its dead letter, which say first what happens twice', async () => {
    const { quoin } = studio
    const uri = `behind_${++installed}`
    await quoin.install(uri, {
      ask: { type: 'on_startup_register_uri_post', in: { uri }, scopes: ['*public'] },
      keep: {
        type: 'function_create_document_from_mutations',
        title: 'Keep it',
        in: { flow: '@ask.flow', storage: uri, set: '={ id: body.id }' },
      },
      taken: { type: 'reply', in: { flow: '@keep.flow', code: 202, value: 'taken' } },
      bad: { type: 'fail', title: 'Refuse', in: { flow: '@taken.flow', status: 500, message: 'No luck.' } },
    })
    expect((await studio.ask('POST', `/${uri}`, { body: { id: 1 } })).status).toBe(202)
    await goWithin(page, 'operate')
    const row = page.getByRole('row', { name: new RegExp(`POST.*${uri}`) })
    await eventually(async () => (await row.getByRole('cell').allTextContents()).join(' ')).toMatch(
      / 1 .*Run/,
    )
    await row.getByRole('link', { name: 'Run' }).click()
    await page.getByText('The run failed behind its reply').waitFor()
    await page.getByRole('button', { name: 'Send again' }).click()
    const asked = page.getByRole('dialog', { name: `Send POST /api/v1/${uri} again?` })
    await asked.getByText('Keep it: write of documents').waitFor()
    expect(await axeProblems(page)).toEqual([])
    await asked.getByRole('button', { name: 'Cancel' }).click()
    expect(await quoin.documents(uri)).toHaveLength(1)
    await goWithin(page, 'operate/queues?status=dead')
    await page
      .getByRole('row', { name: new RegExp(`api/v1/${uri}`) })
      .getByRole('link')
      .first()
      .click()
    await page.getByRole('dialog', { name: 'Job' }).getByRole('button', { name: 'Send again' }).click()
    await asked.getByText('Keep it: write of documents').waitFor()
    await asked.getByRole('button', { name: 'Send again' }).click()
    await expect.poll(() => quoin.documents(uri), { timeout: 10_000 }).toHaveLength(2)
  })

  test('a run whose client was answered with a failure is sent again from its panel, once', async () => {
    const { quoin } = studio
    const uri = `answered_${++installed}`
    await quoin.install(uri, {
      ask: { type: 'on_startup_register_uri_post', in: { uri }, scopes: ['*public'] },
      keep: {
        type: 'function_create_document_from_mutations',
        title: 'Keep it',
        in: { flow: '@ask.flow', storage: uri, set: '={ id: body.id }' },
      },
      closed: { type: 'reply', in: { flow: '@keep.flow', code: 503, value: 'closed' } },
    })
    expect((await studio.ask('POST', `/${uri}`, { body: { id: 1 } })).status).toBe(503)
    const runs = objectsOf(await quoin.manage('GET', '/runs?failed=true'))
    const run = runs.find(({ label }) => label === `POST ${uri}`)
    await goWithin(page, `operate/runs/${String(run?.guid)}`)
    await page.getByText('Its client was told of a failure').waitFor()
    await page.getByRole('button', { name: 'Send again' }).click()
    const asked = page.getByRole('dialog', { name: `Send POST /api/v1/${uri} again?` })
    await asked.getByText('Keep it: write of documents').waitFor()
    await asked.getByText('may have sent the request again itself').waitFor()
    expect(await axeProblems(page)).toEqual([])
    expect(await quoin.documents(uri)).toHaveLength(1)
    await asked.getByRole('button', { name: 'Send again' }).click()
    const filters = { queue: '_requests', status: 'dead' }
    const errors = async () =>
      objectsOf(await quoin.manage('POST', '/queue/search', { filters }))
        .filter(({ title }) => title === `POST /api/v1/${uri}`)
        .map(({ error }) => error)
    await expect.poll(errors, { timeout: 10_000 }).toEqual([expect.stringContaining('status 503')])
    // It failed again, and its reply undid nothing that was there.
    expect(await quoin.documents(uri)).toHaveLength(1)
  })

  test('the browser has complained of nothing', () => {
    expect(studio.complaints()).toEqual([])
  })

  test('on a phone the run is left by its button, which is on the screen as a whole', async ({
    onTestFinished,
  }) => {
    onTestFinished(() => page.setViewportSize(desktop))
    await goWithin(page, 'operate/queues?status=dead')
    await deadLetter().getByRole('link', { name: 'Run' }).click()
    await expectRunAt('call', 'Call the carrier')
    await page.setViewportSize({ width: 390, height: 844 })
    const leave = page.getByRole('button', { name: 'Leave the run' })
    await eventually(async () => {
      const box = await leave.boundingBox()
      return box !== null && box.x >= 0 && box.x + box.width <= 390
    }).toBe(true)
    await leave.click()
    await page.getByRole('region', { name: 'Shown run' }).waitFor({ state: 'detached' })
  })
})

describe('more runs than the list reads at once', () => {
  const RUNS = 150
  let blueprint = ''
  /** Requests of GET /tea: a second try sends one more. */
  let called = 0
  beforeAll(async () => {
    blueprint = await studio.quoin.install('Tea', {
      get: { type: 'on_startup_register_uri_get', title: 'Tea', in: { uri: 'tea' }, scopes: ['*public'] },
      reply: { type: 'httpconnection_set_json', in: { flow: '@get.flow', value: 'tea' } },
    })
    const { database } = studio.quoin.quoin
    // The oldest and the newest were refused.
    for (let i = 0; i < RUNS; i += 1)
      await transact(database, async (session) => session.create('_runs', setFields(record(i))))
    await page.setViewportSize({ width: 1500, height: 900 })
    await goWithin(page, `blueprints/${blueprint}?panel=runs`)
  })

  const record = (i: number) => ({
    ...{ blueprint, trigger: 't', trigger_type: 'http', label: `GET tea ${i}`, status: 'ended' },
    ...{ started: new Date(1_700_000_000_000 + i * 1_000).toISOString(), us: 900, error: null, steps: 2 },
    reply: { status: i === 0 || i === RUNS - 1 ? 403 : 200 },
    ...{ user: null, deployment: 1, replay_of: null, node: '', paused: null, detail: '{}' },
  })
  const rows = () => page.getByRole('list', { name: 'Runs' }).getByRole('listitem')
  const labels = async () => (await rows().allInnerTexts()).map((text) => /GET tea(?: \d+)?/.exec(text)?.[0])
  const older = () => page.getByRole('button', { name: 'Show older' })
  const open = async () => {
    await page.goto(`${studio.address}/studio/blueprints/${blueprint}?panel=runs`)
    await page.getByRole('list', { name: 'Runs' }).waitFor()
  }

  test('the list says how many there are, and shows the newest', async () => {
    await page.getByText(`All ${RUNS}`).waitFor()
    await eventually(() => rows().count()).toBe(100)
    expect((await labels())[0]).toBe(`GET tea ${RUNS - 1}`)
  })

  test('the filter searches all of them, not only those that are shown', async () => {
    await page.getByText('Errors 2').click()
    await eventually(labels).toEqual([`GET tea ${RUNS - 1}`, 'GET tea 0'])
    expect(await older().count()).toBe(0)
    await page.getByText(`All ${RUNS}`).click()
  })

  test('the rest is reached, also when one comes in meanwhile', async () => {
    if (called > 0) await open()
    await studio.quoin.manage('PUT', `/blueprints/${blueprint}/tracing`, { on: true, keep_last: 200 })
    expect((await studio.ask('GET', '/tea')).status).toBe(200)
    called += 1
    await eventually(async () => (await labels()).filter((label) => label === 'GET tea').length).toBe(called)
    await older().click()
    await eventually(() => rows().count()).toBe(RUNS + called)
    const all = await labels()
    expect([all[0], all.at(-1), new Set(all).size]).toEqual(['GET tea', 'GET tea 0', RUNS + 1])
    expect(await older().count()).toBe(0)
  })

  test('the list of runs is closed by its button, and gives way to the settings of a block that is clicked', async () => {
    const list = page.getByRole('list', { name: 'Runs' })
    await open()
    await page.getByRole('button', { name: 'Close the list of runs' }).click()
    await list.waitFor({ state: 'detached' })
    await open()
    await page.locator('.react-flow__node-block').first().click()
    await list.waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Add a block after' }).first().waitFor()
  })
})
