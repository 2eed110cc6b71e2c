import { shellTexts } from '../texts/shell.ts'

export interface KeyPress {
  readonly key: string
  readonly ctrlKey: boolean
  readonly metaKey: boolean
  readonly altKey: boolean
  readonly shiftKey: boolean
}

/**
 * One step of a shortcut as it is pressed: `mod+shift+z`, `g`, `?`, `escape`. `mod` is Ctrl, or Cmd on a Mac. Shift counts
 * only with letters and named keys: `?` is `?`, however a keyboard makes it.
 */
export function stepOf(press: KeyPress): string {
  const key = press.key === ' ' ? 'space' : press.key.toLowerCase()
  const parts = [
    press.ctrlKey || press.metaKey ? 'mod' : '',
    press.altKey ? 'alt' : '',
    press.shiftKey && /^([a-z]|[a-z]{2,}|f\d+)$/.test(key) ? 'shift' : '',
    key,
  ]
  return parts.filter((part) => part !== '').join('+')
}

/** Keys that write or delete a character: never meant for the canvas while a field opens. */
export function isForField({ key, ctrlKey, metaKey }: KeyPress): boolean {
  return !ctrlKey && !metaKey && ([...key].length === 1 || key === 'Backspace' || key === 'Delete')
}

/** Keys that only go along with others. */
export function isModifier(key: string): boolean {
  return ['Control', 'Shift', 'Alt', 'Meta', 'AltGraph', 'CapsLock'].includes(key)
}

/** Whether the keys are characters only: `a`, `?`, `shift+a`, `g b`; not `mod+s`, `escape` or `delete`. */
export function isOfCharacters(keys: string): boolean {
  return keys.split(' ').every((step) => /^(shift\+)?[^+]$/.test(step))
}

/** `mod+shift+z` → ['Ctrl', 'Shift', 'Z'], and `g b` → ['G', 'B'], for showing. */
export function keyCaps(keys: string, isMac: boolean): string[][] {
  return keys.split(' ').map((step) => step.split('+').map((key) => cap(key, isMac)))
}

const named: Readonly<Record<string, string>> = {
  alt: shellTexts.alt,
  shift: shellTexts.shift,
  enter: shellTexts.enter,
  escape: shellTexts.esc,
  delete: shellTexts.del,
  backspace: '⌫',
  arrowup: '↑',
  arrowdown: '↓',
  arrowleft: '←',
  arrowright: '→',
  space: shellTexts.space,
}

function cap(key: string, isMac: boolean): string {
  if (key === 'mod') return isMac ? '⌘' : shellTexts.ctrl
  return named[key] ?? key.toUpperCase()
}
