import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import type { AxeResults, Result, RunOptions } from 'axe-core'
import type { Page } from 'playwright-core'
import { inject } from 'vitest'

/** Two thirds of the elements of an editor, and the same in each: `studio-dialogs` looks at it. */
const palette = 'aside[aria-label="Blocks to add"]'

/**
 * What is on the canvas is as small as one has zoomed it, and all of it can be changed in the panel of the block too, which is what WCAG 2.5.8
 * asks for then.
 */
const targets = { id: 'target-size', selector: '*:not(.react-flow__viewport *)' }

let source: Promise<string> | undefined

/**
 * What axe finds wrong with a page, one line for each element; empty when nothing is. All rules run that it runs by itself, best
 * practices too; the size of what is clicked is looked at with the colours. It is put in by the browser's debugger, so the page's
 * content security policy stays as it is. `part`: a selector of what to look at; without one all but the list of blocks.
 */
export async function axeProblems(page: Page, part?: string): Promise<readonly string[]> {
  const { violations, passes } = await runAxe(page, {}, part)
  // An empty page has nothing wrong with it: axe must have looked at something.
  if (passes.length < 10) throw new Error(`axe ran ${passes.length} rules only.`)
  return linesOf(violations)
}

/**
 * The same of colours and of the size of what is clicked alone: for a page that has been looked at as a whole in another scheme or
 * width, and at a third of the cost.
 */
export async function axeColourProblems(page: Page): Promise<readonly string[]> {
  const values = ['color-contrast', 'link-in-text-block', targets.id]
  const { violations, passes, incomplete } = await runAxe(page, { runOnly: { type: 'rule', values } })
  const seen = [...violations, ...passes, ...incomplete].filter(({ id }) => id !== targets.id)
  if (seen.length === 0) throw new Error('axe saw no colours.')
  return linesOf(violations)
}

async function runAxe(page: Page, options: RunOptions, part?: string): Promise<AxeResults> {
  source ??= readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
  if (!(await page.evaluate("'axe' in globalThis"))) {
    await page.evaluate(await source)
    await page.evaluate(`axe.configure(${JSON.stringify({ rules: [targets] })})`)
  }
  const whole: RunOptions = { ...options, resultTypes: ['violations'], preload: false }
  const where = part ?? (inject('thorough') ? 'html' : { exclude: [palette] })
  return page.evaluate(`axe.run(${JSON.stringify(where)}, ${JSON.stringify(whole)})`)
}

function linesOf(violations: readonly Result[]): readonly string[] {
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(
      ({ target, failureSummary = '' }) =>
        `${id}: ${target.join(' ')}: ${failureSummary.replace(/\s+/g, ' ')}`,
    ),
  )
}
