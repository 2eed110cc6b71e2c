import type { Locator, Page } from 'playwright-core'
import { expect } from 'vitest'

/** Milliseconds that a busy machine may take to show what a quiet one shows at once. */
const PATIENCE = 20_000

/** Reads again and again until the value is as expected. */
export function eventually<T>(read: () => T | Promise<T>) {
  return expect.poll(read, { timeout: PATIENCE, interval: 30 })
}

/** The text of each that is there; none is no reason to wait, so this is for `eventually`. */
export const textsOf = (all: Locator) => () => all.allTextContents()

/** The text of all of them in a row; for `eventually`. */
export const textOf = (all: Locator) => async () => (await all.allTextContents()).join(' ')

/**
 * Presses a key when the page has nothing else to do. What has just been drawn hears no key yet: React lets it listen a
 * moment later.
 */
export async function press(page: Page, key: string): Promise<void> {
  await page.evaluate('new Promise((resolve) => requestIdleCallback(resolve, { timeout: 2_000 }))')
  await page.keyboard.press(key)
}
