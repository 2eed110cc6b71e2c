/** What docs/first-endpoint.md tells a newcomer to do, done in a browser: every word in bold is there, and the reply is the one it shows. */
import { readFile, stat } from 'node:fs/promises'
import type { Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type PacedHand, pacedHand } from './paced-hand.ts'
import { eventually, textOf } from './studio-eventually.ts'
import { administrator, openStudio, type StudioFixture } from './studio-fixture.ts'
import { studioOutline } from './studio-outline.ts'

let studio: StudioFixture
let page: Page
let guide: string
let hand: PacedHand
beforeAll(async () => {
  guide = await readFile(new URL('../../docs/first-endpoint.md', import.meta.url), 'utf8')
  studio = await openStudio()
  page = await studio.open(undefined, '#first-start')
  hand = pacedHand(page)
})
afterAll(() => studio?.close())

/** Words that the guide has in bold. */
function bold(words: string): string {
  expect(guide).toContain(`**${words}**`)
  return words
}

const expression = () => /^```text\n=(.*)\n```$/m.exec(guide)?.[1] ?? ''
const dialog = () => page.getByRole('dialog')
const isFocused = (target: Locator) => () => target.evaluate((one) => one === document.activeElement)

test('the sign-in form is small, and the studio behind it is the one that users get, without what React has for development', async () => {
  await page.getByRole('button', { name: 'Sign in' }).waitFor()
  expect(await page.getByText('First start? The user is admin').count()).toBe(1)
  const loaded = async (): Promise<readonly (readonly [string, number])[]> =>
    page.evaluate("performance.getEntriesByType('resource').map((one) => [one.name, one.encodedBodySize])")
  const ofForm = (await loaded()).filter(([name]) => /\/(?:index|sign-in)-/.test(name))
  // Measured: 5.2 KB. With React and the library of the other screens it would be 245.
  expect(ofForm.reduce((sum, [, bytes]) => sum + bytes, 0)).toBeLessThan(20_000)
  const libraries = async () => (await loaded()).find(([name]) => /\/libraries-.*\.js$/.test(name))?.[0]
  await eventually(libraries).toBeDefined()
  const script = await (await fetch((await libraries()) ?? '')).text()
  expect(script.includes('react')).toBe(true)
  expect(script.includes('jsxDEV')).toBe(false)
})

/** Bounds of compressed bytes, which are the goals: the first page with the sign-in form, and what the editor needs more. Measured: 243 and 177 KB. */
const [FIRST_PAGE, EDITOR] = [250 * 1024, 190 * 1024]

const built = new URL('../../dist/studio/', import.meta.url)

/** What a part of the studio is made of, as the build says. */
interface BuiltPart {
  readonly file: string
  readonly css?: readonly string[]
  readonly imports?: readonly string[]
}

/** Files of the parts with all that they import, whenever the browser fetches what it needs later. */
async function filesOf(...parts: readonly string[]): Promise<ReadonlySet<string>> {
  const text = await readFile(new URL('.vite/manifest.json', built), 'utf8')
  const manifest: Readonly<Record<string, BuiltPart>> = JSON.parse(text)
  const seen = new Set(parts)
  const files = new Set<string>()
  for (const name of seen) {
    const part = manifest[name]
    if (part === undefined) throw new Error(`The studio has no part ${name}.`)
    for (const file of [part.file, ...(part.css ?? [])]) files.add(file)
    for (const imported of part.imports ?? []) seen.add(imported)
  }
  return files
}

/** Bytes as they are sent. */
async function packedBytes(files: Iterable<string>): Promise<number> {
  const sizes = [...files].map(async (file) => {
    const packed = await stat(new URL(`${file}.br`, built)).catch(() => stat(new URL(file, built)))
    return packed.size
  })
  return (await Promise.all(sizes)).reduce((sum, one) => sum + one, 0)
}

/** Scripts and styles that the browser has loaded. */
const loadedFiles = () =>
  page.evaluate<readonly string[]>(
    "performance.getEntriesByType('resource').flatMap((one) => /assets\\/.*\\.(?:js|css)$/.exec(one.name) ?? [])",
  )

