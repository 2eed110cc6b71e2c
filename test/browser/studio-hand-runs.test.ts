/** Runs by hand, and what the canvas shows of them: expressions and the last values of blocks. */
import type { Locator, Page } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import { installBlueprint } from '../../src/flows/blueprints/install-blueprint.ts'
import { guidOf, objectOf, objectsOf } from '../end-to-end/harness.ts'
import { axeProblems } from './axe-check.ts'
import { eventually, press, textOf } from './studio-eventually.ts'
import { goWithin, studioOfSuite } from './studio-fixture.ts'
import { expectNoProblem } from './studio-looks.ts'

const studio = studioOfSuite()
let page: Page
beforeAll(async () => {
  page = await studio.open('admin', 'nowhere')
}, 240_000)

describe('runs by hand', () => {
  let blueprint = ''
  beforeAll(async () => {
    const keep = (flow: string, set: string) => ({
      type: 'function_create_document_from_mutations',
      in: { flow, storage: 'kept', set },
    })
    blueprint = await studio.quoin.install('Shop', {
      order: {
        type: 'on_startup_register_uri_post',
        in: { uri: 'shop/orders' },
        fields: { schema: [{ name: 'item', type: 'text', required: true }] },
        scopes: ['*public'],
      },
      create: {
        type: 'function_create_document_from_mutations',
        in: { flow: '@order.flow', storage: 'orders', set: '={ item: body.item }' },
      },
      created: { type: 'httpconnection_set_json', in: { flow: '@create.flow', value: '=create.document' } },
      tea: { type: 'on_startup_register_uri_get', in: { uri: 'shop/teas/{name}' }, scopes: ['*public'] },
      poured: { type: 'httpconnection_set_json', in: { flow: '@tea.flow', value: '=params.name' } },
      add: {
        type: 'trigger_custom_function',
        out: [
          { id: 'a', type: 'number' },
          { id: 'b', type: 'number' },
        ],
        fields: { name: 'add' },
      },
      sum: { type: 'function_return', in: { flow: '@add.flow', value: '=params.a + params.b' } },
      nightly: { type: 'schedule_repeating_event', title: 'Nightly report', in: { cron: '0 2 * * *' } },
      keep_tick: keep('@nightly.flow', '={ by: "schedule" }'),
      changed: { type: 'storage_event', in: { storage: 'orders', events: ['on_updated'] } },
      keep_item: keep('@changed.flow', '={ by: changed.document.item }'),
    })
    expect((await studio.ask('POST', '/shop/orders', { body: { item: 'Green tea' } })).status).toBe(200)
    await page.setViewportSize({ width: 1500, height: 1000 })
    await goWithin(page, `blueprints/${blueprint}?panel=try`)
  })

  const panel = () => page.getByRole('complementary', { name: 'Try it' })
  const kept = async () => (await studio.quoin.documents('kept')).map(({ by }) => by)

  async function choose(label: string, option: RegExp): Promise<void> {
    await panel().getByRole('combobox', { name: label }).click()
    await page.getByRole('option', { name: option }).click()
  }

  test('the body of an endpoint is made from its schema, and it is tried as it is drawn', async () => {
    const item = panel().getByRole('textbox', { name: 'item' })
    const json = panel().getByRole('radio', { name: 'JSON' })
    const body = panel().getByRole('textbox', { name: 'Body' })
    expect(await item.inputValue()).toBe('')
    await panel().getByText('JSON', { exact: true }).click()
    await eventually(() => json.isChecked()).toBe(true)
    expect(await body.inputValue()).toBe('{\n  "item": ""\n}')
    // What is written in one is in the other.
    await body.fill('{ "item": "Cof')
    await panel().getByText('Fields', { exact: true }).click()
    await panel().getByText('The body is no JSON object. Mend it as JSON.').waitFor()
    await panel().getByText('JSON', { exact: true }).click()
    await body.fill('{ "item": "Cocoa", "more": 1 }')
    await panel().getByText('Fields', { exact: true }).click()
    await eventually(() => item.inputValue()).toBe('Cocoa')
    await item.fill('Coffee')
    await panel().getByText('JSON', { exact: true }).click()
    await eventually(async () => JSON.parse(await body.inputValue())).toEqual({ item: 'Coffee', more: 1 })
    await expectNoProblem(page, 'the form of a request')
    await panel().getByRole('button', { name: 'Try without effects' }).click()
    await panel().getByText('Tried without effects').waitFor()
    await page.getByRole('region', { name: 'Shown run' }).getByText('200').waitFor()
    expect((await studio.quoin.documents('orders')).map(({ item }) => item)).toEqual(['Green tea'])
  })

  test('an endpoint without a body is tried as it is drawn', async () => {
    await choose('What to run', /^GET/)
    await panel().getByRole('textbox', { name: 'name' }).fill('Assam')
    await panel().getByRole('button', { name: 'Try without effects' }).click()
    await panel().getByText('Tried without effects').waitFor()
    await panel().getByText('Assam').waitFor()
    // The panel makes room for the steps of the run and for the settings of a block; what was typed is there again.
    await panel().getByRole('button', { name: 'Step by step' }).click()
    await page.getByRole('complementary', { name: 'Runs' }).waitFor()
    const name = panel().getByRole('textbox', { name: 'name' })
    for (const way of ['run', 'block']) {
      if (way === 'block') {
        await page.locator('.react-flow__node-block').first().click()
        await page.getByRole('complementary', { name: 'Properties' }).waitFor()
      }
      await press(page, 't')
      expect(await name.inputValue()).toBe('Assam')
    }
    await choose('What to run', /^POST/)
    await panel().getByText('JSON', { exact: true }).click()
    expect(JSON.parse(await panel().getByRole('textbox', { name: 'Body' }).inputValue())).toEqual({
      item: 'Coffee',
      more: 1,
    })
  })

  test('a function gets its parameters, and its result is shown', async () => {
    await choose('What to run', /^Function add/)
    const parameters = panel().getByRole('textbox', { name: 'Parameters' })
    expect(JSON.parse(await parameters.inputValue())).toEqual({ a: 0, b: 0 })
    await parameters.fill('{ "a": 40, "b": 2 }')
    await panel().getByRole('button', { name: 'Try', exact: true }).click()
    await panel().getByText('42').waitFor()
    await page.locator('.react-flow__node-block').filter({ hasText: '42' }).first().waitFor()
  })

  test('an event takes a document of its storage, and writes only for real', async () => {
    await choose('What to run', /Storage event: orders/)
    await choose('Document of orders', /Green tea/)
    await panel().getByRole('button', { name: 'Try', exact: true }).click()
    await panel().getByText('Tried without effects').waitFor()
    expect(await kept()).toEqual([])
    await panel().getByText('Run for real').first().click()
    await panel().getByRole('button', { name: 'Run for real' }).click()
    await panel().getByText('Ran for real').waitFor()
    expect(await kept()).toEqual(['Green tea'])
    expect(await axeProblems(page)).toEqual([])
  })

  test('the screen of schedules names the block, and runs it now', async () => {
    await goWithin(page, 'operate/schedules')
    await page.getByRole('link', { name: 'Nightly report · Shop' }).first().click()
    await page.getByRole('button', { name: 'Run now' }).click()
    await page
      .getByRole('dialog', { name: 'Run this schedule now?' })
      .getByRole('button', { name: 'Run now' })
      .click()
    await page.getByRole('link', { name: 'Show the run' }).waitFor()
    expect(await kept()).toEqual(['Green tea', 'schedule'])
    expect(await axeProblems(page)).toEqual([])
    await page.getByRole('link', { name: 'Show the run' }).click()
    await page.getByRole('region', { name: 'Shown run' }).getByText('Done').waitFor()
    await goWithin(page, 'blueprints')
    await page.getByRole('row', { name: /^Shop/ }).getByText('Every day at 02:00').waitFor()
  })

  test('a schedule is said in words where it is typed, and only where they are true', async () => {
    const blocks = objectsOf(await studio.quoin.manage('GET', `/blueprints/${blueprint}/blocks`))
    const nightly = guidOf(blocks.find(({ title }) => title === 'Nightly report'))
    await goWithin(page, `blueprints/${blueprint}?block=${nightly}`)
    const cron = page.getByRole('group', { name: /^cron, / })
    await cron.getByText('Every day at 02:00').waitFor()
    const words = cron.getByRole('status')
    await cron.getByRole('textbox').fill('*/20 * * * *')
    await eventually(() => words.textContent()).toBe('Every 20 minutes')
    await cron.getByRole('textbox').fill('*/45 * * * *')
    await eventually(() => words.count()).toBe(0)
  })

  test('requests are recorded beside them until that is stopped, which deletes them after a question', async () => {
    const recorded = async () =>
      objectOf(await studio.quoin.manage('GET', `/blueprints/${blueprint}/tracing`))
    const record = async (share: string) => {
      await page.getByRole('combobox', { name: 'Record requests' }).click()
      await page.getByRole('option', { name: share, exact: true }).click()
    }
    await goWithin(page, `blueprints/${blueprint}?panel=runs`)
    await page.getByRole('switch', { name: 'Trace every run' }).click()
    await page.getByText(/^On until/).waitFor()
    await record('One in 100')
    await page.getByText(/and then one in 100, .* for 7 days/).waitFor()
    const { until, ...rest } = await recorded()
    expect([rest, Number.isNaN(Date.parse(String(until)))]).toMatchObject([
      { on: true, record_one_in: 100 },
      false,
    ])
    await page.getByRole('switch', { name: 'Trace every run' }).click()
    await page.getByText(/^Off:/).waitFor()
    expect(await recorded()).toMatchObject({ on: false, record_one_in: 100 })
    await record('Off')
    const question = page.getByRole('dialog', { name: 'Stop recording?' })
    expect(await recorded()).toMatchObject({ record_one_in: 100 })
    await question.getByRole('button', { name: 'Stop and delete' }).click()
    await page.getByText('No request is recorded.').waitFor()
    expect(await recorded()).toMatchObject({ on: false, record_one_in: 0 })
  })
})

