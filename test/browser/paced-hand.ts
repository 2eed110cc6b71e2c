/** What a person does with a mouse and keys, counted: the time of a journey is the same on every machine. */
import type { Locator, Page } from 'playwright-core'

/** Seconds of a person for one pointer action (a click, or a drag), for one key, and for looking over a screen. */
const CLICK = 1
const KEY = 0.2
const SCREEN = 3

export interface PacedHand {
  click(target: Locator): Promise<void>
  drag(from: Locator, to: Locator, targetPosition: { readonly x: number; readonly y: number }): Promise<void>
  /** Types at the place of the cursor; then Enter, Tab or another key if one is named. */
  type(words: string, end?: string): Promise<void>
  /** Looks over a screen that has changed. */
  read(): void
  /** `12 clicks and 30 keys: 18.0 s`, as the guides say it. */
  said(): string
  readonly clicks: number
  /** Seconds at the pace of a person, without any waiting for the machine. */
  readonly seconds: number
}

export function pacedHand(page: Page): PacedHand {
  let [clicks, keys, screens] = [0, 0, 0]
  const seconds = () => clicks * CLICK + keys * KEY + screens * SCREEN
  return {
    async click(target) {
      clicks += 1
      await target.click()
    },
    async drag(from, to, targetPosition) {
      clicks += 1
      await from.dragTo(to, { targetPosition, steps: 8 })
    },
    async type(words, end) {
      keys += words.length + (end === undefined ? 0 : 1)
      await page.keyboard.type(words)
      if (end !== undefined) await page.keyboard.press(end)
    },
    read() {
      screens += 1
    },
    said: () => `${clicks} clicks and ${keys} keys: ${seconds().toFixed(1)} s`,
    get clicks() {
      return clicks
    },
    get seconds() {
      return seconds()
    },
  }
}
