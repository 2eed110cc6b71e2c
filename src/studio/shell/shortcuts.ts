import { useEffect, useRef } from 'react'
import { createStore } from 'zustand/vanilla'
import { letterShortcuts } from './letter-shortcuts.ts'
import { isForField, isModifier, isOfCharacters, stepOf } from './match-keys.ts'

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
    const typing = isTyping(event.target) || (isForField(event) && isKeyboardTaken())
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

/** A list, menu or dialog is open, or a field is about to come: what is typed is meant for it, wherever the focus is just now. */
function isKeyboardTaken(): boolean {
  const takers = '[role=dialog], [role=menu], [aria-haspopup=listbox][aria-expanded=true], [data-awaits-keys]'
  return document.querySelector(takers) !== null
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
