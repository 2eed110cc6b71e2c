/** The preview of a page beside the canvas. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { guidOf, objectsOf } from '../end-to-end/harness.ts'
import { eventually } from './studio-eventually.ts'
import { goWithin, openStudio, type StudioFixture } from './studio-fixture.ts'
import { expectNoProblem, settled } from './studio-looks.ts'

let studio: StudioFixture
let page: Page
let heading = ''
beforeAll(async () => {
  studio = await openStudio()
  const { quoin } = studio
  await quoin.manage('POST', '/_system/storages', { name: 'books' })
  await quoin.manage('POST', '/_system/storages/books/documents', { title: 'Solaris' })
  const guid = await quoin.install('Library', {
    page: { type: 'state_page', in: { url: 'books', title: 'Books' }, scopes: ['*loggedin'] },
    h1: { type: 'state_h1', in: { text: 'Deployed' } },
    table: {
      type: 'state_advanced_datatable',
      in: { state: '@h1.state', storage: 'books', columns: [{ field: 'title' }] },
    },
    show: { type: 'state_render_page', in: { flow: '@page.flow', state: '@table.state' } },
  })
  const blocks = objectsOf(await quoin.manage('GET', `/blueprints/${guid}/blocks`))
  heading = guidOf(blocks.find(({ name }) => name === 'h1'))
  page = await studio.open('admin', `blueprints/${guid}`, { viewport: { width: 1600, height: 900 } })
}, 300_000)
afterAll(() => studio?.close())

const frame = () => page.frameLocator('iframe[title="Preview of the page"]')
const widthInside = () =>
  frame()
    .locator('html')
    .evaluate((html) => html.ownerDocument.defaultView?.innerWidth)

/** Stages a value of the heading, as another tab would. */
async function stage(pin: string, value: string) {
  const content = pin === '' ? [] : [{ id: pin, value }]
  await studio.quoin.manage('PUT', `/blueprintactions/${heading}`, { in_pins: content })
}

test('it shows the page with stored documents, at three widths', async () => {
  await page.getByRole('button', { name: 'Preview' }).click()
  await frame().getByRole('heading', { name: 'Deployed' }).waitFor()
  await frame().getByText('Solaris').waitFor()
  for (const [name, width] of [
    ['Phone', 390],
    ['Tablet', 820],
    ['Desktop', 1280],
  ] as const) {
    await page.getByRole('radiogroup', { name: 'Width' }).getByText(name).click()
    await eventually(widthInside).toBe(width)
    await settled(page)
  }
  await expectNoProblem(page, 'the preview')
})

test('the style of pages is loaded, no script runs, no form is sent and no link leads on', async () => {
  const style = await frame()
    .locator('main')
    .evaluate((main) => getComputedStyle(main).maxWidth)
  expect(style).not.toBe('none')
  // It is read by the studio and runs nothing: without `allow-scripts` it cannot make use of the origin.
  expect(await page.locator('iframe[title="Preview of the page"]').getAttribute('sandbox')).toBe(
    'allow-same-origin',
  )
  // By the studio, since nothing that is made inside runs, not even a listener of this test.
  const ran = await page.evaluate(`new Promise((resolve) => {
    const inside = document.querySelector('iframe').contentDocument
    const script = inside.createElement('script')
    script.textContent = 'document.documentElement.dataset.ran = "1"; parent.document.title = "taken"'
    const image = inside.createElement('img')
    image.setAttribute('onerror', 'document.documentElement.dataset.ran = "2"')
    const link = inside.createElement('a')
    link.href = 'javascript:document.documentElement.dataset.ran="3"'
    const added = [script, image, link]
    image.addEventListener('error', () => {
      for (const one of added) one.remove()
      resolve(inside.documentElement.getAttribute('data-ran'))
    })
    inside.body.append(...added)
    link.click()
    image.src = 'data:,'
  })`)
  expect([ran, (await page.title()).includes('taken')]).toEqual([null, false])
  // The browser says what it kept from running.
  studio.complaints()
})

const blockNamed = (title: string) => page.locator(`.react-flow__node-block.selected[aria-label^="${title}"]`)
const outlineOf = (text: string) => () =>
  frame()
    .getByText(text)
    .first()
    .evaluate((one) => getComputedStyle(one.closest('[data-block]') ?? one).outlineStyle)
