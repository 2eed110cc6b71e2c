/** A page with a table of 50 rows over 100,000 documents, from the request to the browser. */
import { type Candidate, startQuoin } from '../candidates.ts'
import { importDocuments } from '../import-documents.ts'
import { type BrowserTimes, measureInBrowser } from './page-in-browser.ts'
import { awaitWords, measurePages, PAGE, type PageTimes } from './page-times.ts'
import { type PageWeight, weighPage } from './page-weight.ts'
import { rowBody } from './sample-rows.ts'

export const DOCUMENTS = 100_000

export interface MeasuredPages {
  readonly times: readonly PageTimes[]
  /** Of the first search of the process, and until searches are fast, milliseconds. */
  readonly words: { readonly first: number; readonly ready: number }
  readonly weight: PageWeight
  /** A text: why not. */
  readonly browser: BrowserTimes | string
}

export async function measurePagesOf(core: number | undefined, rounds: number): Promise<MeasuredPages> {
  const server: Candidate = await startQuoin({
    core,
    blueprints: [new URL('articles.blueprint.json', import.meta.url)],
  })
  try {
    await importDocuments(server, 'articles', DOCUMENTS, (number) => rowBody(number, DOCUMENTS))
    const words = await awaitWords(server)
    const times = await measurePages(server, DOCUMENTS, rounds)
    const address = `${server.base}/${PAGE}?articles.sort=number`
    const weight = await weighPage(address)
    const browser = await measureInBrowser(address)
    return { times, words, weight, browser }
  } finally {
    await server.close()
  }
}
