/** A page whose every text, value, address and name was written by an attacker: none of it runs. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { PageNode } from '../../src/shared/pages/page-content.ts'
import { defaultTemplate } from '../../src/shared/pages/page-template.ts'
import { valueFormats } from '../../src/shared/value-format.ts'
import { type BrowserFixture, openBrowserFixture } from './open-fixture.ts'

/** Each would set `hurt`, load something from elsewhere, or both. */
const attacks: readonly string[] = JSON.parse(
  await readFile(join(import.meta.dirname, 'hostile-texts.json'), 'utf8'),
)

function everythingWith(text: string): readonly PageNode[] {
  const link = { label: text, href: text }
  return [
    { kind: 'breadcrumb', links: [link] },
    { kind: 'heading', level: 2, text },
    { kind: 'text', text },
    { kind: 'text', text, variant: 'code' },
    { kind: 'image', src: text, alt: text, caption: text },
    { kind: 'link', ...link },
    { kind: 'navigation', label: text, links: [link] },
    { kind: 'badge', text, tone: 'info' },
    { kind: 'alert', tone: 'danger', title: text, text },
    { kind: 'card', title: text, href: text, figure: text, note: text, content: [{ kind: 'text', text }] },
    { kind: 'list', items: [[{ kind: 'text', text }]] },
    { kind: 'list', items: [], empty: text },
    { kind: 'tabs', id: text, label: text, tabs: [{ label: text, content: [{ kind: 'text', text }] }] },
    { kind: 'modal', id: text, label: text, title: text, content: [{ kind: 'text', text }] },
    {
      kind: 'detail',
      items: valueFormats.flatMap((format) => [
        { label: text, value: text, format, href: text, currency: text },
        { label: text, value: { url: text, name: text }, format },
      ]),
    },
    {
      kind: 'chart',
      id: text,
      type: 'bar',
      title: text,
      labels: [text],
      series: [
        { name: text, values: [1] },
        { name: text, values: [2] },
      ],
      format: 'currency',
      currency: text,
    },
    {
      kind: 'chart',
      id: text,
      type: 'pie',
      title: text,
      labels: [text],
      series: [{ name: text, values: [1] }],
    },
    {
      kind: 'form',
      id: text,
      block: 'b',
      label: text,
      action: '/hostile',
      hidden: [{ name: text, value: text }],
      errors: [{ input: text, message: text }, { message: text }],
      content: [
        ...(['text', 'number', 'date', 'email', 'password', 'area', 'check', 'file', 'hidden'] as const).map(
          (type) =>
            ({
              kind: 'input',
              name: text,
              id: text,
              label: text,
              type,
              value: text,
              help: text,
              placeholder: text,
              error: text,
              autocomplete: text,
              accept: text,
              step: text,
            }) as const,
        ),
        {
          kind: 'input',
          name: text,
          label: text,
          type: 'choice',
          value: text,
          options: [{ value: `${text} `, label: text }],
        },
        {
          kind: 'input',
          name: text,
          label: text,
          type: 'choices',
          value: [text],
          options: [{ value: text, label: text }],
        },
        { kind: 'button', label: text, action: 'submit', name: text, value: text, confirm: text },
        { kind: 'button', label: text, action: 'link', href: text },
      ],
    },
    {
      kind: 'table',
      id: 'table',
      caption: text,
      columns: [
        { field: text, label: text, format: 'text', sortHref: text },
        ...valueFormats.map((format) => ({ field: text, label: text, format, currency: text })),
      ],
      rows: [{ key: text, href: text, cells: [text, ...valueFormats.map(() => text)] }],
      total: 1,
      search: {
        action: '/hostile',
        hidden: [{ name: text, value: text }],
        inputs: [{ name: text, label: text, type: 'text', value: text, free: true }],
        active: true,
        clearHref: '/hostile',
      },
      actions: {
        action: '/hostile',
        hidden: [],
        row: [{ name: text, label: text, for: 'both', confirm: text }],
        rows: [{ name: text, label: text, for: 'both' }],
        rowName: text,
        rowsName: text,
        bulkName: text,
      },
    },
  ]
}

