/**
 * Selects in which people type. Focus selects their text, so that typing replaces it; the first match is marked, and Enter takes
 * it. Enter never submits the form around an open list, which would send the value that was chosen before.
 */
import type { FocusEvent, KeyboardEvent, MouseEvent } from 'react'
import { controlsTexts } from '../texts/shell.ts'

interface Option {
  readonly text: string
  readonly isMarked: boolean
}

/**
 * The place of the option that Enter takes. Options that a server searches come after the last key, and are not marked yet: the
 * first that fits the text is taken. Undefined where nothing fits, or nothing was typed.
 */
export function optionToTake(options: readonly Option[], typed: string): number | undefined {
  const requested = typed.trim().toLowerCase()
  const at = (fits: (option: Option) => boolean) => {
    const place = options.findIndex(fits)
    return place === -1 ? undefined : place
  }
  const marked = at(({ isMarked }) => isMarked)
  if (marked !== undefined || requested === '') return marked
  return (
    at(({ text }) => text.trim().toLowerCase() === requested) ??
    at(({ text }) => text.toLowerCase().includes(requested))
  )
}

function takeWithEnter(event: KeyboardEvent<HTMLInputElement>): void {
  const { currentTarget: field, key, nativeEvent } = event
  const isOpen = field.getAttribute('aria-expanded') === 'true'
  if (key !== 'Enter' || !isOpen || field.readOnly || nativeEvent.isComposing) return
  event.preventDefault()
  event.stopPropagation()
  const list = document.getElementById(field.getAttribute('aria-controls') ?? '')
  const options = [...(list?.querySelectorAll<HTMLElement>('[data-combobox-option]') ?? [])].filter(
    (option) => !option.hasAttribute('data-combobox-disabled'),
  )
  const texts = options.map((option) => ({
    text: option.textContent,
    isMarked: option.hasAttribute('data-combobox-selected'),
  }))
  options[optionToTake(texts, field.value) ?? -1]?.click()
}

/** A select without search has a text that cannot be replaced. */
function selectText({ currentTarget: field }: FocusEvent<HTMLInputElement> | MouseEvent<HTMLInputElement>) {
  if (!field.readOnly) field.select()
}

export const typedListProps = { selectFirstOptionOnChange: true, nothingFoundMessage: controlsTexts.noMatch }

export const typedSelectProps = {
  ...typedListProps,
  onFocus: selectText,
  onKeyDownCapture: takeWithEnter,
}
