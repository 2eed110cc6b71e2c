import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { accessWithScopes } from '../scripts/access-scopes.ts'
import { contractPage } from '../scripts/contract-page.ts'
import { blocksPage, errorsPage, settingsPage } from '../scripts/docs-pages.ts'
import { endpointsPage } from '../scripts/endpoints-page.ts'
import { functionsPage } from '../scripts/functions-page.ts'
import { readmeWithNumbers } from '../scripts/readme-numbers.ts'
import { managementScopes, scopesWithCare } from '../src/shared/management-scopes.ts'
import { meaningOf } from '../src/studio/screens/people/known-scopes.ts'
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

test('docs/access.md names every scope that needs care, as the studio does (else: npm run docs)', async () => {
  const page = await readFile(new URL('../docs/access.md', import.meta.url), 'utf8')
  expect(accessWithScopes(page)).toBe(page)
  for (const [scope, { meaning }] of scopesWithCare) {
    expect(page).toContain(`| \`${scope}\` | ${meaning} |`)
    expect([scope, managementScopes.includes(scope), meaningOf(scope)]).toEqual([scope, true, meaning])
  }
})

test('README.md has the numbers of what there is (else: npm run docs)', async () => {
  const readme = await readFile(new URL('../README.md', import.meta.url), 'utf8')
  expect(readme).toBe(await readmeWithNumbers(readme))
})

test('docs/reliability.md tells of the other checks', async () => {
  const page = await readFile(new URL('../docs/reliability.md', import.meta.url), 'utf8')
  expect(page).toContain(tortureSection)
})
