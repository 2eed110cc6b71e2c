/** Why did it go this way? Runs on the canvas: sent from inside, step by step, run again, and paused at a breakpoint. */
import { readFile } from 'node:fs/promises'
import type { Locator, Page } from 'playwright-core'
import { beforeAll, describe, expect, inject, test } from 'vitest'
import { installBlueprint } from '../../src/flows/blueprints/install-blueprint.ts'
import { guidOf, objectOf, objectsOf } from '../end-to-end/harness.ts'
import { axeColourProblems, axeProblems } from './axe-check.ts'
import { eventually, press, textOf } from './studio-eventually.ts'
import { goWithin, studioOfSuite } from './studio-fixture.ts'

/** A note with a text is kept; one without is refused. */
const notes = {
  add: { type: 'on_startup_register_uri_post', title: 'Add', in: { uri: 'notes' }, scopes: ['*public'] },
  read: {
    type: 'object_update_fields',
    title: 'Read',
    in: { object: '@add.body' },
    fields: { out_fields: ['text'] },
  },
  filled: { type: 'condition_not_empty_value', title: 'Is there a text', in: { value: '@read.text' } },
  check: { type: 'branch', title: 'Check', in: { flow: '@add.flow', condition: '@filled.condition' } },
  notes: { type: 'storage', title: 'Notes', fields: { storage: 'notes' } },
  fields: {
    type: 'mutations_set_bp_field_multiple',
    title: 'Its fields',
    in: { text: '@read.text' },
    fields: { fields: ['text'] },
  },
  keep: {
    type: 'function_create_document_from_mutations',
    title: 'Keep',
    in: { flow: '@check.true', storage: '@notes.storage', mutations: '@fields.mutations' },
  },
  kept: {
    type: 'httpconnection_set_json',
    title: 'Kept',
    in: { flow: '@keep.flow', code: 201, value: '@keep.document' },
  },
  refused: {
    type: 'httpconnection_set_json',
    title: 'Refused',
    in: { flow: '@check.false', code: 400, value: { error: 'text is required' } },
  },
}

const layout = {
  ...{
    add: [0, 0],
    read: [0, 180],
    filled: [290, 180],
    check: [290, 0],
    notes: [0, 330],
    fields: [290, 330],
  },
  ...{ keep: [580, 0], kept: [870, 0], refused: [580, 200] },
}

const studio = studioOfSuite()
let page: Page
let blueprint = ''
beforeAll(async () => {
  const { flows } = studio.quoin.quoin
  blueprint = await installBlueprint(
    flows,
    { name: 'Notes', blocks: notes, layout },
    { guid: '', username: 'builder' },
  )
  page = await open('?panel=try')
}, 240_000)

const open = (words: string, options = {}) =>
  studio.open('admin', `blueprints/${blueprint}${words}`, {
    viewport: { width: 1500, height: 900 },
    ...options,
  })
const block = (on: Page, title: string): Locator =>
  on.locator(`.react-flow__node-block[aria-label^="${title}, block"]`)
/** What a block says of the run that is shown; waits for it. */
const says = (on: Page, title: string) =>
  eventually(async () => (await block(on, title).getAttribute('aria-label'))?.replace(`${title}, block`, ''))
/** Waits until this step is the one that is looked at, from 1. */
const at = (on: Page, step: number) =>
  bar(on)
    .getByText(new RegExp(`^${step} of \\d+`))
    .waitFor()
const rows = () => page.getByRole('list', { name: 'Runs' }).getByRole('button')
const bar = (on: Page) => on.getByRole('region', { name: 'Shown run' })
const kept = async () => (await studio.quoin.documents('notes')).map(({ text }) => text)

/** Sends a note from outside; resolves when it is answered. */
function sendNote(text: string): Promise<{ readonly status: number }> {
  return studio.ask('POST', '/notes', { as: 'admin', body: { text } })
}

