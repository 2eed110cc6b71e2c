/**
 * A value that no option has. With the value of the cell, or null, a select replaces what is typed by the name of that value, or by
 * nothing, whenever its options change.
 */
export const noOption = ''

/** Whether an option of an open list is marked, which Enter takes. */
export function isMarked(): boolean {
  return document.querySelector('[data-combobox-selected]') !== null
}
