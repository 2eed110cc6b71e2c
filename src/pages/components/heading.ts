import { type ComponentChild, h } from 'preact'

/** A page has one heading of the first level; the layout decides which one it is. */
export function heading({ level, text }: { readonly level: number; readonly text: string }): ComponentChild {
  return h(`h${Math.min(Math.max(level, 1), 6)}`, null, text)
}
