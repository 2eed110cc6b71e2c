/** A page in a real Chromium: how long until its table takes a click, and how long a click then takes. */
import type { Browser } from 'playwright-core'
import { openBrowser } from '../../test/browser/open-browser.ts'
import { median } from '../statistics.ts'

export interface InBrowser {
  /** Milliseconds from the beginning of the navigation. */
  readonly firstByte: number
  readonly parsed: number
  /** The script has taken the table over; what is clicked before that reloads the page and works too. */
  readonly live: number
  readonly painted: number
}

export interface BrowserTimes {
  readonly version: string
  /** With nothing in the browser's cache. */
  readonly first: InBrowser
  /** The same page once more. */
  readonly again: InBrowser
  /** From the click on a column's head until the table stands in that order. */
  readonly sorted: number
}

const TIMES = 7

/** A text: why there is no browser to measure with. */
export async function measureInBrowser(address: string): Promise<BrowserTimes | string> {
  let browser: Browser
  try {
    browser = await openBrowser()
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
  try {
    const first: InBrowser[] = []
    const again: InBrowser[] = []
    const sorted: number[] = []
    // The first one starts the browser's own processes.
    for (let time = -1; time < TIMES; time++) {
      const seen = await visit(browser, address)
      if (time < 0) continue
      first.push(seen.first)
      again.push(seen.again)
      sorted.push(seen.sorted)
    }
    const version = browser.version()
    return { version, first: middle(first), again: middle(again), sorted: median(sorted) }
  } finally {
    await browser.close()
  }
}

async function visit(browser: Browser, address: string) {
  const context = await browser.newContext()
  try {
    const page = await context.newPage()
    await page.addInitScript(noteLife)
    await page.goto(address)
    const first = await page.evaluate(whenLive)
    await page.goto(address)
    const again = await page.evaluate(whenLive)
    const sorted = await page.evaluate(sortByClick)
    return { first, again, sorted }
  } finally {
    await context.close()
  }
}

/** In the page, before anything of it: notes when the script says that it is there. */
function noteLife(): void {
  new MutationObserver((_, observer) => {
    if (!document.documentElement.classList.contains('live')) return
    performance.mark('live')
    observer.disconnect()
  }).observe(document, { attributes: true, subtree: true, attributeFilter: ['class'] })
}

/** In the page. */
async function whenLive(): Promise<InBrowser> {
  const pause = () => new Promise((resolve) => setTimeout(resolve, 10))
  for (let turn = 0; turn < 500 && performance.getEntriesByName('live').length === 0; turn++) await pause()
  for (let turn = 0; turn < 500 && performance.getEntriesByType('paint').length === 0; turn++) await pause()
  const [navigation] = performance.getEntriesByType('navigation')
  const [live] = performance.getEntriesByName('live')
  if (!(navigation instanceof PerformanceNavigationTiming) || live === undefined)
    throw new Error('The page did not come alive.')
  const painted = performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? Number.NaN
  return {
    firstByte: navigation.responseStart,
    parsed: navigation.domContentLoadedEventEnd,
    live: live.startTime,
    painted,
  }
}

/** In the page. */
async function sortByClick(): Promise<number> {
  const link = document.querySelector('thead a[data-part]')
  if (!(link instanceof HTMLAnchorElement)) throw new Error('The table has no head to click on.')
  const table = link.closest('[data-table]')
  const began = performance.now()
  link.click()
  for (let turn = 0; turn < 5_000 && table?.isConnected; turn++)
    await new Promise((resolve) => setTimeout(resolve, 1))
  if (table?.isConnected || document.querySelector('[aria-sort]') === null)
    throw new Error('The table was not sorted.')
  return performance.now() - began
}

function middle(all: readonly InBrowser[]): InBrowser {
  const of = (name: keyof InBrowser) => median(all.map((one) => one[name]))
  return { firstByte: of('firstByte'), parsed: of('parsed'), live: of('live'), painted: of('painted') }
}
