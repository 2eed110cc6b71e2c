import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import type { AxeResults } from 'axe-core'
import type { Page } from 'playwright-core'

let source: Promise<string> | undefined

/**
 * What axe finds wrong with a page, one line for each element; empty when nothing is. All of its rules run, best practices
 * too. It is put in by the browser's debugger, so the page's content security policy stays as it is.
 */
export async function axeProblems(page: Page): Promise<readonly string[]> {
  source ??= readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
  await page.evaluate(await source)
  const { violations, passes }: AxeResults = await page.evaluate(
    'axe.run(document, { resultTypes: ["violations"] })',
  )
  // An empty page has nothing wrong with it: axe must have looked at something.
  if (passes.length < 10) throw new Error(`axe ran ${passes.length} rules only.`)
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(
      ({ target, failureSummary = '' }) =>
        `${id}: ${target.join(' ')}: ${failureSummary.replace(/\s+/g, ' ')}`,
    ),
  )
}