describe('expressions over a run', () => {
  const blocks = {
    post: { type: 'on_startup_register_uri_post', in: { uri: 'orders' }, scopes: ['*public'] },
    reply: {
      type: 'httpconnection_set_json',
      title: 'Total',
      in: { flow: '@post.flow', value: '=body.vip ? 0 : body.price * body.amount' },
    },
  }

  beforeAll(async () => {
    const { flows } = studio.quoin.quoin
    const file = { name: 'Orders', blocks, layout: { post: [0, 0], reply: [290, 0] } }
    const guid = await installBlueprint(flows, file, { guid: '', username: 'builder' })
    await page.setViewportSize({ width: 1500, height: 900 })
    await goWithin(page, `blueprints/${guid}?panel=try`)
  })

  test('a step shows its expression, what was read, and the value', async () => {
    await page.getByRole('textbox', { name: 'Body' }).fill('{"price":7,"amount":6,"secret":"x"}')
    await page.getByRole('button', { name: 'Send POST' }).click()
    await page.getByRole('button', { name: /^Runs/ }).click()
    const steps = page.getByRole('region', { name: 'Steps' })
    await steps.getByText('Total').click()
    await eventually(textOf(steps)).toContain('Expressions')
    const text = await textOf(steps)()
    for (const part of [
      '=body.vip ? 0 : body.price * body.amount',
      'body.vip null',
      'body.price 7',
      'body.amount 6',
      '→ 42',
    ])
      expect(text).toContain(part)
    expect(text).not.toContain('body.secret')
    expect(await axeProblems(page)).toEqual([])
  })
})

