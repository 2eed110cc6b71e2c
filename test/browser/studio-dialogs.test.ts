/** What opens over the screens of the studio, its editor in all its states, and its first minute: axe finds nothing wrong, and nothing that is typed early is lost. */
import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import { installBlueprint } from '../../src/flows/blueprints/install-blueprint.ts'
import type { JsonObject } from '../../src/shared/json.ts'
import { guidOf, objectOf, objectsOf } from '../end-to-end/harness.ts'
import { eventually, press as pressIn } from './studio-eventually.ts'
import { goWithin, studioOfSuite } from './studio-fixture.ts'
import { expectNoProblem, settled } from './studio-looks.ts'

const studio = studioOfSuite({ QUOIN_EXAMPLES: '1', QUOIN_SECRETS_KEY: '0f'.repeat(32) })

describe('axe finds nothing wrong', () => {
  let page: Page
  let tasks: string
  let small: string

  /** What dialogs open over: axe looks at each element behind them too, and takes a third as long for these as for Tasks. */
  const blocks: JsonObject = {
    list: { type: 'on_startup_register_uri_get', in: { uri: 'found' }, scopes: ['*public'] },
    storage: { type: 'storage', fields: { storage: 'tasks' } },
    sort: { type: 'query_sort_field', in: { field: 'title' } },
    search: {
      type: 'function_search',
      in: { flow: '@list.flow', storage: '@storage.storage', sort: '@sort.sort' },
    },
    reply: { type: 'httpconnection_set_json', in: { flow: '@search.flow', value: '@search.documents' } },
  }

  const layout: JsonObject = {
    list: [0, 0],
    storage: [0, 300],
    sort: [0, 500],
    search: [400, 0],
    reply: [800, 0],
  }

  beforeAll(async () => {
    const [blueprint] = objectsOf(await studio.quoin.manage('POST', '/blueprints/search', {}))
    tasks = `blueprints/${guidOf(blueprint)}`
    const by = { guid: '', username: 'builder' }
    const { flows } = studio.quoin.quoin
    small = `blueprints/${await installBlueprint(flows, { name: 'Found', blocks, layout }, by)}`
    page = await studio.open('admin', 'welcome')
  }, 300_000)

  const dialog = () => page.getByRole('dialog')

  /** Opens something, looks at it, and shuts it with Escape. */
  async function lookAt(what: string, open: () => Promise<void>): Promise<void> {
    await open()
    await dialog().waitFor()
    await settled(page)
    await expectNoProblem(page, what)
    await pressIn(page, 'Escape')
    await dialog().waitFor({ state: 'detached' })
  }

  const press = (keys: string) => () => pressIn(page, keys)

  test('signing in, also after a mistake', async () => {
    const nobody = await studio.open(undefined, 'data/fields')
    await nobody.getByLabel('User name or e-mail').waitFor()
    await expectNoProblem(nobody, 'sign-in')
    await nobody.getByLabel('User name or e-mail').fill('admin')
    await nobody.getByLabel('Password', { exact: true }).fill('not the password')
    await nobody.getByRole('button', { name: 'Sign in' }).click()
    await nobody.getByText('You are not signed in').waitFor()
    await expectNoProblem(nobody, 'sign-in refused')
    await nobody.context().close()
  }, 180_000)

  test('the first start: three steps, of which the last one answers', async () => {
    await page.getByRole('heading', { name: 'Welcome to Quoin' }).waitFor()
    await page.getByRole('button', { name: 'GET /api/v1/tasks' }).click()
    await page.getByText('200', { exact: true }).waitFor()
    await expectNoProblem(page, 'welcome, called')
  }, 180_000)

  test.each(['reduce', 'no-preference'] as const)(
    'what is typed before the palette has the focus arrives in it as a whole: %s',
    async (reducedMotion) => {
      await goWithin(page, 'blueprints')
      await settled(page)
      await page.emulateMedia({ reducedMotion })
      // The timer that moves the focus into a dialog comes late, as on a busy machine; alone, `n` is a shortcut here.
      await page.evaluate(`globalThis.soon = setTimeout
      globalThis.setTimeout = (work, ms) => (ms === undefined ? 0 : soon(work, ms))`)
      await pressIn(page, 'ControlOrMeta+k')
      await page.keyboard.type('new storage')
      await page.evaluate('globalThis.setTimeout = soon')
      expect(await dialog().getByRole('textbox').inputValue()).toBe('new storage')
      await pressIn(page, 'Escape')
      await dialog().waitFor({ state: 'detached' })
      await page.emulateMedia({ reducedMotion: 'reduce' })
    },
  )

  test('what is there on every screen', async () => {
    await lookAt('command palette', press('ControlOrMeta+k'))
    for (const what of ['blueprint', 'storage']) {
      await pressIn(page, 'ControlOrMeta+k')
      await page.keyboard.type(`new ${what}`)
      await pressIn(page, 'Enter')
      await lookAt(`new ${what} by the palette`, () =>
        page.getByRole('dialog', { name: `New ${what}` }).waitFor(),
      )
    }
    await lookAt('list of keys', press('?'))
    await page.getByRole('button', { name: 'AD, your account' }).click()
    await page.getByRole('menu').waitFor()
    await expectNoProblem(page, 'user menu')
    await pressIn(page, 'Escape')
  }, 180_000)

  test('screens without anything on them', async () => {
    for (const address of ['assets', 'data/fields', 'data/rules', 'operate/schedules', 'nowhere']) {
      // `goWithin` goes by way of nowhere.
      await (address === 'nowhere' ? page.goto(address) : goWithin(page, address))
      await settled(page)
      await expectNoProblem(page, address)
    }
  }, 180_000)

  test('forms and questions', async () => {
    await goWithin(page, 'blueprints')
    await settled(page)
    await lookAt('new blueprint', press('n'))
    await lookAt('import a blueprint', () => page.getByRole('button', { name: 'Import' }).click())
    await lookAt('deactivate', async () => {
      await page.getByRole('button', { name: 'More about Tasks' }).click()
      await page.getByRole('menu').waitFor()
      await expectNoProblem(page, 'menu of a blueprint')
      await page.getByRole('menuitem', { name: 'Deactivate', exact: true }).click()
    })
  }, 180_000)

  test('the editor', async () => {
    await goWithin(page, tasks)
    const block = page.locator('.react-flow__node-block')
    await block.first().waitFor()
    await expectNoProblem(page, 'canvas from afar')
    await goWithin(page, small)
    await block
      .filter({ hasText: 'Search documents' })
      .first()
      .click({ position: { x: 12, y: 6 } })
    for (const _ of [1, 2, 3, 4, 5]) await pressIn(page, '=')
    await block.locator('.react-flow__handle').first().waitFor()
    await page.getByRole('group', { name: /^storage, / }).waitFor()
    await expectNoProblem(page, 'canvas with a block chosen', 'html')
    await lookAt('add a block', press('a'))
    await page.getByRole('button', { name: 'Wire sort to …' }).click()
    await page.getByRole('option', { name: 'A new block that fits …' }).waitFor()
    await expectNoProblem(page, 'sources of a wire')
    await pressIn(page, 'Escape')
    // Something staged: it is shown on the block, and can be discarded.
    await page.getByLabel('Title', { exact: true }).fill('Find them')
    await pressIn(page, 'Escape')
    await page.getByText('1 staged', { exact: true }).waitFor()
    await lookAt('discard', () => page.getByRole('button', { name: 'Discard' }).click())
    await lookAt('deploy', press('ControlOrMeta+Enter'))
    await lookAt('versions', press('v'))
    await lookAt('why 404', async () => {
      await page.getByRole('button', { name: 'More', exact: true }).click()
      await page.getByRole('menuitem', { name: 'Explain a 404' }).click()
    })
    await pressIn(page, 't')
    await page.getByRole('button', { name: 'Send GET' }).click()
    await page.getByRole('complementary', { name: 'Try it' }).getByText('200', { exact: true }).waitFor()
    await expectNoProblem(page, 'try it, answered')
    await pressIn(page, 'Escape')
    await pressIn(page, 'o')
    await page.getByRole('tree').waitFor()
    await expectNoProblem(page, 'outline')
    expect(studio.complaints()).toEqual([])
  }, 300_000)

  test('the editor on a tablet: the blocks lie over the canvas while they are wanted', async () => {
    const tablet = await studio.open('admin', small, { viewport: { width: 820, height: 1180 } })
    const blocks = tablet.locator('.react-flow__node-block')
    await blocks.first().waitFor()
    const palette = tablet.getByRole('complementary', { name: 'Blocks to add' })
    await palette.getByRole('button', { name: 'Show the blocks' }).click()
    await palette.locator('input:focus').waitFor()
    await expectNoProblem(tablet, 'palette on a tablet', 'html')
    await tablet.keyboard.type('log')
    await palette.getByRole('option', { name: /^Log/ }).click()
    await tablet.getByRole('group', { name: /^value, / }).waitFor()
    await eventually(() => palette.getByRole('option').count()).toBe(0)
    await palette.getByRole('button', { name: 'Show the blocks' }).click()
    await palette.getByRole('combobox').waitFor()
    await palette.locator('input:focus').waitFor()
    await pressIn(tablet, 'Escape')
    await palette.getByRole('button', { name: 'Show the blocks' }).waitFor()
    const wide = await tablet.evaluate('document.documentElement.scrollWidth - innerWidth')
    expect(Number(wide)).toBeLessThanOrEqual(0)
    // With a change there are the most buttons: the name of the blueprint is whole beside them, and on a phone none is off the screen.
    await tablet.getByText(/^\d staged$/).waitFor()
    const name = tablet.getByRole('heading', { level: 1 })
    expect(Number(await name.evaluate((one) => one.scrollWidth - one.clientWidth))).toBe(0)
    await tablet.setViewportSize({ width: 390, height: 844 })
    const left = () =>
      tablet
        .getByRole('banner')
        .getByRole('button')
        .evaluateAll((all) => Math.min(...all.map((one) => one.getBoundingClientRect().left)))
    await eventually(left).toBeGreaterThanOrEqual(0)
    // They are one line, too: what is needed less is in the menu.
    const lines = () =>
      tablet
        .getByRole('button', { name: /^(Save|Try it|Deploy|More)$/ })
        .evaluateAll((all) => all.map((one) => Math.round(one.getBoundingClientRect().bottom)))
    const [line] = await lines()
    expect(await lines()).toEqual([line, line, line, line])
    await tablet.getByRole('button', { name: 'More', exact: true }).click()
    await tablet.getByRole('menuitem', { name: 'Discard staged changes' }).click()
    await tablet.getByRole('dialog', { name: 'Discard' }).waitFor()
    await tablet.context().close()
  }, 180_000)

  test('a notification that stays: what failed is read out, and its button has a name', async () => {
    const tab = await studio.open('admin', 'blueprints')
    const choose = async (name: string, item: string) => {
      await tab.getByRole('button', { name: `More about ${name}`, exact: true }).click()
      await tab.getByRole('menuitem', { name: item }).click()
    }
    await choose('Found', 'Duplicate')
    // Its addresses are those of the first one, which is active.
    await choose('Found (copy)', 'Activate')
    const failed = tab.getByRole('alert').filter({ hasText: 'Found (copy) was not activated' })
    await failed.waitFor()
    await expectNoProblem(tab, 'notification')
    await failed.getByRole('button', { name: 'Close' }).click()
    await failed.waitFor({ state: 'detached' })
    await tab.context().close()
  }, 180_000)
})