test('steps 2 and 3: sign in and create a blueprint', async () => {
  expect(await page.getByLabel('User name or e-mail').inputValue()).toBe(administrator.username)
  await eventually(isFocused(page.getByLabel('Password', { exact: true }))).toBe(true)
  await hand.type(administrator.password, 'Enter')
  await page.getByRole('link', { name: bold('Or start from scratch') }).waitFor()
  hand.read()
  expect(new URL(page.url()).hash).toBe('')
  const first = await filesOf('index.html', 'app.tsx', 'screens/start/welcome-screen.tsx')
  expect((await loadedFiles()).toSorted()).toEqual([...first].toSorted())
  expect(await packedBytes(first)).toBeLessThan(FIRST_PAGE)
  await hand.click(page.getByRole('link', { name: bold('Or start from scratch') }))
  await eventually(isFocused(page.getByLabel('Name'))).toBe(true)
  // The templates are one click away later too.
  expect(await dialog().getByRole('link', { name: 'Start from a template' }).count()).toBe(1)
  await hand.type('Greeting', 'Enter')
  await page.getByText('Start with a trigger').waitFor()
  hand.read()
  const editor = (await filesOf('screens/blueprints/blueprint-screen.tsx')).difference(first)
  expect(await loadedFiles()).toEqual(expect.arrayContaining([...editor]))
  expect(await packedBytes(editor)).toBeLessThan(EDITOR)
})

test('steps 4 and 5: a public address, and a reply that is calculated', async () => {
  await hand.click(page.getByRole('button', { name: bold('Answer a GET request') }))
  const uri = page.getByLabel(`Value of ${bold('uri')}`).and(page.locator('input, textarea'))
  await eventually(isFocused(uri)).toBe(true)
  const errors = page.locator('[data-level="error"], [data-broken]')
  await page.getByRole('button', { name: '1 field to fill in. Show them.' }).waitFor()
  expect(await errors.count(), 'nothing is an error before it was left empty').toBe(0)
  hand.read()
  await hand.type('greeting')
  await hand.click(page.getByRole('combobox', { name: bold('Who may call it') }))
  await hand.click(page.getByRole('option', { name: bold('Everyone (public)') }))
  const arrow = page.locator(`.react-flow__handle.source[data-handleid="${bold('flow')}"]`).first()
  await hand.drag(arrow, page.locator('.react-flow__pane'), { x: 560, y: 560 })
  await eventually(isFocused(dialog().getByRole('combobox'))).toBe(true)
  /** How far down the panel of the block is scrolled, after it was scrolled by so many pixels more. */
  const scrolledBy = (more: number) =>
    page.getByRole('region', { name: 'Properties' }).evaluate((panel, by) => {
      let top = 0
      for (let at: Element | null = panel; at; at = at.parentElement) {
        at.scrollTop += by
        top += at.scrollTop
      }
      return top
    }, more)
  expect(await scrolledBy(300), 'the panel is long enough').toBeGreaterThan(0)
  const options = dialog().getByRole('option')
  await eventually(textOf(options.first())).toContain(bold('Reply with JSON'))
  hand.read()
  await hand.type('', 'Enter')
  // That of the next block is shown from its top.
  await eventually(() => scrolledBy(0)).toBe(0)
  await eventually(isFocused(page.getByLabel(`Value of ${bold('value')}`, { exact: true }))).toBe(true)
  await hand.type('=')
  const field = page.getByRole('textbox', { name: 'Expression of value' })
  await eventually(isFocused(field)).toBe(true)
  await hand.type(expression().trimStart())
  await eventually(textOf(field)).toBe(expression())
  expect(await field.getAttribute('aria-invalid')).toBe('false')
}, 60_000)

test('step 6: deploy', async () => {
  await hand.click(page.getByRole('button', { name: bold('Deploy and activate') }))
  await eventually(isFocused(dialog().getByRole('button', { name: bold('Save, deploy and activate') }))).toBe(
    true,
  )
  hand.read()
  await hand.type('', 'Enter')
  await page.getByText('Active, version 1').waitFor()
})

test('step 7: try it, and what curl prints', async () => {
  await hand.click(page.getByRole('button', { name: bold('Try it') }))
  const panel = page.getByRole('complementary', { name: 'Try it' })
  await eventually(isFocused(panel.getByLabel(bold('Query'), { exact: true }))).toBe(true)
  await hand.type('name=Ann', 'Enter')
  await panel.getByText('200', { exact: true }).waitFor()
  hand.read()
  await panel.getByText('Ann').last().waitFor()
  const [, path = ''] = /^curl 'http:\/\/127\.0\.0\.1:8080\/api\/v1([^']*)'$/m.exec(guide) ?? []
  const [, shown = ''] = /^```json\n(.*)\n```$/m.exec(guide) ?? []
  expect((await studio.ask('GET', path)).body).toEqual(JSON.parse(shown))
  expect((await studio.ask('GET', '/greeting')).body).toEqual({ hello: 'world' })
  expect(studio.complaints()).toEqual([])
})

