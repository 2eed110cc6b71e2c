/** Operate → Settings: options that change without a restart are edited in place, the others say what they need. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { objectOf } from '../end-to-end/harness.ts'
import { axeProblems } from './axe-check.ts'
import { eventually, press, textOf } from './studio-eventually.ts'
import { openStudio, type StudioFixture } from './studio-fixture.ts'

let studio: StudioFixture
let page: Page
beforeAll(async () => {
  studio = await openStudio({ QUOIN_STREAMS: '1234', QUOIN_METRICS_TOKEN: 'a-token-of-the-metrics' })
  page = await studio.open('admin', 'operate/settings')
}, 240_000)
afterAll(() => studio?.close())

const stored = async (name: string) =>
  objectOf(await studio.quoin.manage('GET', `/_system/settings/${name}`)).stored
const field = (name: string) => page.getByLabel(name, { exact: true })
const changing = () => page.getByRole('region', { name: 'Change without a restart' })
const fixed = () => page.getByRole('region', { name: 'Need a restart' })

test('a wrong value is refused at its field, a right one is saved with Enter, and reset', async () => {
  await field('QUOIN_RUN_BUDGET').fill('few')
  await press(page, 'Enter')
  await eventually(textOf(changing())).toMatch(/QUOIN_RUN_BUDGET is "few"; it must be a whole number/)
  expect(await stored('QUOIN_RUN_BUDGET')).toBe(null)
  expect(await axeProblems(page)).toEqual([])
  await field('QUOIN_RUN_BUDGET').fill('5000')
  await press(page, 'Enter')
  await page.getByRole('button', { name: 'Reset QUOIN_RUN_BUDGET' }).waitFor()
  expect(await stored('QUOIN_RUN_BUDGET')).toBe('5000')
  await page.getByRole('button', { name: 'Reset QUOIN_RUN_BUDGET' }).click()
  await page.getByRole('button', { name: 'Reset QUOIN_RUN_BUDGET' }).waitFor({ state: 'detached' })
  expect(await stored('QUOIN_RUN_BUDGET')).toBe(null)
  expect(await field('QUOIN_RUN_BUDGET').inputValue()).toBe('1000000')
})

test('what the environment sets cannot be edited, what needs a restart says so, and secrets are not shown', async () => {
  await eventually(textOf(changing())).toMatch(/The environment of this node sets QUOIN_STREAMS/)
  expect(await field('QUOIN_STREAMS').count()).toBe(0)
  expect(await fixed().getByRole('textbox').count()).toBe(0)
  await eventually(textOf(fixed())).toMatch(/Needs a restart: QUOIN_PORT in the environment/)
  await eventually(textOf(fixed())).toMatch(/Metrics token ?QUOIN_METRICS_TOKEN ?environment/)
  expect(await page.content()).not.toContain('a-token-of-the-metrics')
})

test('settings are found by their words', async () => {
  await page.getByLabel('Search settings').fill('failed sign-ins')
  await eventually(() => changing().getByRole('textbox').count()).toBe(1)
  await field('QUOIN_LOCKOUT_ATTEMPTS').waitFor()
  await eventually(textOf(fixed())).toMatch(/No setting has these words/)
  expect(studio.complaints()).toEqual([])
})
