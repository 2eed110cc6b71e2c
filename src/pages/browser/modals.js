/** A modal opens as a popover without this module; with it, what is behind it cannot be reached until it is closed. */

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
}
