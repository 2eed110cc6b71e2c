/** A modal opens as a popover without this module; with it, what is behind it cannot be reached until it is closed. */
import { onArrival } from './swap.js'

export function followModals() {
  document.addEventListener('click', (event) => {
    const opener = event.target instanceof Element ? event.target.closest('[popovertarget]') : null
    const dialog = opener && document.getElementById(opener.getAttribute('popovertarget') ?? '')
    if (!(dialog instanceof HTMLDialogElement)) return
    event.preventDefault()
    if (dialog.open) return dialog.close()
    dialog.removeAttribute('popover')
    dialog.showModal()
    return undefined
  })
  // In it is a form that was refused.
  onArrival((part) => {
    for (const dialog of part.querySelectorAll('dialog[open]:not(:modal)')) {
      if (!(dialog instanceof HTMLDialogElement)) continue
      dialog.open = false
      dialog.showModal()
    }
  })
}