describe('a request that is sent from inside', () => {
  test('lights up the way it took', async () => {
    await page.getByRole('textbox', { name: 'Body' }).fill('{"text":"Buy milk"}')
    await page.getByRole('button', { name: 'Send POST' }).click()
    await page.getByText('Run shown on the canvas.').waitFor()
    await bar(page).getByText('201').waitFor()
    await says(page, 'Add').toBe(', step 1')
    await says(page, 'Kept').toMatch(/^, step \d+$/)
    await says(page, 'Refused').toBe(', did not run')
    await says(page, 'Notes').toBe(', its value is fixed')
    await block(page, 'Keep').getByText(/ms$/).waitFor()
    expect(await kept()).toEqual(['Buy milk'])
  })

  test('shows on each wire what it carried, and whole what one rests on', async () => {
    const wires = page.locator('.react-flow__edge')
    await eventually(() =>
      wires.evaluateAll((all) => all.map((one) => one.getAttribute('aria-label') ?? '')),
    ).toEqual(
      expect.arrayContaining([
        'Wire from text to value, carried "Buy milk"',
        'Wire from true to flow, taken',
        'Wire from false to flow, carried no value',
      ]),
    )
    const value = block(page, 'Kept').getByRole('button', { name: /^value got/ })
    await eventually(textOf(value)).toBe('{text, _meta}')
    await value.hover()
    const whole = page.getByRole('dialog')
    await whole.getByText('"Buy milk"').waitFor()
    await page.mouse.move(700, 850)
    await whole.waitFor({ state: 'detached' })
    await value.focus()
    await whole.getByText('"Buy milk"').waitFor()
    await press(page, 'Escape')
    await whole.waitFor({ state: 'detached' })
  })

  test('that is refused goes the other way', async () => {
    await page.getByRole('textbox', { name: 'Body' }).fill('{"text":""}')
    await page.getByRole('button', { name: 'Send POST' }).click()
    await bar(page).getByText('400').waitFor()
    await says(page, 'Refused').toMatch(/^, step \d+$/)
    await says(page, 'Keep').toBe(', did not run')
    expect(await kept()).toEqual(['Buy milk'])
  })
})

describe('past runs', () => {
  test('are listed, the newest first, and those with errors for themselves', async () => {
    await press(page, 'Escape')
    await page.getByRole('button', { name: /^Runs/ }).click()
    await page.getByRole('button', { name: 'All runs' }).click()
    const outcomes = async () => (await rows().allTextContents()).map((text) => text.slice(0, 3))
    await eventually(outcomes).toEqual(['400', '201'])
    await page.getByText('Errors 1').click()
    await eventually(outcomes).toEqual(['400'])
    await page.getByText('All 2').click()
    await eventually(outcomes).toEqual(['400', '201'])
    await rows().nth(1).click()
    await bar(page).getByText('201').waitFor()
  })

  test('are gone through by keys, and on the blocks nothing has happened yet that comes later', async () => {
    await press(page, 'ArrowRight')
    await at(page, 1)
    await press(page, 'ArrowRight')
    await at(page, 2)
    await says(page, 'Read').toBe(', step 2')
    await says(page, 'Check').toBe(', did not run')
    const step = page.locator('[aria-current="step"]')
    await eventually(textOf(step)).toContain('Read')
    await step.focus()
    await press(page, 'ArrowDown')
    await eventually(textOf(step)).toContain('Is there a text')
    await eventually(textOf(page.getByRole('region', { name: 'Steps' }))).toContain('value "Buy milk"')
    await press(page, 'ArrowLeft')
    await at(page, 2)
  })

  test('have an address, and are told in words in the outline', async () => {
    await eventually(() => new URL(page.url()).searchParams.get('step')).toBe('2')
    const other = await open(new URL(page.url()).search)
    await at(other, 2)
    await press(other, 'o')
    const row = (name: RegExp) => textOf(other.getByRole('treeitem', { name }).first())
    await eventually(row(/^value ?Read/)).toContain('step 2')
    await eventually(row(/^step ?Check/)).toContain('did not run')
    await eventually(row(/^pin object/)).toContain('got {text}')
    await other.context().close()
  })

  test('come in while one looks', async () => {
    await page.getByRole('button', { name: 'All runs' }).click()
    await page.getByRole('switch', { name: 'Trace every run' }).click()
    await page.getByText(/^On until/).waitFor()
    expect((await sendNote('Seen at once')).status).toBe(201)
    await eventually(() => rows().count()).toBe(3)
    await page.getByRole('switch', { name: 'Trace every run' }).click()
    await page.getByText(/^Off:/).waitFor()
    expect((await sendNote('Not seen')).status).toBe(201)
  })
})