const parts = () => page.getByRole('list', { name: 'Parts of the page' })

test('a click in the page selects the block that made it, which has an outline', async () => {
  await frame().getByRole('heading', { name: 'Deployed' }).click()
  await blockNamed('Heading').waitFor()
  await eventually(outlineOf('Deployed')).toBe('solid')
  await frame().getByText('Solaris').click()
  await blockNamed('Table of books').waitFor()
  await eventually(outlineOf('Deployed')).toBe('none')
  // A click on a link selects, and the page stays.
  await frame().getByRole('banner').getByRole('link').first().click()
  await frame().getByRole('heading', { name: 'Deployed' }).waitFor()
})

test('the parts of the page are listed as they stand, and select their blocks', async () => {
  await eventually(() => parts().getByRole('button').allInnerTexts()).toEqual([
    'Page /books',
    'Heading Deployed',
    'Table of books',
  ])
  await parts().getByRole('button', { name: 'Heading' }).click()
  await blockNamed('Heading').waitFor()
  await eventually(outlineOf('Deployed')).toBe('solid')
  expect(await parts().getByRole('button', { name: 'Heading' }).getAttribute('aria-current')).toBe('true')
  await expectNoProblem(page, 'the preview with a selected block')
})

test('on a phone all of it is reached with keys', async () => {
  const phone = await studio.open('admin', new URL(page.url()).pathname.replace('/studio/', ''), {
    viewport: { width: 390, height: 800 },
  })
  await phone.getByRole('button', { name: 'Preview' }).click()
  await phone.frameLocator('iframe').getByRole('heading', { name: 'Deployed' }).waitFor()
  await expectNoProblem(phone, 'the preview on a phone')
  await phone.context().close()
})

test('a staged change is shown, and what fails is said with its block', async () => {
  await stage('text', 'Staged <i>now</i>')
  await frame().getByRole('heading', { name: 'Staged <i>now</i>' }).waitFor()
  // The preview was made again, and the selected block has its outline there too.
  await eventually(outlineOf('Staged <i>now</i>')).toBe('solid')
  await stage('', '')
  const notice = page.getByRole('complementary', { name: 'Preview' }).getByRole('alert')
  await notice.getByText('text is needed').waitFor()
  // The rest of the page is still there.
  await frame().getByText('Solaris').first().waitFor()
  await notice.getByRole('button', { name: 'Heading' }).click()
  await page.getByRole('complementary', { name: 'Properties' }).getByText('Adds a heading').waitFor()
  await expectNoProblem(page, 'a preview without a part')
  // The room signs in by a script in each frame, which this one keeps from running.
  expect(studio.complaints().filter((one) => !one.startsWith('Blocked script execution'))).toEqual([])
})

test('parts stand inside each other, what is selected comes into sight, and keys select too', async () => {
  const guid = await studio.quoin.install('News', {
    page: { type: 'state_page', in: { url: 'news', title: 'News' }, scopes: ['*loggedin'] },
    story: { type: 'state_text', in: { text: 'A long story. '.repeat(400) } },
    link: { type: 'state_link', in: { label: 'More', url: '/more' } },
    card: { type: 'state_card', in: { state: '@story.state', title: 'Next', content: '@link.state' } },
    show: { type: 'state_render_page', in: { flow: '@page.flow', state: '@card.state' } },
  })
  await goWithin(page, `blueprints/${guid}`)
  await page.getByRole('button', { name: 'Preview' }).click()
  const link = frame().getByRole('link', { name: 'More', exact: true })
  await link.waitFor()
  const depths = () =>
    parts()
      .getByRole('listitem')
      .evaluateAll((all) => all.map((one) => Number.parseInt(getComputedStyle(one).paddingLeft, 10)))
  await eventually(depths).toEqual([0, 12, 12, 24])
  const scrolled = () => link.evaluate((one) => one.ownerDocument.defaultView?.scrollY ?? 0)
  expect(await scrolled()).toBe(0)
  await parts().getByRole('button', { name: 'Next' }).click()
  await eventually(scrolled).toBeGreaterThan(0)
  await link.press('Enter')
  await blockNamed('Link More').waitFor()
})
