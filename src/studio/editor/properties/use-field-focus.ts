import { type RefCallback, useCallback, useEffect, useLayoutEffect, useRef } from 'react'
import { useEditorState } from '../state/editor-context.ts'

/** Requests that a field has answered: going to another block with a pin of that name asks for nothing. */
const answered = new WeakSet<object>()

/** The field of a pin or setting takes the keyboard on request: from a problem, or from the outline. */
export function useFieldFocus<T extends HTMLElement>(pin: string) {
  const ref = useRef<T>(null)
  const focus = useEditorState((state) => state.focus)
  useEffect(() => {
    const field = ref.current
    if (focus.count === 0 || focus.pin !== pin || !field || answered.has(focus)) return
    answered.add(focus)
    field.scrollIntoView({ block: 'nearest' })
    field.focus({ preventScroll: true })
  }, [focus, pin])
  return ref
}

/**
 * The search field of a list takes the keyboard in the moment in which the list opens, also while the list is still closing from
 * before. The library does so a moment later, and keys of that moment were shortcuts of the canvas.
 */
export function useSearchFocus(isOpen: boolean): RefCallback<HTMLInputElement> {
  const field = useRef<HTMLInputElement>(null)
  const requested = useRef(isOpen)
  requested.current = isOpen
  useLayoutEffect(() => {
    if (isOpen) field.current?.focus({ preventScroll: true })
  }, [isOpen])
  return useCallback((found) => {
    field.current = found
    if (requested.current) found?.focus({ preventScroll: true })
  }, [])
}
