// Writes the pages of docs/ that are drawn from definitions, and the numbers in README.md. `test/generated-docs.test.ts` fails when one is not current.
import { readFile, writeFile } from 'node:fs/promises'
import { accessWithScopes } from './access-scopes.ts'
import { contractPage } from './contract-page.ts'
import { blocksPage, errorsPage, settingsPage } from './docs-pages.ts'
import { endpointsPage } from './endpoints-page.ts'
import { functionsPage } from './functions-page.ts'
import { readmeWithNumbers } from './readme-numbers.ts'

const pages = {
  'blocks.md': await blocksPage(),
  'contract.md': await contractPage(),
  'endpoints.md': await endpointsPage(),
  'errors.md': errorsPage(),
  'functions.md': functionsPage(),
  'settings.md': settingsPage(),
}

for (const [name, text] of Object.entries(pages)) {
  await writeFile(new URL(`../docs/${name}`, import.meta.url), text)
}

const access = new URL('../docs/access.md', import.meta.url)
await writeFile(access, accessWithScopes(await readFile(access, 'utf8')))

const readme = new URL('../README.md', import.meta.url)
await writeFile(readme, await readmeWithNumbers(await readFile(readme, 'utf8')))