describe('what is typed right behind the click that opens a dialog arrives in its first field, as a whole, and runs no shortcut', () => {
  let page: Page
  let boats: string
  beforeAll(async () => {
    const { manage } = studio.quoin
    boats = `data/storages/${guidOf(await manage('POST', '/_system/storages', { name: 'boats' }))}`
    await manage('POST', '/blueprintfields', { name: 'name', type: 'string', storage: 'boats' })
    await manage('POST', '/blueprints', { name: 'Hours' })
    await manage('POST', '/_system/authentication-groups', { name: 'sailors' })
    await manage('POST', '/_system/environment', { name: 'HARBOUR', value: 'north' })
    // With the fades of those who have not asked for less motion.
    page = await studio.open('admin', 'account', { reducedMotion: 'no-preference' })
  }, 120_000)

  const button = (name: string) => () => page.getByRole('button', { name, exact: true }).click()
  const item = (menu: string, name: string) => async () => {
    await button(menu)()
    await page.getByRole('menuitem', { name, exact: true }).click()
  }

  test.each<readonly [string, string | (() => string), () => Promise<void>]>([
    ['New blueprint', 'blueprints', button('New blueprint')],
    ['Import a blueprint', 'blueprints', button('Import')],
    ['A dialog that a menu opens', 'blueprints', item('More about Hours', 'Name and description')],
    ['New storage', 'data', button('New storage')],
    ['Save a view', () => `${boats}?q=ida`, item('Views', 'Save as a new view')],
    ['Make API', () => boats, button('Make API')],
    ['Make pages', () => boats, button('Make pages')],
    ['New field', 'data/fields', button('New field')],
    ['New rule', 'data/rules', button('New rule')],
    ['New value', 'operate/environment', button('New value')],
    ['New secret', 'operate/secrets', button('New secret')],
    ['New group', 'people/groups', button('New group')],
    ['New provider', 'people/providers', button('New provider')],
    ['New API key', 'account', button('New API key')],
  ])('%s', async (_what, address, open) => {
    await goWithin(page, typeof address === 'string' ? address : address())
    await settled(page)
    // The timer that moves the focus into a dialog comes late, as on a busy machine.
    await page.evaluate(`globalThis.soon ??= setTimeout
    globalThis.setTimeout = (work, ms) => (ms === undefined ? 0 : soon(work, ms))`)
    await open()
    await page.keyboard.type('new')
    await page.evaluate('globalThis.setTimeout = soon')
    const field = page.getByRole('dialog').locator(':is(input, textarea):focus')
    await field.waitFor()
    // A list of two kinds takes no text.
    if (await field.isEditable()) expect(await field.inputValue()).toContain('new')
    // And nothing takes the focus on.
    await page.evaluate('new Promise((done) => setTimeout(done))')
    expect(await field.count()).toBe(1)
    expect(await page.getByRole('dialog').count()).toBe(1)
    await page.keyboard.press('Escape')
    await closed()
  })

  /** A select in it may take the first Escape. */
  const closed = () =>
    eventually(async () => {
      if ((await page.getByRole('dialog').count()) > 0) await page.keyboard.press('Escape')
      return page.getByRole('dialog').count()
    }).toBe(0)

  /** Both are fetched when they first open: their scripts come late here. Lost, `o` would open the outline. */
  test('A secret that is made in the panel of a block: what is typed is its value, and not its name', async () => {
    const blocks = {
      on: { type: 'on_startup_register_uri_post', in: { uri: 'signed' }, scopes: ['*public'] },
      check: {
        type: 'check_signature',
        in: { flow: '@on.flow', secret: 'NEW_KEY' },
        fields: { sender: 'github' },
      },
    }
    const by = { guid: '', username: 'admin' }
    const guid = await installBlueprint(studio.quoin.quoin.flows, { name: 'Signed', blocks }, by)
    const tab = await studio.open('admin', `blueprints/${guid}`)
    const fetched = Promise.withResolvers<void>()
    await tab.locator('.react-flow__node-block').filter({ hasText: 'signature' }).click()
    const make = tab.getByRole('button', { name: 'New secret NEW_KEY …' }).first()
    await make.waitFor()
    await tab.route('**/assets/*.js', async (route) => {
      await fetched.promise
      await route.continue()
    })
    await make.click()
    await tab.keyboard.type('og bo')
    expect(await tab.getByRole('tree').count()).toBe(0)
    fetched.resolve()
    const value = tab.getByRole('dialog').getByRole('textbox', { name: /^Value/ })
    await value.waitFor()
    await tab.keyboard.type('!')
    expect(await value.inputValue()).toBe('og bo!')
    expect(await tab.getByRole('dialog').getByRole('textbox', { name: /^Name/ }).inputValue()).toBe('NEW_KEY')
    await tab.context().close()
  })

  /** While the record is read there is no dialog yet, so `o` and `g b` would be shortcuts. */
  test.each([
    ['A field of documents', 'data/fields', 'name', 'blueprintfields'],
    ['A group', 'people/groups', 'sailors', 'authentication-groups'],
    ['A value of the environment', 'operate/environment', 'HARBOUR', 'environment'],
  ])('%s that is read first', async (_what, address, name, part) => {
    await goWithin(page, address)
    await settled(page)
    const read = Promise.withResolvers<void>()
    const reading = `**/api/v1/**/${part}/0*`
    await page.route(part === 'blueprintfields' ? '**/api/v1/blueprintfields/0*' : reading, async (route) => {
      await read.promise
      await route.continue()
    })
    await page.getByRole('link', { name, exact: true }).first().click()
    await eventually(() => page.url()).toContain('open=')
    await page.keyboard.type('g bo?x')
    await page.keyboard.press('Backspace')
    expect(await page.getByRole('dialog').count()).toBe(0)
    read.resolve()
    const field = page.getByRole('dialog').locator(':is(input, textarea):focus')
    await field.waitFor()
    await page.keyboard.type('!')
    if (await field.isEditable()) expect(await field.inputValue()).toContain('g bo?!')
    expect([await page.getByRole('dialog').count(), new URL(page.url()).pathname]).toEqual([
      1,
      `/studio/${address}`,
    ])
    await page.unrouteAll({ behavior: 'wait' })
    await page.keyboard.press('Escape')
    await closed()
  })
})

