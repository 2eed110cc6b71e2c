/** Names of 200 characters, from right to left and with markup, in every list of the studio: nothing of them runs, and no list gets wider. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { JsonObject } from '../../src/shared/json.ts'
import { guidOf, objectOf } from '../end-to-end/harness.ts'
import { eventually } from './studio-eventually.ts'
import { goWithin, openStudio, type StudioFixture } from './studio-fixture.ts'
import { covered, cut, settled } from './studio-looks.ts'

const bad = [
  `${'Wide'.repeat(49)}End`,
  'שלום עולם, זה שם ארוך מאוד '.repeat(5).trim(),
  '</title><img src=x onerror="globalThis.hurt = 1"><script>globalThis.hurt = 1</script>',
] as const

let studio: StudioFixture
let page: Page
/** Below `/studio`, and whether the name with markup is shown there. */
const screens: [string, boolean][] = []

const make = async (path: string, body: JsonObject) =>
  guidOf(objectOf(await studio.quoin.manage('POST', path, body)))

beforeAll(async () => {
  studio = await openStudio({ QUOIN_SECRETS_KEY: Buffer.alloc(32, 4).toString('base64') })
  for (const [at, name] of bad.entries()) await fill(name, at)
  page = await studio.open('admin', 'welcome')
}, 120_000)
afterAll(() => studio?.close())

/** One of each kind of record with the name, or with the name as its description where names have letters only. */
async function fill(name: string, at: number): Promise<void> {
  const short = name.slice(0, 60)
  const blueprint = await studio.quoin.install(name, {
    get: { type: 'on_startup_register_uri_get', title: name, in: { uri: `bad${at}` }, scopes: ['*public'] },
    reply: { type: 'httpconnection_set_json', title: name, in: { flow: '@get.flow', value: '=params.x.y' } },
    tick: { type: 'schedule_repeating_event', title: name, in: { cron: '0 3 * * *' } },
    log: { type: 'function_console_log', title: name, in: { flow: '@tick.flow', value: '="a"' } },
  })
  const storage = await make('/_system/storages', { name: `bad${at}`, description: name })
  const field = { name: `f${at}`, type: 'string', label: name, help: name, storage: `bad${at}` }
  await make('/blueprintfields', field)
  const document = await make(`/_system/storages/${storage}/documents`, { [`f${at}`]: name })
  const person = {
    username: `bad${at}`,
    password: 'correct horse battery',
    firstname: short,
    lastname: short,
  }
  const user = await make('/users', person)
  await make('/_system/authentication-groups', { name: short, description: name, scopes: [] })
  await make('/_system/secrets', { name: `BAD${at}`, value: 'x', description: name })
  const alert = { figure: 'dead_letters', threshold: 1, mail: ['a@example.com'], active: true }
  await make('/_system/alerts', { name: `bad${at}`, description: name, ...alert })
  await make('/_system/environment', { name: `BAD${at}`, value: name, description: name })
  await make('/_system/connections', { name: `bad${at}`, base_url: 'https://a.example', description: name })
  const template = await make('/blueprinttemplates', { name: short, description: name, content: '{}' })
  const rule = { rule_type: 'max_blocks', parameters: { max: 900 }, message: name, severity: 'warning' }
  await make('/_system/blueprintvalidation', rule)
  const hasMarkup = at === bad.length - 1
  screens.push(
    [`blueprints/${blueprint}?view=outline`, hasMarkup],
    [`data/storages/${storage}`, hasMarkup],
    [`data/storages/${storage}?tab=fields`, hasMarkup],
    [`data/storages/${storage}/documents/${document}`, hasMarkup],
    [`data/storages/${storage}/documents/${document}?tab=json`, hasMarkup],
    [`people/users/${user}`, false],
    [`data/templates/${template}`, false],
  )
}

const lists: readonly [string, boolean][] = [
  ['blueprints', true],
  ['data', true],
  ['data/fields', false],
  ['data/templates', true],
  ['data/rules', true],
  ['operate', false],
  ['operate/schedules', true],
  ['operate/system-log', false],
  ['operate/audit-log', true],
  ['operate/environment', true],
  ['operate/secrets', true],
  ['operate/connections', true],
  ['operate/alerts', true],
  ['people', true],
  ['people/groups', true],
  ['api', false],
]

const tooWide = 'document.documentElement.scrollWidth - innerWidth'

async function inFields(tab: Page, text: string): Promise<number> {
  const values = await tab
    .locator('input, textarea')
    .evaluateAll((all) => all.map((one) => 'value' in one && String(one.value)))
  return values.filter((value) => value !== false && value.includes(text)).length
}

test('no name runs or widens a screen, and each is shown as it is written', async () => {
  await studio.ask('GET', '/bad0')
  const wrong: string[] = []
  for (const [address, isShown] of [...lists, ...screens]) {
    await goWithin(page, address)
    await settled(page)
    const whole = '</title><img src=x'
    const isRead = async () => (await page.getByText(whole).count()) + (await inFields(page, whole)) > 0
    if (
      isShown &&
      !(await eventually(isRead)
        .toBe(true)
        .then(
          () => true,
          () => false,
        ))
    )
      wrong.push(`${address} does not show it`)
    for (const width of [390, 1280]) {
      await page.setViewportSize({ width, height: 844 })
      const over = Number(await page.evaluate(tooWide))
      if (over > 0) wrong.push(`${address} is ${over} pixels too wide at ${width}`)
      const rows = await page.evaluate<string[]>(covered)
      wrong.push(...rows.map((row) => `${address}: a button covers ${row}`))
      const cells = await page.evaluate<string[]>(cut)
      wrong.push(...cells.map((cell) => `${address}: cut off at ${cell}`))
    }
  }
  expect(wrong).toEqual([])
  expect(await page.evaluate('globalThis.hurt')).toBeUndefined()
  expect(studio.complaints()).toEqual([])
}, 240_000)
