/** Runs that wait, in the studio: listed, read, approved, continued and cancelled by a person. */
import type { Page } from 'playwright-core'
import { beforeAll, expect, test } from 'vitest'
import { guidOf, objectsOf } from '../end-to-end/harness.ts'
import { axeProblems } from './axe-check.ts'
import { eventually, textOf } from './studio-eventually.ts'
import { goWithin, studioOfSuite } from './studio-fixture.ts'

const studio = studioOfSuite()
let page: Page
beforeAll(async () => {
  const post = (uri: string) => ({ type: 'on_startup_register_uri_post', in: { uri }, scopes: ['*public'] })
  const notes = (flow: string, set: string) => ({
    type: 'function_create_document_from_mutations',
    in: { flow, storage: 'ended', set },
  })
  await studio.quoin.install('Orders', {
    order: post('order'),
    approval: {
      type: 'wait_for_approval',
      title: 'Ask',
      in: {
        flow: '@order.flow',
        title: '="Order of " + body.customer',
        text: 'Above the limit.\nPlease look at it.',
        fields: '={ Customer: body.customer, Price: 5000 }',
        scopes: ['orders_approve'],
        for: '3d',
      },
    },
    yes: notes(
      '@approval.approved',
      '={ end: "approved", by: approval.by.username, comment: approval.comment }',
    ),
    no: notes('@approval.rejected', '={ end: "rejected" }'),
  })
  await studio.quoin.install('Payments', {
    pay: post('pay'),
    hook: { type: 'wait_for_webhook', in: { flow: '@pay.flow' }, fields: { title: 'Payment of 17' } },
    paid: notes('@hook.received', '={ end: "received", sent: hook.body }'),
    later: post('later'),
    wait: { type: 'wait', in: { flow: '@later.flow', for: '2h' }, fields: { title: 'Reminder' } },
    look: post('look'),
    document: {
      type: 'wait_for_document',
      in: { flow: '@look.flow', storage: 'orders', where: '=doc.paid == true', for: '7d' },
      fields: { title: 'Paid order' },
    },
  })
  await studio.quoin.addUser('viewer', ['waits_view'])
  page = await studio.open('admin', 'operate/waits')
}, 240_000)

const begin = (path: string) => studio.quoin.send('POST', path, { body: { customer: 'Ada' } })
const stored = async () => objectsOf(await studio.quoin.manage('POST', '/_system/waits/search', {}))
/** Begins a run that waits, unless one does: a second try finds what the first one left. */
async function begun(path: string, title: string): Promise<void> {
  if (!(await titles()).includes(title)) expect((await begin(path)).status).toBeLessThan(300)
}
const titles = async () => (await stored()).map(({ title }) => title).toSorted()
/** A second try has a blueprint of its own. */
let installed = 0
const ended = () => studio.quoin.documents('ended')
const dialog = (name: string | RegExp) => page.getByRole('dialog', { name })
const row = (title: string) => page.getByRole('main').getByRole('row').filter({ hasText: title })
const drawer = () => dialog('Waiting run')

async function openWait(title: string): Promise<void> {
  await row(title).getByRole('link').first().click()
  await drawer().getByText('Waits for').waitFor()
}

test('without a run that waits the screen says what would be there', async () => {
  await page.getByText('No run waits').waitFor()
  expect(await axeProblems(page)).toEqual([])
})

test('runs are listed with what they wait for, and by blueprint and kind', async () => {
  await begun('/order', 'Order of Ada')
  await begun('/pay', 'Payment of 17')
  await begun('/later', 'Reminder')
  await begun('/look', 'Paid order')
  await goWithin(page, 'operate/waits')
  await eventually(textOf(row('Order of Ada'))).toMatch(/Approval.*Orders.*in [23] days/)
  await eventually(textOf(row('Payment of 17'))).toMatch(/Webhook.*Payments.*No time limit/)
  await eventually(textOf(row('Reminder'))).toMatch(/Time.*Payments/)
  await eventually(textOf(row('Paid order'))).toMatch(/Document.*orders.*Payments/)
  expect(await axeProblems(page)).toEqual([])
  for (const [label, option, count] of [
    ['Blueprint', 'Payments', 3],
    ['Waits for', 'Document', 1],
  ] as const) {
    await page.getByRole('combobox', { name: label }).click()
    await page.getByRole('option', { name: option }).click()
    await eventually(() => page.getByRole('main').getByRole('row').count()).toBe(count + 1)
  }
  await row('Paid order').waitFor()
  await goWithin(page, 'operate/waits')
})

