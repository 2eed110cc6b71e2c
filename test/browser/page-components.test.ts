/** Every component in a real browser: how it looks, and that nothing runs of what an attacker wrote. And the browser itself. */

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { BrowserContextOptions } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import type { PageNode, PageView } from '../../src/shared/pages/page-content.ts'
import { defaultTemplate } from '../../src/shared/pages/page-template.ts'
import { valueFormats } from '../../src/shared/value-format.ts'
import { axeColourProblems, axeProblems } from './axe-check.ts'
import { unpackedChromium } from './find-chromium.ts'
import { dashboard, formWithErrors, gallery } from './gallery-content.ts'
import { openBrowser } from './open-browser.ts'
import { type BrowserFixture, openBrowserFixture } from './open-fixture.ts'
import { eventually } from './studio-eventually.ts'

/** Each would set `hurt`, load something from elsewhere, or both. */
const attacks: readonly string[] = JSON.parse(
  await readFile(join(import.meta.dirname, 'hostile-texts.json'), 'utf8'),
)

describe('the browser', () => {
  // A machine with a browser would never notice that the one in the package has stopped to work.
  test('the Chromium of the package starts with its own font, and with its own libraries, and draws a form', async () => {
    const ways = await unpackedChromium()
    expect(ways).toHaveLength(2)
    for (const way of ways) {
      const browser = await openBrowser([way])
      try {
        const page = await browser.newPage()
        await page.setContent(
          '<title>Ready</title><input type="date" placeholder="…"><select><option>ä</option></select>',
        )
        expect(await page.title()).toBe('Ready')
        expect((await page.screenshot()).length).toBeGreaterThan(1_000)
      } finally {
        await browser.close()
      }
    }
  })

  test('a browser that is not there is said so', async () => {
    await expect(openBrowser([{ executablePath: '/nowhere/chromium', env: {} }])).rejects.toThrow(
      'No Chromium',
    )
  })
})

/** A form in a tab, in a dialog, and around tabs. */
function formInside(path: string, isRefused: boolean): (Partial<PageView> & { status: number }) | undefined {
  const filled = formWithErrors.kind === 'form' ? formWithErrors : undefined
  const form = { ...filled, action: path, ...(isRefused ? {} : { errors: [] }) } as PageNode
  const tabs = (content: readonly PageNode[]): PageNode => ({
    kind: 'tabs',
    id: 'parts',
    tabs: [
      { label: 'Notes', content: [] },
      { label: 'Entry', content },
    ],
  })
  const field = { kind: 'input', label: 'City', type: 'text', id: 'f-city', name: 'city' } as const
  const errors = [{ input: 'f-city', message: 'City: This is required.' }]
  const content: PageNode | undefined = {
    '/tabs': tabs([form]),
    '/modal': { kind: 'modal', id: 'new', label: 'Add', title: 'New', content: [form] } as const,
    '/around': { kind: 'form', id: 'x', block: 'x', action: path, errors, content: [tabs([field])] } as const,
  }[path]
  return content && { status: isRefused ? 422 : 200, content: [content] }
}

