import { useEffect, useRef } from 'react'
import { createStore } from 'zustand/vanilla'
import { place } from '../api/saved-places.ts'
import { shellTexts } from '../texts/shell.ts'

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
function isModifier(key: string): boolean {
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

export interface Shortcut {
  /** `mod+s`, `?`, or two steps one after the other: `g b`. */
  readonly keys: string
  /** What it does, for the list under `?`. */
  readonly label: string
  /** The heading it is listed under, such as "Everywhere" or "Canvas". */
  readonly group: string
  /** Works also while something is being typed. */
  readonly whileTyping?: boolean
}

interface Registered extends Shortcut {
  readonly run: (event: KeyboardEvent) => void
}

/** Those that work now, the latest last: of two with the same keys the latest counts. */
export const shortcuts = createStore<{ readonly active: readonly Registered[] }>(() => ({ active: [] }))

/** Makes keys do something while the component is shown. */
export function useShortcut(shortcut: Shortcut, run: (event: KeyboardEvent) => void): void {
  const latest = useRef(run)
  latest.current = run
  const { keys, label, group, whileTyping } = shortcut
  useEffect(() => {
    const entry: Registered = {
      keys,
      label,
      group,
      run: (event) => latest.current(event),
      ...(whileTyping === undefined ? {} : { whileTyping }),
    }
    shortcuts.setState(({ active }) => ({ active: [...active, entry] }))
    return () => shortcuts.setState(({ active }) => ({ active: active.filter((one) => one !== entry) }))
  }, [keys, label, group, whileTyping])
}

const undoKeys: ReadonlySet<string> = new Set(['mod+z', 'mod+shift+z', 'mod+y'])

/** How long the second step of `g b` may take, in milliseconds. */
const PATIENCE = 1_200

/** The one listener of the window. Gives what stops it. */
export function listenToKeys(): () => void {
  let before = ''
  let since = 0
  const onKey = (event: KeyboardEvent) => {
    if (event.defaultPrevented || event.isComposing || isModifier(event.key)) return
    const step = stepOf(event)
    const first = event.timeStamp - since < PATIENCE ? before : ''
    const awaited = !isTyping(event.target) && isForField(event) && isKeyboardTaken()
    // The browser writes the character where the focus is after this: in a dialog that has just opened, it would be lost.
    if (awaited) fieldOfDialog()?.focus({ preventScroll: true })
    const isBelow = !isTyping(event.target) && isModalOpen()
    const typing = awaited || isBelow || isTyping(event.target)
    // The browser would undo what was last typed into any field, also into one below the dialog.
    if (isBelow && undoKeys.has(step)) event.preventDefault()
    const { active } = shortcuts.getState()
    const letters = letterShortcuts.getState().on
    const pressed = (keys: string) =>
      letters || !isOfCharacters(keys)
        ? active.findLast((one) => one.keys === keys && (one.whileTyping || !typing))
        : undefined
    // Two steps before one: `g a` is not an `a`.
    const found = (first === '' ? undefined : pressed(`${first} ${step}`)) ?? pressed(step)
    before = typing ? '' : step
    since = event.timeStamp
    if (!found) return
    before = ''
    event.preventDefault()
    found.run(event)
  }
  window.addEventListener('keydown', onKey)
  return () => window.removeEventListener('keydown', onKey)
}

/** A list, menu or dialog is open: what is typed is meant for it, wherever the focus is just now. */
function isKeyboardTaken(): boolean {
  const takers = '[role=dialog], [role=menu], [aria-haspopup=listbox][aria-expanded=true]'
  return document.querySelector(takers) !== null
}

/** The focus is nowhere while the button of a dialog waits for its request: keys are not for what is below the dialog. */
function isModalOpen(): boolean {
  return document.querySelector('[role=dialog][aria-modal=true]') !== null
}

/** The field that gets the focus in the dialog that was opened last: a timer of the dialog moves it there. */
function fieldOfDialog(): HTMLElement | undefined {
  const fields = document.querySelectorAll<HTMLElement>('[role=dialog] :is(input, textarea)[data-autofocus]')
  return [...fields].at(-1)
}

/** In a field, and in an open dialog or menu, which have keys of their own. */
function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false
  return (
    target.isContentEditable ||
    target.matches('input:not([type=checkbox], [type=radio], [type=button]), textarea, select') ||
    target.closest('[role=dialog], [role=menu], [role=listbox]') !== null
  )
}