describe('a breakpoint', () => {
  test('is set by a key, and says that runs pause there', async () => {
    await block(page, 'Keep').click({ position: { x: 60, y: 12 } })
    await page.locator('.react-flow__node-block.selected[aria-label^="Keep, block"]').waitFor()
    await press(page, 'b')
    await page.getByText('Runs are traced for 15 minutes').waitFor()
    await block(page, 'Keep').getByTitle('Breakpoint: runs pause before this block').waitFor()
  })

  test('holds a run up, which is announced, goes a step, and to its end', async () => {
    const before = await kept()
    const answered = sendNote('Step by step')
    await page.getByRole('button', { name: 'Look' }).click()
    await bar(page).getByText('Paused').waitFor()
    await bar(page).getByText('before Keep').waitFor()
    await says(page, 'Keep').toMatch(/^, step \d+, paused$/)
    await bar(page).getByRole('progressbar').waitFor()
    expect(await kept()).toEqual(before)
    await press(page, 'F10')
    // It does not pause again once it has written: others would wait for it.
    await says(page, 'Kept').toMatch(/step \d+: Not paused/)
    expect((await answered).status).toBe(201)
    await bar(page).getByText('201').waitFor()
    expect(await kept()).toEqual([...before, 'Step by step'])
  })

  test('lets a run go on by a key', async () => {
    const answered = sendNote('Resumed')
    await page.getByRole('button', { name: 'Look' }).click()
    await bar(page).getByText('before Keep').waitFor()
    await press(page, 'F8')
    expect((await answered).status).toBe(201)
    await bar(page).getByText('201').waitFor()
    expect((await kept()).at(-1)).toBe('Resumed')
  })

  test('holds up a request of one’s own, which is stopped and leaves nothing behind', async () => {
    const before = await kept()
    await page.getByRole('button', { name: 'Try it' }).click()
    await page.getByRole('textbox', { name: 'Body' }).fill('{"text":"Stopped"}')
    await page.getByRole('button', { name: 'Send POST' }).click()
    await bar(page).getByRole('button', { name: 'Stop' }).click()
    await bar(page).getByText('409').waitFor()
    await says(page, 'Keep').toContain('failed: RUN_STOPPED')
    expect(await kept()).toEqual(before)
  })

  test('is taken away in the panel of its block', async () => {
    await press(page, 'Escape')
    await block(page, 'Keep').click({ position: { x: 60, y: 12 } })
    await page.getByRole('button', { name: /^Runs/ }).click()
    await block(page, 'Keep').click({ button: 'right', position: { x: 60, y: 12 } })
    await page.getByRole('menuitem', { name: 'Remove breakpoint' }).click()
    const mark = block(page, 'Keep').getByTitle(/^Breakpoint/)
    await eventually(() => mark.count()).toBe(0)
    // It is gone from the screen before the server knows.
    const tracing = () => studio.ask('GET', `/blueprints/${blueprint}/tracing`, { as: 'admin' })
    await eventually(async () => (await tracing()).body).toMatchObject({ breakpoints: [] })
    expect((await sendNote('Passes')).status).toBe(201)
  })
})

