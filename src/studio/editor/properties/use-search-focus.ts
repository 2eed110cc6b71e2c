import { type RefCallback, useCallback, useLayoutEffect, useRef } from 'react'

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
