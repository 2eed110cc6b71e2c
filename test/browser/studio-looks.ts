/** Looks at a page of the studio as somebody with bad eyes, a screen reader or a dark room would. */
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { axeColourProblems, axeProblems } from './axe-check.ts'
import { eventually } from './studio-eventually.ts'

const waiting = '[aria-busy=true], [role=status][aria-label=Loading]'

/** Until nothing on the page says that it is still being fetched. */
export async function settled(page: Page): Promise<void> {
  await page.getByRole('heading').first().waitFor()
  await eventually(() => page.locator(waiting).count()).toBe(0)
}

/** What moves or fades at the moment; a spinner does so for ever. */
const moving = `document.getAnimations().filter((one) =>
  one.playState === 'running' && one.effect?.getComputedTiming().iterations !== Infinity
).map((one) => (one.transitionProperty ?? one.animationName) + ' ' + one.effect?.target?.outerHTML.slice(0, 120))`

/**
 * Axe finds nothing in the dark, and no colours in the light, which the studio follows at once: nothing but colours is
 * different there. `where` is for whoever reads a failure.
 */
export async function expectNoProblem(page: Page, where: string): Promise<void> {
  const html = page.locator('html')
  for (const [colorScheme, problems] of [
    ['dark', axeProblems],
    ['light', axeColourProblems],
  ] as const) {
    await page.emulateMedia({ colorScheme })
    await eventually(() => html.getAttribute('data-mantine-color-scheme')).toBe(colorScheme)
    await eventually(() => page.evaluate(moving)).toEqual([])
    expect([where, colorScheme, await problems(page)]).toEqual([where, colorScheme, []])
  }
}