test('a run is kept as a test, which is saved as a file', async () => {
  await page.getByRole('button', { name: 'All runs' }).click()
  await page.getByRole('list', { name: 'Runs' }).getByRole('button', { name: /201/ }).first().click()
  const [saved] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Keep as a test' }).click(),
  ])
  const text = await readFile(await saved.path(), 'utf8')
  expect([saved.suggestedFilename(), JSON.parse(text)]).toMatchObject([
    expect.stringMatching(/^post-.*\.test\.json$/),
    { steps: [{ request: expect.stringMatching(/^POST /), expect: { status: 201 } }] },
  ])
})

test('kept tests run on the canvas, which shows the blocks and ways that they took', async () => {
  const own = await open('?panel=runs')
  await own.getByRole('list', { name: 'Runs' }).getByRole('button', { name: /201/ }).first().click()
  await Promise.all([
    own.waitForEvent('download'),
    own.getByRole('button', { name: 'Keep as a test' }).click(),
  ])
  await own.getByRole('button', { name: 'More', exact: true }).click()
  await own.getByRole('menuitem', { name: 'Tests' }).click()
  const panel = own.getByRole('complementary', { name: 'Tests' })
  await panel.getByRole('button', { name: 'Run tests' }).click()
  await panel.getByText('1 of 1 passed').waitFor({ timeout: 60_000 })
  await says(own, 'Kept').toBe(', run by the tests')
  await says(own, 'Check').toBe(', run by the tests, not on every way')
  await says(own, 'Refused').toBe(', not run by a test')
  for (const words of ['true to flow, taken by the tests', 'false to flow, not taken by a test'])
    expect(await own.locator(`.react-flow__edge[aria-label="Wire from ${words}"]`).count()).toBe(1)
  expect(await axeProblems(own)).toEqual([])
  await panel.getByRole('list', { name: 'Not taken' }).getByRole('button', { name: 'Check false' }).click()
  await eventually(() =>
    own.locator('.react-flow__node-block.selected').getAttribute('aria-label'),
  ).toContain('Check')
  const wrong = { name: 'Wrong', steps: [{ request: 'POST /notes', body: {}, expect: { status: 299 } }] }
  const file = { name: 'w.test.json', mimeType: 'text/json', buffer: Buffer.from(JSON.stringify(wrong)) }
  await panel.locator('input[type=file]').setInputFiles(file)
  await panel.getByRole('button', { name: 'Run tests' }).click()
  await panel.getByText('What ran').click({ timeout: 60_000 })
  const ran = panel.getByRole('list', { name: 'What ran in Wrong' })
  await eventually(textOf(ran)).toMatch(/check got .* gave /)
  // Without its panel the canvas is as before.
  await panel.getByRole('button', { name: 'Close the tests' }).click()
  await says(own, 'Refused').not.toContain('test')
  await own.close()
})