describe('on wide and narrow windows, light and dark, both ways of writing', () => {
  const navigation = ['Overview', 'Customers', 'Contacts', 'Deals'].map((label) => ({
    label,
    href: `/${label.toLowerCase()}`,
  }))

  let fixture: BrowserFixture
  beforeAll(async () => {
    fixture = await openBrowserFixture(({ url, method }) => {
      const content = { '/overview': dashboard, '/customers': gallery }[url.pathname]
      if (!content) return formInside(url.pathname, method === 'POST')
      const direction = url.searchParams.get('dir') === 'rtl' ? { direction: 'rtl' as const } : {}
      const layout = url.searchParams.get('layout') === 'side' ? 'side' : 'top'
      const settings = { ...defaultTemplate, layout, navigation, ...direction } as const
      const template = { name: 'Gallery', settings, css: undefined, js: undefined }
      return { content, template, locale: url.searchParams.get('locale') ?? 'en' }
    })
  })
  afterAll(() => fixture.close())

  const phone = { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true }
  /** Where nothing is different but colours, `npm test` looks at those alone. */
  const onlyColours = ['dark', 'on a phone in the dark', 'with forced colours']
  const circumstances: readonly (readonly [string, string, BrowserContextOptions])[] = [
    ['light', '', { colorScheme: 'light' }],
    ['dark', '?layout=side', { colorScheme: 'dark' }],
    ['on a phone', '?layout=side', phone],
    ['on a phone in the dark', '', { ...phone, colorScheme: 'dark' }],
    ['from right to left', '?dir=rtl&layout=side', {}],
    ['without the module', '?locale=de&module=none', {}],
    ['with forced colours', '', { forcedColors: 'active' }],
  ]
  const pages = ['/overview', '/customers']

  test.each(
    pages.flatMap((path) =>
      circumstances.map(([name, query, options]) => [name, path, query, options] as const),
    ),
  )('accessible: %s, %s', async (name, path, query, options) => {
    const { page, complaints } = await fixture.visit(path + query, options)
    const problems = onlyColours.includes(name) && !inject('thorough') ? axeColourProblems : axeProblems
    expect(await problems(page)).toEqual([])
    expect(complaints).toEqual([])
    await page.context().close()
  })

  test.each(pages)(
    '%s does not scroll sideways at 320 pixels, nor at 200 % on a small window',
    async (path) => {
      for (const width of [320, 512, 640]) {
        const { page } = await fixture.visit(`${path}?layout=side`, { viewport: { width, height: 500 } })
        const overflow = await page.evaluate('document.documentElement.scrollWidth - innerWidth')
        expect([width, overflow]).toEqual([width, 0])
        await page.context().close()
      }
    },
  )

  test('axe finds what is wrong, when something is', async () => {
    const { page } = await fixture.visit('/customers')
    await page.evaluate('document.querySelector("label[for=f-name]").remove()')
    expect((await axeProblems(page)).join()).toContain('label')
    await page.context().close()
  })

  test('what is chosen and what has the focus is seen in forced colours, and paper has no buttons', async () => {
    const { page } = await fixture.visit('/overview', { forcedColors: 'active' })
    const current = page.locator('.menu a[aria-current]')
    expect(await current.evaluate((link) => getComputedStyle(link).outlineStyle)).toBe('solid')
    await page.emulateMedia({ media: 'print', forcedColors: 'none' })
    await eventually(() => page.locator('.bar').isVisible()).toBe(false)
    await eventually(() => page.locator('.table-tools').isVisible()).toBe(false)
    await eventually(() => page.locator('#customers tbody tr').first().isVisible()).toBe(true)
    await page.context().close()
  })

  test('light or dark is chosen once and kept', async () => {
    const { page } = await fixture.visit('/overview', { colorScheme: 'light' })
    const ground = () => page.evaluate<string>('getComputedStyle(document.documentElement).backgroundColor')
    const before = await ground()
    await page.getByRole('button', { name: 'Dark colours' }).click()
    await eventually(ground).not.toBe(before)
    await eventually(() => page.getByRole('button', { name: 'Light colours' }).count()).toBe(1)
    await eventually(() => page.context().cookies()).toMatchObject([
      { name: 'quoin_theme', value: 'dark', sameSite: 'Lax' },
    ])
    await page.context().close()
  })

  test.each([true, false])(
    'on a phone the menu opens and closes: JavaScript %j',
    async (javaScriptEnabled) => {
      const { page } = await fixture.visit('/overview', {
        javaScriptEnabled,
        viewport: { width: 390, height: 800 },
      })
      await eventually(() => page.getByText('Sign out').isVisible()).toBe(false)
      await page.getByRole('button', { name: 'Menu' }).click()
      await eventually(() => page.getByText('Sign out').isVisible()).toBe(true)
      await page.keyboard.press('Escape')
      await eventually(() => page.getByText('Sign out').isVisible()).toBe(false)
      await page.context().close()
    },
  )

  test('what is wrong is seen in whatever tab or dialog it is', async () => {
    const { page } = await fixture.visit('/tabs')
    const tab = page.getByRole('tab', { name: 'Entry' })
    await tab.click()
    await page.click('text=Save customer')
    await eventually(() => page.locator('.summary:focus').count()).toBe(1)
    await eventually(() => tab.getAttribute('aria-selected')).toBe('true')
    await page.context().close()
    const { page: around } = await fixture.visit('/around')
    await around.click('.summary a')
    await eventually(() => around.locator('#f-city:focus').count()).toBe(1)
    await around.context().close()
    const { page: modal } = await fixture.visit('/modal')
    await modal.getByRole('button', { name: 'Add' }).click()
    await modal.click('text=Save customer')
    await eventually(() => modal.locator('dialog:modal .summary:focus').count()).toBe(1)
    await modal.context().close()
  })

  test('numbers, dates and words are of the page’s language', async () => {
    const { page } = await fixture.visit('/overview?locale=de-AT')
    expect(await page.getAttribute('html', 'lang')).toBe('de-AT')
    expect(await page.locator('#customers tbody tr').first().textContent()).toMatch(/48\.250,00|48 250,00/)
    expect(await page.locator('.table-title').textContent()).toContain('Zeilen')
    // In the zone of the server, as forms take it, and named where the visitor's is another: this one sits in Berlin.
    expect(await page.locator('#customers tbody tr').first().textContent()).toContain('09:30 UTC')
    await page.context().close()
  })
})

describe('every text, value, address and name was written by an attacker', () => {
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
          ...(
            ['text', 'number', 'date', 'email', 'password', 'area', 'check', 'file', 'hidden'] as const
          ).map(
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
})
