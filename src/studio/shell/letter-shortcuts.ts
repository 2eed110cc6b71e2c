import { createStore } from 'zustand/vanilla'
import { place } from '../api/kept-places.ts'

const KEY = 'quoin.letterShortcuts'

/**
 * Whether keys without Ctrl or Cmd that write a character do something: `a`, `?`, `g b`. Who dictates sets them off with
 * every word, so they can be switched off (WCAG 2.1.4). Kept in the browser.
 */
export const letterShortcuts = createStore<{ readonly on: boolean }>(() => ({
  on: place('localStorage')?.getItem(KEY) !== 'off',
}))

export function switchLetterShortcuts(on: boolean): void {
  if (on) place('localStorage')?.removeItem(KEY)
  else place('localStorage')?.setItem(KEY, 'off')
  letterShortcuts.setState({ on })
}