test('one is read with its text, its fields and who may decide, and leads to its block, its job and its page', async () => {
  await goWithin(page, 'operate/waits')
  await openWait('Order of Ada')
  for (const text of ['Please look at it.', 'Customer', '5000', 'orders_approve'])
    await drawer().getByText(text).waitFor()
  const [wait] = (await stored()).filter(({ kind }) => kind === 'approval')
  const link = (name: string) => drawer().getByRole('link', { name })
  await eventually(() => link('Orders').getAttribute('href')).toBe(
    `/studio/blueprints/${wait?.blueprint}?block=${wait?.block}`,
  )
  expect(await link('Open its page').getAttribute('href')).toMatch(/^\/_approvals\/[0-9a-f-]{36}$/)
  expect(await axeProblems(page)).toEqual([])
  await link('Show its job').click()
  await dialog('Job').getByText('Waiting runs').first().waitFor()
  await dialog('Job').getByRole('link', { name: 'Show it' }).click()
  await drawer().getByText('Please look at it.').waitFor()
  // The block that the run waits at is chosen on the canvas.
  await drawer().getByRole('link', { name: 'Orders' }).click()
  await page.locator('.react-flow__node-block.selected[aria-label^="Ask"]').waitFor()
  await goWithin(page, 'operate/waits')
})

test('a user without waits_update is refused in the dialog, and the run waits on', async () => {
  const other = await studio.open('viewer', 'operate/waits')
  await other.getByRole('link', { name: 'Order of Ada' }).click()
  await other.getByRole('button', { name: 'Approve' }).click()
  const asked = other.getByRole('dialog', { name: 'Order of Ada' })
  await asked.getByRole('button', { name: 'Approve' }).click()
  await asked.getByRole('alert').waitFor()
  expect(await titles()).toContain('Order of Ada')
  await other.context().close()
})

test('the page of an approval fits a phone, light and dark', async () => {
  const [wait] = (await stored()).filter(({ kind }) => kind === 'approval')
  for (const colorScheme of ['light', 'dark'] as const) {
    const phone = { viewport: { width: 390, height: 844 }, colorScheme }
    const other = await studio.open('admin', 'account', phone)
    await other
      .context()
      .addCookies([{ name: 'access_token', value: await studio.quoin.tokenOf('admin'), url: studio.address }])
    await other.goto(`${studio.address}/_approvals/${guidOf(wait)}`)
    await other.getByRole('button', { name: 'Reject' }).waitFor()
    expect(await other.evaluate('document.documentElement.scrollWidth')).toBe(390)
    expect(await axeProblems(other)).toEqual([])
    await other.context().close()
  }
  expect(await ended()).toEqual([])
})

test('an approval is decided with a comment when that is confirmed', async () => {
  await begun('/order', 'Order of Ada')
  await goWithin(page, 'operate/waits')
  const before = (await ended()).length
  await openWait('Order of Ada')
  await drawer().getByRole('button', { name: 'Approve' }).click()
  const asked = dialog('Order of Ada')
  await asked.getByText('This cannot be undone.').waitFor()
  expect(await axeProblems(page)).toEqual([])
  await asked.getByRole('button', { name: 'Cancel' }).click()
  expect(await titles()).toContain('Order of Ada')
  await drawer().getByRole('button', { name: 'Approve' }).click()
  await asked.getByLabel('Comment').fill('By phone')
  await asked.getByRole('button', { name: 'Approve' }).click()
  await expect
    .poll(async () => (await ended()).slice(before), { timeout: 10_000 })
    .toMatchObject([{ end: 'approved', by: 'admin', comment: 'By phone' }])
  await eventually(() => row('Order of Ada').count()).toBe(0)
  expect(await drawer().count()).toBe(0)
})

test('a webhook is continued with what counts as sent; what is no JSON is not sent', async () => {
  await begun('/pay', 'Payment of 17')
  await goWithin(page, 'operate/waits')
  const before = (await ended()).length
  await openWait('Payment of 17')
  await drawer().getByRole('button', { name: 'Continue as received' }).click()
  const asked = dialog('Payment of 17')
  await asked.getByLabel('Body').fill('{ "paid": ')
  await asked.getByRole('button', { name: 'Continue as received' }).click()
  await asked.getByRole('alert').waitFor()
  expect(await titles()).toContain('Payment of 17')
  await asked.getByLabel('Body').fill('{ "paid": true }')
  await asked.getByRole('button', { name: 'Continue as received' }).click()
  await expect
    .poll(async () => (await ended()).slice(before), { timeout: 10_000 })
    .toMatchObject([{ sent: { paid: true } }])
  await eventually(() => row('Payment of 17').count()).toBe(0)
})

