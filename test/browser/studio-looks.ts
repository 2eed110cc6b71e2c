/** Looks at a page of the studio with low vision, a screen reader or in a dark room. */
import type { Page } from 'playwright-core'
import { expect, inject } from 'vitest'
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

/** Rows of lists in which a button covers the title or another button: on a phone both stand at the top of a card. */
export const covered = `[...document.querySelectorAll('main tr')].flatMap((row) => {
  const [title, ...cells] = row.querySelectorAll('td')
  const text = document.createRange()
  if (title) text.selectNodeContents(title)
  const places = [...cells].filter((cell) => cell.dataset.label === '').map((cell) => cell.getBoundingClientRect())
  const meets = (a, b) => a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1
  const isCovered = places.some((one, at) =>
    [...text.getClientRects(), ...places.slice(at + 1)].some((other) => meets(one, other)))
  return isCovered ? [innerWidth + ' ' + title.textContent.slice(0, 40)] : []
})`

/** Cells of lists whose words go on beyond their edge, or that lie beyond the screen: a long word pushed them out. */
export const cut = `[...document.querySelectorAll('main td')].flatMap((cell) => {
  const isCut = cell.scrollWidth > cell.clientWidth + 1 || cell.getBoundingClientRect().right > innerWidth + 1
  return isCut ? [innerWidth + ' ' + cell.textContent.slice(0, 40)] : []
})`

/** In which colours each page is looked at: to change them takes the browser 0.1 s of processor time. */
const schemes = new WeakMap<Page, 'dark' | 'light'>()
/** What covers the rest of the page, which was looked at before it opened. */
const modal = '[role=dialog][aria-modal=true]'

/**
 * Axe finds nothing wrong in one colour scheme, which the studio follows at once: that of the page's first look, by the length
 * of its name. Nothing but colours is different in the other. Where a dialog is open, axe looks at the dialog: a third of the
 * cost. `npm run torture` looks at everything in both schemes. `where` is for the reader of a failure; `part` as of
 * `axeProblems`.
 */
export async function expectNoProblem(page: Page, where: string, part?: string): Promise<void> {
  const one = schemes.get(page) ?? (where.length % 2 === 0 ? 'dark' : 'light')
  schemes.set(page, one)
  const isCovered = !inject('thorough') && (await page.locator(modal).count()) > 0
  const whole = [one, (of: Page) => axeProblems(of, isCovered ? modal : part)] as const
  const both = [whole, [one === 'dark' ? 'light' : 'dark', axeColourProblems] as const]
  for (const [colorScheme, problems] of inject('thorough') ? both : [whole]) {
    await turnTo(page, colorScheme)
    expect([where, colorScheme, await problems(page)]).toEqual([where, colorScheme, []])
  }
}

async function turnTo(page: Page, colorScheme: 'dark' | 'light'): Promise<void> {
  await page.emulateMedia({ colorScheme })
  // The sign-in form has no such attribute: its colours follow the browser without a script.
  const shown = () => page.locator('html').getAttribute('data-mantine-color-scheme')
  await eventually(shown).toBeOneOf([colorScheme, null])
  await eventually(() => page.evaluate(moving)).toEqual([])
}

/**
 * Of a page that {@link expectNoProblem} has looked at: axe finds nothing wrong with its colours in the other scheme, nor with what is clicked at the
 * present width. The page stays in that scheme, in which the next one is looked at as a whole: a change for each page, not two.
 */
export async function expectNoProblemTurned(page: Page, where: string): Promise<void> {
  const colorScheme = schemes.get(page) === 'dark' ? 'light' : 'dark'
  schemes.set(page, colorScheme)
  await turnTo(page, colorScheme)
  expect([where, colorScheme, await axeColourProblems(page)]).toEqual([where, colorScheme, []])
}