/** Where there is room for one text only. */
const all = attacks.join(' ')

let fixture: BrowserFixture
let strict = true
beforeAll(async () => {
  fixture = await openBrowserFixture(({ url }) => {
    if (url.pathname === '/nothing') return { policy: false }
    if (url.pathname !== '/hostile') return undefined
    const navigation = attacks.map((text) => ({ label: text, href: text, group: text }))
    const brand = { label: all, href: attacks[6] ?? '', logo: attacks[12] ?? '' }
    return {
      policy: strict,
      title: all,
      content: attacks.flatMap(everythingWith),
      template: {
        name: all,
        settings: { ...defaultTemplate, brand, navigation, footer: all },
        css: undefined,
        js: undefined,
      },
      user: { username: all, name: all },
      hidden: Object.fromEntries(attacks.map((text) => [text, text])),
      notice: { tone: 'danger', text: all },
    }
  })
})
afterAll(() => fixture.close())

/** Evaluated in the page: all that could run, load or lead to a script. */
const census = `({
  hurt: 'hurt' in globalThis,
  scripts: [...document.scripts].map((one) => one.getAttribute('src')),
  strangers: document.querySelectorAll(
    'iframe, object, embed, base, meta[http-equiv], style, [style], [srcdoc], form:not([action^="/"]), link:not([href^="/_pages/"])'
  ).length,
  handlers: [...document.querySelectorAll('*')].flatMap((one) =>
    one.getAttributeNames().filter((name) => name.startsWith('on'))),
  addresses: [...document.querySelectorAll('[href], [src], [action], [formaction]')].flatMap((one) =>
    ['href', 'src', 'action', 'formaction'].map((name) => one.getAttribute(name)).filter((address) =>
      address !== null && (/^[\\s\\0-\\x1f]*(javascript|data|vbscript|blob|file):/i.test(address) || /^\\s*[/\\\\]{2}/.test(address)))),
})`

// The policy would stop most of it; without one, only what the page is made of does.
test.each([
  ['as it is', true],
  ['without a content security policy', false],
  ['without a content security policy and without the module', false, '?module=none'],
])('nothing runs, nothing is loaded, nothing leads to a script: %s', async (_name, policy, query = '') => {
  strict = policy
  const { page, complaints } = await fixture.visit('/nothing')
  const asked: string[] = []
  page.on('request', (request) => asked.push(request.url()))
  if (query) await page.route('**/_pages/**/*.js', (route) => route.abort())
  await page.goto(`${fixture.server.address}/hostile`)
  await page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
  await page.mouse.move(300, 300)
  await page.waitForLoadState('networkidle')
  expect(await page.evaluate(census)).toEqual({
    hurt: false,
    scripts: [expect.stringMatching(/^\/_pages\/[0-9a-f]+\/live\.js$/)],
    strangers: 0,
    handlers: [],
    addresses: [],
  })
  expect(asked.length).toBeGreaterThan(2)
  expect(asked.filter((address) => !address.startsWith(`${fixture.server.address}/`))).toEqual([])
  expect(complaints.filter((line) => /^dialog|refused|violates/i.test(line))).toEqual([])
  // It is all there to be read, as text.
  const texts = await page.locator('main .alert p').allTextContents()
  for (const text of attacks) expect(texts).toContain(text)
  await page.context().close()
})

test('the attacks work where nothing stops them', async () => {
  const { page } = await fixture.visit('/nothing')
  await page.setContent(attacks.slice(0, 3).join('\n'))
  await page.waitForFunction('globalThis.hurt > 2')
  await page.setContent(
    `<p style="x">${attacks[5]}<a href="${attacks[6]}">a</a><a href="//evil.example/">b</a>${attacks[3]}<i onfocus="1"></i>`,
  )
  const { strangers, handlers, addresses } =
    await page.evaluate<Record<string, { length: number } & number>>(census)
  expect([Number(strangers) > 1, handlers?.length, addresses?.length]).toEqual([true, 1, 2])
  await page.context().close()
})