describe('a run that is run again', () => {
  test('on what is drawn is compared with what was answered then, and writes nothing', async () => {
    // A click on a block shows its settings, also while the runs are open.
    await page.getByRole('complementary', { name: 'Runs' }).waitFor()
    await block(page, 'Kept').click({ position: { x: 60, y: 12 } })
    await page.getByLabel('Value of code').fill('202')
    await press(page, 'Tab')
    await page.getByText('1 staged').waitFor()
    const before = await kept()
    await page.getByRole('button', { name: /^Runs/ }).click()
    await page.getByRole('button', { name: 'All runs' }).click()
    await page.getByRole('list', { name: 'Runs' }).getByRole('button', { name: /201/ }).first().click()
    await page.getByRole('button', { name: 'Run again and compare' }).click()
    const compared = page.getByRole('region', { name: 'Compared with the run before' })
    await compared.getByText('202').waitFor()
    await eventually(textOf(compared)).toContain('no document has changed')
    expect(await kept()).toEqual(before)
  })

  test('on what is deployed is answered as it was', async () => {
    await page.getByText('Deployed', { exact: true }).click()
    await page.getByRole('button', { name: 'Run again and compare' }).click()
    await page.getByText('Same reply').waitFor()
  })

  test('all of them are compared with the canvas before a deploy, and nothing is written', async () => {
    const before = await kept()
    await page.getByRole('button', { name: 'Deploy', exact: true }).click()
    const dialog = page.getByRole('dialog', { name: 'Deploy' })
    await dialog.getByRole('button', { name: 'Compare with recorded requests' }).click()
    await dialog.getByText(/^[1-9]\d* same$/).waitFor()
    await dialog.getByText(/^[1-9]\d* different$/).waitFor()
    await dialog.getByText('POST notes').first().click()
    await eventually(textOf(dialog.getByRole('row', { name: /status/ }).first())).toMatch(/201.*202/)
    expect(await axeProblems(page)).toEqual([])
    // What is meant is accepted, and not listed by the next comparison.
    await dialog.getByRole('checkbox', { name: 'POST notes another status: is meant' }).check()
    await dialog.getByRole('button', { name: 'Accept 1 difference' }).click()
    await dialog.getByText('1 accepted').waitFor()
    await dialog.getByRole('button', { name: 'Compare with recorded requests' }).click()
    await dialog.getByText('1 accepted').waitFor()
    expect(await dialog.getByRole('checkbox', { name: 'POST notes another status: is meant' }).count()).toBe(
      0,
    )
    expect(await kept()).toEqual(before)
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    await dialog.waitFor({ state: 'detached' })
  })
})

test.each(['light', 'dark'] as const)(
  'it is accessible: %s',
  async (colorScheme) => {
    await eventually(() => page.url()).toContain('run=')
    const { search } = new URL(page.url())
    // In the dark on a tablet, which has no palette.
    const width = colorScheme === 'dark' ? 990 : 1500
    const other = await open(search, { colorScheme, viewport: { width, height: 900 } })
    for (const words of [search, `${search}&view=outline&step=2`, '?panel=runs', '?panel=try']) {
      if (words !== search) await goWithin(other, `blueprints/${blueprint}${words}`)
      if (words.includes('run=')) await bar(other).getByRole('button', { name: 'The next step' }).waitFor()
      else
        await other
          .getByText(words === '?panel=try' ? 'Anonymous' : /^All \d/)
          .first()
          .waitFor()
      // Panels and outline are the same on a tablet but for their colours.
      const whole = colorScheme === 'light' || words === search || inject('thorough')
      expect([words, await (whole ? axeProblems : axeColourProblems)(other)]).toEqual([words, []])
    }
    await other.context().close()
  },
  240_000,
)

/** Two documents of one text, in a storage that keeps history. */
const pairs = {
  pair: { type: 'on_startup_register_uri_post', in: { uri: 'pairs' }, scopes: ['*public'] },
  read: { type: 'object_update_fields', in: { object: '@pair.body' }, fields: { out_fields: ['text'] } },
  pairs: { type: 'storage', fields: { storage: 'pairs' } },
  fields: {
    type: 'mutations_set_bp_field_multiple',
    in: { text: '@read.text' },
    fields: { fields: ['text'] },
  },
  first: {
    type: 'function_create_document_from_mutations',
    in: { flow: '@pair.flow', storage: '@pairs.storage', mutations: '@fields.mutations' },
  },
  second: {
    type: 'function_create_document_from_mutations',
    in: { flow: '@first.flow', storage: '@pairs.storage', mutations: '@fields.mutations' },
  },
  done: { type: 'httpconnection_set_json', in: { flow: '@second.flow', code: 201, value: '@read.text' } },
}