describe('two people', () => {
  test('what is typed stays when another user has changed the record', async () => {
    const page = await studio.open('admin', '')
    const user = guidOf(
      await studio.quoin.manage('POST', '/users', {
        username: 'eve',
        email: 'eve@example.com',
        password: 'a password for eve',
      }),
    )
    await goWithin(page, `people/users/${user}`)
    const first = page.getByLabel('First name')
    await first.fill('Ev')
    await studio.quoin.manage('PUT', `/users/${user}`, { lastname: 'Harbour' })
    await eventually(async () => {
      // As when the window is looked at again.
      await page.evaluate("dispatchEvent(new Event('visibilitychange'))")
      return page.getByLabel('Last name').inputValue()
    }).toBe('Harbour')
    await page.keyboard.type('e')
    expect(await first.inputValue()).toBe('Eve')
    await page.keyboard.press('Enter')
    await eventually(async () => {
      const { firstname, lastname } = objectOf(await studio.quoin.manage('GET', `/users/${user}`))
      return [firstname, lastname]
    }).toEqual(['Eve', 'Harbour'])
    await page.getByText('Saved', { exact: true }).first().waitFor()
    const stored = async () => objectOf(await studio.quoin.manage('GET', `/users/${user}`)).firstname
    // Both change the same: no key that was meant for the form decides it.
    await first.fill('Evelyn')
    await studio.quoin.manage('PUT', `/users/${user}`, { firstname: 'Eva' })
    await page.keyboard.press('Enter')
    const question = page.getByRole('dialog', { name: 'Changed by another person' })
    await question.getByText('Evelyn').waitFor()
    await page.keyboard.press('Space')
    await page.keyboard.press('Enter')
    expect(await question.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true)
    await expectNoProblem(page, 'a question of two people')
    await question.getByRole('button', { name: 'Cancel' }).click()
    await page.getByText('Nothing was saved').waitFor()
    expect([await first.inputValue(), await stored()]).toEqual(['Evelyn', 'Eva'])
    await first.press('Enter')
    await question.getByRole('radio', { name: 'Mine' }).check()
    await question.getByRole('button', { name: 'Save' }).click()
    await eventually(stored).toBe('Evelyn')
  })
})
