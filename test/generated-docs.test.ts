import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { contractPage } from '../scripts/contract-page.ts'
import { blocksPage, errorsPage, settingsPage } from '../scripts/docs-pages.ts'
import { endpointsPage } from '../scripts/endpoints-page.ts'
import { functionsPage } from '../scripts/functions-page.ts'
import { readmeWithNumbers } from '../scripts/readme-numbers.ts'
import { tortureSection } from './cluster/torture-section.ts'

test.each([
  ['blocks.md', blocksPage],
  ['contract.md', contractPage],
  ['endpoints.md', endpointsPage],
  ['errors.md', errorsPage],
  ['functions.md', functionsPage],
  ['settings.md', settingsPage],
])('docs/%s is what the definitions say (else: npm run docs)', async (name, page) => {
  expect(await readFile(new URL(`../docs/${name}`, import.meta.url), 'utf8')).toBe(await page())
})

test('README.md has the numbers of what there is (else: npm run docs)', async () => {
  const readme = await readFile(new URL('../README.md', import.meta.url), 'utf8')
  expect(readme).toBe(await readmeWithNumbers(readme))
})

test('docs/reliability.md tells of the other checks', async () => {
  const page = await readFile(new URL('../docs/reliability.md', import.meta.url), 'utf8')
  expect(page).toContain(tortureSection)
})
