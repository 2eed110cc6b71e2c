// Writes the pages of docs/ that are drawn from definitions. `test/generated-docs.test.ts` fails when one is not current.
import { writeFile } from 'node:fs/promises'
import { contractPage } from './contract-page.ts'
import { blocksPage, errorsPage, settingsPage } from './docs-pages.ts'
import { endpointsPage } from './endpoints-page.ts'
import { functionsPage } from './functions-page.ts'

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