describe('a run is undone', () => {
  let documents = ''
  let guid = ''
  const dialog = () => page.getByRole('dialog', { name: 'Undo this run' })
  const openDialog = () => page.getByRole('button', { name: 'Undo this run' }).click()
  const close = async () => {
    await dialog().getByRole('button', { name: 'Cancel' }).click()
    await dialog().waitFor({ state: 'detached' })
  }
  const all = async () =>
    (await studio.quoin.documents('pairs')).filter(({ _meta }) => objectOf(_meta).removed === 0)
  const texts = async () => (await all()).map(({ text }) => text).sort()
  /** Goes to the newest run. */
  const pair = async (text: string) => {
    expect(await studio.ask('POST', '/pairs', { body: { text } })).toMatchObject({ status: 201 })
    const [run] = objectsOf(await studio.quoin.manage('GET', `/runs?blueprint=${guid}&limit=1`))
    await goWithin(page, `blueprints/${guid}?run=${String(run?.guid)}`)
    await openDialog()
  }
  beforeAll(async () => {
    const { manage } = studio.quoin
    const made = await manage('POST', '/_system/storages', { name: 'pairs', history: true })
    documents = `/_system/storages/${guidOf(made)}/documents`
    guid = await studio.quoin.install('Pairs', pairs)
    await manage('PUT', `/blueprints/${guid}/tracing`, { on: true })
  })

  test('not where its storages keep no history, which is said', async () => {
    const before = await kept()
    const [run] = objectsOf(await studio.quoin.manage('GET', `/runs?blueprint=${blueprint}&limit=1`))
    await goWithin(page, `blueprints/${blueprint}?run=${String(run?.guid)}`)
    const again = page.getByRole('button', { name: 'Run again and compare' })
    await again.waitFor()
    // The newest is a replay, whose writes were undone at its end.
    expect(await page.getByRole('button', { name: 'Undo this run' }).count()).toBe(0)
    await page.getByRole('button', { name: 'All runs' }).click()
    await page.getByRole('list', { name: 'Runs' }).getByRole('button', { name: /400/ }).first().click()
    await openDialog()
    await dialog()
      .getByText(/^The history has no writes of this run/)
      .waitFor()
    expect(await dialog().getByRole('button', { name: 'Undo', exact: true }).count()).toBe(0)
    await press(page, 'Escape')
    await dialog().waitFor({ state: 'detached' })
    expect(await kept()).toEqual(before)
  })

  test('is asked first: what it wrote is listed, and a cancelled dialog changes nothing', async () => {
    await pair('Both')
    await dialog().getByText('2 documents become as before the run').waitFor()
    expect(await dialog().getByText('is removed').count()).toBe(2)
    expect(await axeProblems(page)).toEqual([])
    await close()
    expect(await texts()).toEqual(['Both', 'Both'])
  })

  test('all that it wrote is removed, but not a second time', async () => {
    await openDialog()
    await dialog().getByRole('button', { name: 'Undo', exact: true }).click()
    await page.getByText('Undone: 2 documents are as before the run').waitFor()
    expect(await texts()).toEqual([])
    await openDialog()
    await dialog().getByText('No document can be set back').waitFor()
    expect(await dialog().getByRole('button', { name: 'Undo', exact: true }).isDisabled()).toBe(true)
    await close()
  })

  test('what another user has changed since is named and stays', async () => {
    await pair('Partly')
    await dialog().getByText('2 documents become as before the run').waitFor()
    const change = async (text: string) => {
      const [one] = await all()
      const changed = objectOf(await studio.quoin.manage('PUT', `${documents}/${guidOf(one)}`, { text }))
      return guidOf(changed)
    }
    // While the dialog is open: nothing is undone, and the plan is read again.
    const changed = await change('Changed')
    await dialog().getByRole('button', { name: 'Undo', exact: true }).click()
    await dialog().getByText('Nothing was undone').waitFor()
    await dialog().getByText('1 document stays as it is').waitFor()
    await dialog()
      .getByRole('listitem')
      .filter({ hasText: changed })
      .filter({ hasText: 'changed since' })
      .waitFor()
    expect(await texts()).toEqual(['Changed', 'Partly'])
    await dialog().getByRole('button', { name: 'Undo the others' }).click()
    await page.getByText('Undone: 1 document is as before the run, 1 not').waitFor()
    expect(await texts()).toEqual(['Changed'])
  })
})

test('the browser has complained of nothing', () => {
  expect(studio.complaints()).toEqual([])
})