describe('the last values of blocks', () => {
  let blueprint = ''
  beforeAll(async () => {
    blueprint = await studio.quoin.install('Goods', {
      post: { type: 'on_startup_register_uri_post', title: 'Add', in: { uri: 'goods' }, scopes: ['*public'] },
      check: { type: 'branch', title: 'Check', in: { flow: '@post.flow', condition: '=body.price > 0' } },
      keep: {
        type: 'function_create_document_from_mutations',
        title: 'Keep',
        in: { flow: '@check.true', storage: 'goods', set: '={ price: body.price, note: body.note }' },
      },
      kept: {
        type: 'httpconnection_set_json',
        title: 'Kept',
        in: { flow: '@keep.flow', code: 201, value: '=keep.document.price' },
      },
      refused: {
        type: 'httpconnection_set_json',
        title: 'Refused',
        in: { flow: '@check.false', code: 400, value: '=body.price' },
      },
    })
    await page.setViewportSize({ width: 1700, height: 900 })
    await goWithin(page, `blueprints/${blueprint}`)
  })

  const open = (user: string, words = '') =>
    studio.open(user, `blueprints/${blueprint}${words}`, { viewport: { width: 1700, height: 900 } })
  const block = (on: Page, title: string): Locator =>
    on.locator(`.react-flow__node-block[aria-label^="${title}, block"]`)
  const says = (title: string) =>
    eventually(async () =>
      (await block(page, title).getAttribute('aria-label'))?.replace(`${title}, block`, ''),
    )
  const shows = (title: string, words: string) =>
    block(page, title).getByRole('button', { name: words, exact: true }).waitFor()
  const send = (price: number) =>
    studio.ask('POST', '/goods', { body: { price, note: 'tea '.repeat(40), password: 'hunter2 of Ada' } })
  const trace = (on: boolean) => studio.quoin.manage('PUT', `/blueprints/${blueprint}/tracing`, { on })

  test('before a run there are no values, and after one the open canvas has them', async () => {
    await says('Check').toBe('')
    await trace(true)
    expect((await send(3)).status).toBe(201)
    await trace(false)
    await says('Check').toBe(', traced run')
    await shows('Check', 'condition got true')
    await shows('Kept', 'value got 3')
    await shows('Keep', 'document gave {price, note, _meta}')
    await says('Refused').toBe('')
    await block(page, 'Kept').getByText('traced run,').waitFor()
    expect(await axeProblems(page)).toEqual([])
  })

  test('an edit keeps them, and says that the block was changed since', async () => {
    await block(page, 'Kept').click()
    const panel = page.getByRole('region', { name: 'Last values' })
    await panel.getByText('traced run').waitFor()
    const title = page.getByRole('textbox', { name: 'Title' })
    await title.fill('Answer')
    await title.press('Tab')
    await says('Answer').toBe(', traced run')
    const code = page.getByRole('group', { name: /^code,/ }).getByRole('textbox')
    await code.fill('202')
    await code.press('Tab')
    await says('Answer').toBe(', traced run, changed since')
    await shows('Answer', 'value got 3')
    await panel.getByText('The block was changed since then.').waitFor()
    await page.keyboard.press('Control+z')
    await says('Answer').toBe(', traced run')
  })

  test('the panel has them whole', async () => {
    await block(page, 'Keep').click()
    const panel = page.getByRole('region', { name: 'Last values' })
    await panel.getByText('tea '.repeat(40).trim()).first().waitFor()
    expect(await page.content()).not.toContain('hunter2')
  })

  test('each block has those of the last run that passed it, also of a try, and leads there', async () => {
    const tried = await studio.quoin.manage('POST', `/blueprints/${blueprint}/run`, {
      ...{ trigger: 'POST goods', input: { body: { price: -1 } } },
    })
    await says('Refused').toBe(', tried')
    await shows('Refused', 'value got -1')
    await shows('Check', 'condition got false')
    await says('Keep').toBe(', traced run')
    await block(page, 'Refused')
      .getByRole('button', { name: /^tried,/ })
      .click()
    await page.getByRole('region', { name: 'Shown run' }).waitFor()
    expect(new URL(page.url()).searchParams.get('run')).toBe(Object(tried).guid)
    await says('Keep').toBe(', did not run')
    await page.getByRole('button', { name: 'Leave the run' }).click()
    await says('Keep').toBe(', traced run')
  })

  test('a user who may not see runs sees none', async () => {
    await studio.quoin.addUser('drawer', [
      ...['blueprints_view', 'blueprints_update', 'blueprintactions_view', 'blueprintactions_update'],
    ])
    const other = await open('drawer')
    const refused = other.waitForResponse((reply) => reply.url().includes('/runs?') && reply.status() === 403)
    await Promise.all([refused, other.reload()])
    await block(other, 'Check').waitFor()
    expect(await block(other, 'Check').getAttribute('aria-label')).toBe('Check, block')
    await other.context().close()
  })

  test('values are switched off and on, and the browser keeps it', async () => {
    const values = page.getByRole('button', { name: 'Values', exact: true })
    await values.click()
    await says('Keep').toBe('')
    await page.reload()
    await says('Keep').toBe('')
    expect(await values.getAttribute('aria-pressed')).toBe('false')
    await values.click()
    await says('Keep').toBe(', traced run')
  })

  test('times of sampled runs are shown at the blocks of the deployed version', async () => {
    const path = `/blueprints/${blueprint}/block-times`
    await eventually(async () => {
      await send(3)
      return objectOf(await studio.quoin.manage('GET', path)).runs
    }).toBeGreaterThan(1)
    await page.getByRole('button', { name: 'Times', exact: true }).click()
    await says('Keep').toMatch(/, \d+ passes, median [\d.]+ ms, 95 % below [\d.]+ ms$/)
    const legend = page.getByRole('status').filter({ hasText: 'version 1' })
    await legend.getByText(/\d+ sampled runs? of version 1 in a day/).waitFor()
    await block(page, 'Keep')
      .getByTitle(/^Sampled runs: /)
      .waitFor()
    expect(
      await block(page, 'Refused')
        .getByTitle(/^Sampled runs: /)
        .count(),
    ).toBe(0)
    expect(await axeProblems(page)).toEqual([])
    await page.getByRole('button', { name: 'Times', exact: true }).click()
    await says('Keep').toBe(', traced run')
  })

  test('nothing was complained of', () => expect(studio.complaints()).toEqual([]))
})