test('the job of a wait says on a phone what cancelling it does', async () => {
  const [wait] = (await stored()).filter(({ kind }) => kind === 'time')
  const phone = { viewport: { width: 390, height: 844 } }
  const other = await studio.open('admin', `operate/queues?open=${wait?.job}`, phone)
  await other.getByRole('button', { name: 'Cancel the job' }).click()
  const asked = other.getByRole('dialog', { name: 'Remove this job?' })
  await asked.getByText('never continues').waitFor()
  await asked.getByRole('button', { name: 'Cancel' }).click()
  expect(await titles()).toContain('Reminder')
  await other.getByRole('link', { name: 'Show it' }).click()
  await other.getByRole('button', { name: 'Continue now' }).waitFor()
  expect(await axeProblems(other)).toEqual([])
  await other.context().close()
})

test('a run that failed behind its decision continues on the deployed version, and others are moved there', async ({
  onTestFinished,
}) => {
  const { manage, send } = studio.quoin
  const uri = `mended_${++installed}`
  const blueprint = await studio.quoin.install(uri, {
    ask: { type: 'on_startup_register_uri_post', in: { uri }, scopes: ['*public'] },
    approval: {
      type: 'wait_for_approval',
      in: { flow: '@ask.flow', title: '=body.customer', scopes: ['a'] },
    },
    yes: {
      type: 'function_create_document_from_mutations',
      in: { flow: '@approval.approved', storage: 'ended', set: '={ mended: approval.by.username + 1 }' },
    },
  })
  onTestFinished(async () => {
    for (const one of await stored())
      if (one.title === 'Failed' || one.title === 'Waits')
        await manage('DELETE', `/_system/waits/${guidOf(one)}`)
    await goWithin(page, 'operate/waits')
  })
  for (const customer of ['Failed', 'Waits']) await send('POST', `/${uri}`, { body: { customer } })
  const waitOf = async (title: string) => (await stored()).find((one) => one.title === title)
  const guid = guidOf((await waitOf('Failed')) ?? {})
  await manage('POST', `/_system/waits/${guid}/continue`, { way: 'approved' })
  await expect.poll(async () => (await waitOf('Failed'))?.error, { timeout: 10_000 }).not.toBe('')
  const blocks = objectsOf(await manage('POST', '/blueprintactions/search', { limit: 100 }))
  const bad = blocks.find(({ in_pins: pins }) => JSON.stringify(pins).includes('username + 1'))
  const pins = JSON.parse(JSON.stringify(bad?.in_pins).replace(' + 1', ''))
  await manage('PUT', `/blueprintactions/${guidOf(bad ?? {})}`, { in_pins: pins })
  await manage('POST', `/blueprintactions/unsaved/${blueprint}`)
  await manage('POST', `/blueprints/deploy/${blueprint}`)
  await goWithin(page, `operate/waits?blueprint=${blueprint}`)
  await row('Failed').getByText('failed', { exact: true }).waitFor()
  const asked = dialog('Move to the deployed version')
  const all = '2 runs move to version 2, 1 of those'
  // The failed run is tried again meanwhile, and one that continues at this moment stays: then it is asked once more.
  await eventually(async () => {
    await page.getByRole('button', { name: 'Move to the deployed version' }).click()
    await asked.getByText(/runs? moves? to version 2/).waitFor()
    const said = (await asked.textContent()) ?? ''
    if (!said.includes(all)) await asked.getByRole('button', { name: 'Cancel' }).click()
    return said
  }).toContain(all)
  expect(await axeProblems(page)).toEqual([])
  await asked.getByRole('button', { name: 'Cancel' }).click()
  await openWait('Failed')
  await drawer().getByText('What the wait was ended with is kept').waitFor()
  expect(await axeProblems(page)).toEqual([])
  await drawer().getByRole('button', { name: 'Continue on the deployed version' }).click()
  await expect.poll(ended, { timeout: 10_000 }).toContainEqual(expect.objectContaining({ mended: 'admin' }))
  await openWait('Waits')
  await drawer().getByRole('button', { name: 'Move to the deployed version' }).click()
  await asked.getByText('1 run moves to version 2').waitFor()
  await asked.getByRole('button', { name: 'Move', exact: true }).click()
  await page.getByText('1 run moved').waitFor()
  expect((await waitOf('Waits'))?.deployment).toBe(2)
})

test('a run is cancelled when that is confirmed', async () => {
  await begun('/later', 'Reminder')
  await goWithin(page, 'operate/waits')
  await openWait('Reminder')
  await drawer().getByRole('button', { name: 'Cancel the run' }).click()
  const asked = dialog('Cancel this run?')
  await asked.getByText('This cannot be undone.').waitFor()
  expect(await titles()).toEqual(['Paid order', 'Reminder'])
  await asked.getByRole('button', { name: 'Cancel the run' }).click()
  await eventually(() => row('Reminder').count()).toBe(0)
  expect(await titles()).toEqual(['Paid order'])
  expect(studio.complaints()).toEqual([])
})
