/** Pages made of a storage, and the preview of a page while it is drawn. */
import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import { guidOf, objectsOf } from '../end-to-end/harness.ts'
import { openVisitor } from '../page-visitor.ts'
import { eventually } from './studio-eventually.ts'
import { goWithin, studioOfSuite } from './studio-fixture.ts'
import { expectNoProblem, settled } from './studio-looks.ts'

const studio = studioOfSuite()
let page: Page
beforeAll(async () => {
  page = await studio.open('admin', 'nowhere')
}, 240_000)

describe('pages made of a storage', () => {
  let maker: string
  let storage: string
  beforeAll(async () => {
    const makers = guidOf(await studio.quoin.manage('POST', '/_system/storages', { name: 'makers' }))
    await studio.quoin.manage('POST', '/blueprintfields', {
      name: 'called',
      type: 'string',
      storage: 'makers',
    })
    const made = { called: 'Acme & Sons' }
    maker = guidOf(await studio.quoin.manage('POST', `/_system/storages/${makers}/documents`, made))
    storage = guidOf(await studio.quoin.manage('POST', '/_system/storages', { name: 'goods' }))
    for (const [order, field] of [
      { name: 'name', type: 'string', required: true, unique: true },
      { name: 'price', type: 'decimal', label: 'Price in euros' },
      { name: 'double', type: 'number', computed: '(doc.price ?? 0) * 2' },
      {
        name: 'number',
        type: 'autonumber',
        label: 'Number of the good',
        validation_rules: { start: 70_001 },
      },
      { name: 'maker', type: 'reference', reference: { storage: 'makers' } },
    ].entries())
      await studio.quoin.manage('POST', '/blueprintfields', { ...field, order, storage: 'goods' })
    await page.goto(`data/storages/${storage}`)
  })

  test('with three clicks', async () => {
    await page.getByRole('button', { name: 'Make pages' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('Everyone').click()
    await settled(page)
    await expectNoProblem(page, 'Make pages')
    await dialog.getByRole('button', { name: 'Make and activate' }).click()
    await page.waitForURL(/\/blueprints\/[0-9a-f-]{36}/)
  })

  test('each place that names a page leads to it', async () => {
    const blueprint = page.url()
    // A page with one path and a page for a new document; the other two ask for a guid in the panel of their block.
    await page.getByRole('button', { name: 'Open a page' }).click()
    const links = page.getByRole('menuitem')
    await links.first().waitFor()
    const hrefs = await links.evaluateAll((all) => all.map((one) => one.getAttribute('href')))
    expect(hrefs.filter((href) => href !== null)).toEqual(['/goods', '/goods/new'])
    expect(hrefs).toHaveLength(4)
    await page.getByRole('menuitem', { name: '/goods/{guid}/view …' }).click()
    const panel = page.getByRole('complementary', { name: 'Properties' })
    await panel.getByText('Fill in the path to open it.').waitFor()
    await panel.getByLabel('guid in /goods/{guid}/view').fill('a b')
    const filled = panel.getByRole('link', { name: 'Open /goods/a%20b/view in a new tab' })
    expect(await filled.getAttribute('href')).toBe('/goods/a%20b/view')

    await page.getByRole('button', { name: 'Deploy', exact: true }).click()
    const dialog = page.getByRole('dialog', { name: 'Deploy' })
    const row = dialog.getByRole('row', { name: 'Page /goods everyone' })
    await row.getByText('no sign-in').waitFor()
    await dialog.getByRole('button', { name: 'Save and deploy' }).click()
    const deployed = page.getByRole('alert').filter({ hasText: 'is deployed and live' })
    expect(await deployed.getByRole('link').first().getAttribute('href')).toBe('/goods')

    await goWithin(page, 'blueprints')
    const pages = page.getByRole('list', { name: /Pages of/ })
    const link = pages.getByRole('link', { name: 'Open /goods in a new tab' })
    await link.waitFor()
    // Lists and documents are for everyone, forms for signed-in users.
    expect(await pages.getByText('no sign-in').count()).toBe(2)
    expect(await pages.getByRole('link', { name: /in a new tab$/ }).count()).toBe(2)
    await settled(page)
    await expectNoProblem(page, 'pages in the list of blueprints')
    const opening = page.context().waitForEvent('page')
    await link.click()
    const opened = await opening
    await opened.getByRole('heading', { level: 1 }).waitFor()
    expect(new URL(opened.url()).pathname).toBe('/goods')
    await opened.close()
    await goWithin(page, blueprint)
  })

  test('the list of blueprints opens the deployed address of a page, not the saved one', async () => {
    const blueprint = new URL(page.url()).pathname.split('/').at(-1) ?? ''
    const blocks = objectsOf(await studio.quoin.manage('GET', `/blueprints/${blueprint}/blocks`))
    const block = blocks.find(({ in_pins }) => objectsOf(in_pins).some(({ value }) => value === 'goods/new'))
    const address = (url: string) => ({
      in_pins: objectsOf(block?.in_pins).map((pin) => (pin.id === 'url' ? { ...pin, value: url } : pin)),
    })
    const save = async (url: string) => {
      await studio.quoin.manage('PUT', `/blueprintactions/${guidOf(block)}`, address(url))
      await studio.quoin.manage('POST', `/blueprintactions/unsaved/${blueprint}`, {})
    }
    await save('goods/other')
    const editor = page.url()
    // Loaded again: what the studio has read before the change would have the former address in any case.
    await page.goto('/studio/blueprints')
    const links = page.getByRole('list', { name: /Pages of/ }).getByRole('link', { name: /in a new tab$/ })
    await links.nth(1).waitFor()
    expect(await links.evaluateAll((all) => all.map((one) => one.getAttribute('href')))).toEqual([
      '/goods',
      '/goods/new',
    ])
    await goWithin(page, `${editor.split('?')[0]}?block=${guidOf(block)}`)
    const panel = page.getByRole('complementary', { name: 'Properties' })
    await panel.getByText('Its new address /goods/other is live after the next deploy.').waitFor()
    expect(await panel.getByRole('link', { name: 'Open /goods/new in a new tab' }).getAttribute('href')).toBe(
      '/goods/new',
    )
    await save('goods/new')
    await goWithin(page, editor)
  })

  test('a page of an inactive blueprint is opened nowhere', async () => {
    const editor = page.url()
    const blueprint = new URL(editor).pathname.split('/').at(-1) ?? ''
    const blocks = objectsOf(await studio.quoin.manage('GET', `/blueprints/${blueprint}/blocks`))
    const block = blocks.find(({ in_pins }) => objectsOf(in_pins).some(({ value }) => value === 'goods/new'))
    await studio.quoin.manage('PUT', `/blueprints/update/set/inactive/${blueprint}`, {})
    // Loaded again: the studio has not made these changes, and asks again after a while only.
    await page.goto('/studio/blueprints')
    const pages = page.getByRole('list', { name: /Pages of/ })
    await pages.getByText('/goods', { exact: true }).waitFor()
    expect(await pages.getByRole('link').count()).toBe(0)
    await page.goto(`${editor.split('?')[0]}?block=${guidOf(block)}`)
    const panel = page.getByRole('complementary', { name: 'Properties' })
    await panel.getByText('The page is not live. Deploy and activate the blueprint to open it.').waitFor()
    expect(await page.getByRole('button', { name: 'Open a page' }).count()).toBe(0)
    await studio.quoin.manage('PUT', `/blueprints/update/set/active/${blueprint}`, {})
    await page.goto(editor)
  })

  const goods = async () =>
    objectsOf(await studio.quoin.manage('POST', '/_system/storages/goods/documents/search', {})).map(
      ({ name, price }) => [name, price],
    )

  test('signed-in users create, change and remove; everyone sees', async () => {
    const anonymous = openVisitor(studio.address)
    const headers = { authorization: `Bearer ${await studio.quoin.tokenOf('admin')}` }
    const visitor = openVisitor(studio.address)
    expect((await anonymous.get('/goods/new')).status).not.toBe(200)
    const form = await visitor.get('/goods/new', headers)
    expect(form.text).toContain('Price in euros')
    expect(form.text).not.toMatch(/name="number"|Number of the good/)
    const empty = await visitor.submit(form, 'new', { name: '', price: '1' }, { headers })
    expect([empty.status, await goods()]).toEqual([422, []])
    // Who made it is chosen by name.
    expect(form.text).toContain('Acme & Sons')
    const bolt = { name: 'Bolt', price: '2.5', maker }
    expect((await visitor.submit(form, 'new', bolt, { headers })).status).toBe(303)
    const again = await visitor.get('/goods/new', headers)
    const taken = await visitor.submit(again, 'new', { name: 'Bolt', price: '3' }, { headers })
    expect([taken.status, taken.text]).toEqual([422, expect.stringContaining('has this value already')])
    expect(await goods()).toEqual([['Bolt', 2.5]])

    const list = await anonymous.get('/goods')
    expect([list.status, list.text]).toEqual([200, expect.stringContaining('Bolt')])
    const one = await anonymous.get(list.link('Bolt'))
    expect([one.status, one.text]).toEqual([200, expect.stringContaining('Price in euros')])
    for (const shown of [list, one]) expect(shown.text).toContain('Acme & Sons')
    // Quoin numbers them: the list and the page of a document show it, and no form asks for it.
    for (const shown of [list, one]) expect(shown.text).toMatch(/Number of the good[\s\S]*70,?001/)
    const edit = await visitor.get(one.url.replace(/view$/, 'edit'), headers)
    expect(edit.text).not.toMatch(/name="number"|Number of the good/)
    const changed = await visitor.submit(edit, 'edit', { price: '4' }, { headers })
    expect([changed.status, await goods()]).toEqual([303, [['Bolt', 4]]])
    const stale = await visitor.submit(edit, 'edit', { price: '5' }, { headers })
    expect([stale.status, await goods()]).toEqual([422, [['Bolt', 4]]])
    await studio.quoin.manage('PUT', `/_system/storages/${storage}`, {
      rules: { see: 'user.username == "admin"' },
    })
    for (const page of [one.url, edit.url]) expect((await anonymous.get(page)).text).not.toContain('Bolt')
    expect((await visitor.get(one.url, headers)).text).toContain('Bolt')
    const last = await visitor.get(edit.url, headers)
    const removed = await visitor.submit(last, undefined, {}, { button: 'Remove', headers })
    expect([removed.status, await goods()]).toEqual([303, []])
    expect((await anonymous.get(one.url)).status).toBe(404)
    expect(studio.complaints()).toEqual([])
  })
})

describe('the preview of a page', () => {
  let heading = ''
  beforeAll(async () => {
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
    await page.setViewportSize({ width: 1600, height: 900 })
    await goWithin(page, `blueprints/${guid}`)
  })

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

  const blockNamed = (title: string) =>
    page.locator(`.react-flow__node-block.selected[aria-label^="${title}"]`)
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
    await phone.getByRole('button', { name: 'More', exact: true }).click()
    await phone.getByRole('menuitem', { name: 'Preview' }).click()
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
})
