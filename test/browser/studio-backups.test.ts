/** Operate → Backups: made, checked, restored beside the running database, and deleted, by a person. */
import { stat } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { objectOf, objectsOf } from '../end-to-end/harness.ts'
import { axeProblems } from './axe-check.ts'
import { eventually, textOf } from './studio-eventually.ts'
import { openStudio, type StudioFixture } from './studio-fixture.ts'

let studio: StudioFixture
let page: Page
beforeAll(async () => {
  studio = await openStudio()
  page = await studio.open('admin', 'operate/backups')
}, 240_000)
afterAll(() => studio?.close())

const listed = async () => objectsOf(objectOf(await studio.quoin.manage('GET', '/_system/backups')).backups)
const main = () => page.getByRole('main')
const dialog = () => page.getByRole('dialog')

test('a backup is made, checked, restored into a new folder, and deleted when that is confirmed', async () => {
  await page.getByText('No backups').waitFor()
  expect(await axeProblems(page)).toEqual([])
  await page.getByRole('button', { name: 'Back up now' }).click()
  await eventually(textOf(main())).toMatch(/Made \d{8}T\d{6}Z-hand/)
  expect(await listed()).toMatchObject([{ kind: 'hand', checked: null }])
  await page.getByRole('button', { name: /^Check / }).click()
  await eventually(textOf(main())).toMatch(/every checksum is right/)
  await eventually(textOf(page.getByRole('row'))).toMatch(/right/)
  expect(await axeProblems(page)).toEqual([])
  await page.getByRole('button', { name: /^Restore / }).click()
  await dialog().getByRole('button', { name: 'Restore' }).click()
  await eventually(textOf(main())).toMatch(/Into .*restored.*Start a server with QUOIN_DATA/)
  const copies = page.getByRole('region', { name: 'Restored copies' })
  await copies.getByText(/^restored\/\d{8}T\d{6}Z-hand-/).waitFor()
  expect(await axeProblems(page)).toEqual([])
  const coming = page.waitForEvent('download')
  await page.getByRole('link', { name: /^Download / }).click()
  const download = await coming
  expect(download.suggestedFilename()).toMatch(/^quoin-\d{8}T\d{6}Z-hand\.tar$/)
  expect((await stat(await download.path())).size).toBeGreaterThan(100_000)
  await copies.getByRole('button', { name: /^Delete / }).click()
  await dialog().getByText('The backup that it was restored from stays').waitFor()
  await dialog().getByRole('button', { name: 'Delete' }).click()
  await copies.waitFor({ state: 'detached' })
  await page.getByRole('button', { name: /^Delete / }).click()
  await dialog().getByText('deleted permanently').waitFor()
  expect((await listed()).length).toBe(1)
  await dialog().getByRole('button', { name: 'Delete' }).click()
  await page.getByText('No backups').waitFor()
  expect(await listed()).toEqual([])
  expect(studio.complaints()).toEqual([])
})