test('at the pace of a person it takes what the guide says, and less than 45 s with reading', () => {
  expect(guide).toContain(hand.said())
  expect(hand.seconds).toBeLessThan(45)
})

test('the same by keyboard alone takes what the guide says, and less than a minute', async () => {
  const keyed = pacedHand(page)
  const outline = studioOutline(page)
  const press = (key: string) => keyed.type('', key)
  const tabTo = async (name: string) => {
    for (let tabs = 0; tabs < 40 && (await outline.focused()) !== name; tabs += 1) await press('Tab')
    expect(await outline.focused()).toBe(name)
  }
  const atRow = () => eventually(outline.focused).toMatch(/^row /)
  const add = async (words: string) => {
    await press('a')
    await eventually(outline.focused).toBe('Search blocks')
    await keyed.type(words, 'Enter')
    await eventually(outline.focused).toMatch(new RegExp(`^row .*${words.split(' ').at(-1)}`, 'i'))
  }
  await press('Control+k')
  await eventually(isFocused(dialog().getByRole('textbox'))).toBe(true)
  await keyed.type('new blueprint', 'Enter')
  await eventually(outline.focused).toMatch(/^Name/)
  await keyed.type('By keys', 'Enter')
  await page.getByText('Start with a trigger').waitFor()
  await press('o')
  await page.getByRole('tree').waitFor()
  await add('register get')
  await press('Enter')
  await eventually(outline.focused).toBe('Value of uri')
  await keyed.type('keyed')
  await tabTo('Who may call it')
  await press('ArrowDown')
  const everyone = page.getByRole('listbox', { name: 'Who may call it' }).locator('[data-combobox-selected]')
  await press('ArrowUp')
  await eventually(textOf(everyone)).toBe('Everyone (public)')
  await press('Enter')
  await press('Escape')
  await atRow()
  await add('reply json')
  await press('Enter')
  await eventually(outline.focused).not.toMatch(/^row /)
  await tabTo('Value of value')
  await keyed.type('=')
  const field = page.getByRole('textbox', { name: 'Expression of value' })
  await eventually(isFocused(field)).toBe(true)
  await keyed.type(expression().trimStart())
  await eventually(textOf(field)).toBe(expression().trimStart())
  await press('Control+Enter')
  await eventually(outline.focused).toMatch(/^Save, deploy/)
  await press('Enter')
  await page.getByText('Active, version 1').waitFor()
  await atRow()
  await press('t')
  await eventually(outline.focused).toBe('Query')
  await press('Enter')
  await page.getByRole('complementary', { name: 'Try it' }).getByText('200', { exact: true }).waitFor()
  expect((await studio.ask('GET', '/keyed?name=Ann')).body).toEqual({ hello: 'Ann' })
  expect(guide).toContain(keyed.said())
  expect(keyed.seconds).toBeLessThan(60)
}, 120_000)

test('the endpoint that stores what is sent, with the values of the table', async () => {
  const written = (pin: string) =>
    new RegExp(String.raw`\| [^|]*\| \*\*${pin}\*\* \| \`(.*)\` \|`).exec(
      guide.split('## Store')[1] ?? '',
    )?.[1]
  await studio.quoin.install('Guests', {
    post: { type: 'on_startup_register_uri_post', in: { uri: written('uri') ?? '' }, scopes: ['*public'] },
    create_document: {
      type: 'function_create_document_from_mutations',
      in: { flow: '@post.flow', storage: written('storage') ?? '', set: written('set') ?? '' },
    },
    reply: {
      type: 'httpconnection_set_json',
      in: { flow: '@create_document.flow', code: Number(written('code')), value: written('value') ?? '' },
    },
  })
  const made = await studio.ask('POST', '/guests', { body: { name: ' Ann ' } })
  expect(made).toMatchObject({ status: 201, body: { name: 'Ann', visits: 1 } })
})
