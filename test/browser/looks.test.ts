/** Every component, as it looks in a real browser: on wide and narrow windows, light and dark, both ways of writing. */
import type { BrowserContextOptions } from 'playwright-core'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { defaultTemplate } from '../../src/shared/pages/page-template.ts'
import { axeColourProblems, axeProblems } from './axe-check.ts'
import { dashboard, gallery } from './gallery-content.ts'
import { type BrowserFixture, openBrowserFixture } from './open-fixture.ts'
import { eventually } from './studio-eventually.ts'

const navigation = ['Overview', 'Customers', 'Contacts', 'Deals'].map((label) => ({
  label,
  href: `/${label.toLowerCase()}`,
}))

let fixture: BrowserFixture
beforeAll(async () => {
  fixture = await openBrowserFixture(({ url }) => {
    const content = { '/overview': dashboard, '/customers': gallery }[url.pathname]
    if (!content) return undefined
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

test('numbers, dates and words are of the page’s language', async () => {
  const { page } = await fixture.visit('/overview?locale=de-AT')
  expect(await page.getAttribute('html', 'lang')).toBe('de-AT')
  expect(await page.locator('#customers tbody tr').first().textContent()).toMatch(/48\.250,00|48 250,00/)
  expect(await page.locator('.table-title').textContent()).toContain('Zeilen')
  // In the zone of the server, as forms take it, and named where the visitor's is another: this one sits in Berlin.
  expect(await page.locator('#customers tbody tr').first().textContent()).toContain('09:30 UTC')
  await page.context().close()
})
