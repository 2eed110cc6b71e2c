/** Charts over time in the studio: drawn, told as a table, and leading from a failure to what the cluster logged. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { addFigures } from '../../src/records/figures/figure-documents.ts'
import { axeProblems } from './axe-check.ts'
import { eventually, textsOf } from './studio-eventually.ts'
import { goWithin, openStudio, type StudioFixture } from './studio-fixture.ts'
import { expectNoProblem } from './studio-looks.ts'

let studio: StudioFixture
let page: Page
const now = Math.floor(Date.now() / 1000)
/** When requests failed: three hours ago. */
const spike = now - 3 * 3_600

beforeAll(async () => {
  studio = await openStudio()
  const { database, flows } = studio.quoin.quoin
  for (let at = now - 86_400 + 700; at < now - 600; at += 600) {
    const failed = Math.abs(at - spike) < 300 ? 40 : 0
    const traffic = [300 + (at % 97), 12, failed, 80, failed, 0, 200, 60, 20, 0, 0, 0, 12]
    await addFigures({ database, clock: Date.now }, at, [
      [{ kind: 'traffic', node: 'north' }, traffic],
      [{ kind: 'traffic', node: 'south' }, [100]],
      [{ kind: 'queues', node: '' }, [at % 40, 2, failed === 0 ? 0 : 3, at % 300]],
    ])
  }
  flows.log.write({ level: 'error', message: 'The till does not answer.' })
  await flows.log.flush()
  page = await studio.open('admin', 'operate/charts')
}, 240_000)
afterAll(() => studio?.close())

const main = () => page.getByRole('main')
const chart = (name: string) => main().getByRole('img', { name })

test('each chart has a picture with a name, and nothing is wrong with the page in either theme', async () => {
  const names = [
    'Requests per ten minutes',
    'Failures per ten minutes',
    'Latency of requests',
    'Jobs in queues',
  ]
  for (const name of names) await chart(name).waitFor()
  expect(await chart('Failures per ten minutes').locator('path').count()).toBe(3)
  await expectNoProblem(page, 'charts')
  await expectNoProblem(page, 'charts')
})

test('a table has the same figures, of one node or of all', async () => {
  await main().getByRole('button', { name: 'Show as a table' }).first().click()
  const table = main().getByRole('table', { name: 'Requests per ten minutes' })
  const cells = table.getByRole('row').nth(10).getByRole('cell')
  await eventually(async () => Number((await textsOf(cells)())[1])).toBeGreaterThanOrEqual(400)
  expect(await table.getByRole('row').count()).toBe(145)
  expect(await axeProblems(page)).toEqual([])
  await main().getByRole('combobox', { name: 'Node' }).click()
  await page.getByRole('option', { name: 'south' }).click()
  await eventually(async () => (await textsOf(cells)())[1]).toBe('100')
  await main().getByRole('combobox', { name: 'Node' }).click()
  await page.getByRole('option', { name: 'All nodes' }).click()
})

test('a failure leads to its minutes, and to what was logged then', async () => {
  await main()
    .getByText(/Most failures: 40/)
    .waitFor()
  await main().getByRole('link', { name: 'Minute by minute' }).click()
  await chart('Failures per minute').waitFor()
  await main()
    .getByText(/Most failures: 40/)
    .waitFor()
  await main().getByRole('link', { name: 'Errors of this time' }).first().click()
  await main().getByRole('heading', { name: 'System log' }).waitFor()
  await main().getByText('No log records').waitFor()
  await main().getByRole('button', { name: 'Show all times' }).click()
  await main().getByText('The till does not answer.').waitFor()
})

test('the log of a time has what was logged in it', async () => {
  await goWithin(page, `operate/system-log?level=error&since=${now - 60}&until=${now + 3_600}`)
  await main().getByText('The till does not answer.').waitFor()
  expect(studio.complaints()).toEqual([])
})
