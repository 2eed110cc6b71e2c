/**
 * Forms are sent without leaving the page: the answer is shown in place, with its error summary in focus. A second click
 * while one is under way does nothing. Leaving a form with changes asks first.
 */
import { fetchPage, isPage, onArrival, showPage, tell } from './swap.js'

/** @type {WeakSet<HTMLFormElement>} */
const changed = new WeakSet()

export function followForms() {
  document.addEventListener('submit', (event) => {
    const form = event.target
    if (!(form instanceof HTMLFormElement) || !form.matches('[data-send]') || event.defaultPrevented) return
    event.preventDefault()
    if (form.ariaBusy !== 'true') void send(form, event.submitter)
  })
  document.addEventListener('input', (event) => {
    const form = event.target instanceof Element ? event.target.closest('form[data-unsaved]') : null
    if (form instanceof HTMLFormElement) changed.add(form)
  })
  addEventListener('beforeunload', (event) => {
    if ([...document.forms].some((form) => changed.has(form))) event.preventDefault()
  })
  // The links of an error summary go to the input itself, not only to where it stands.
  document.addEventListener('click', (event) => {
    const link = event.target instanceof Element ? event.target.closest('[data-summary] a') : null
    const input = link && document.getElementById(link.getAttribute('href')?.slice(1) ?? '')
    if (!input) return
    event.preventDefault()
    input.focus()
    input.scrollIntoView({ block: 'center' })
  })
  onArrival((part) => {
    const summary = part.querySelector('[data-summary]')
    if (summary instanceof HTMLElement) summary.focus()
  })
}

/**
 * @param {HTMLFormElement} form
 * @param {HTMLElement | null} submitter
 */
async function send(form, submitter) {
  const data = new FormData(form, submitter)
  // An input named `action` stands in front of the property of the form.
  const multipart = form.getAttribute('enctype') === 'multipart/form-data'
  // Without files a FormData is text only.
  const body = multipart ? data : new URLSearchParams(/** @type {[string, string][]} */ ([...data]))
  busy(form, submitter, true)
  try {
    const reply = await fetchPage(form.getAttribute('action') ?? location.href, { method: 'POST', body })
    // To another site, which is opened and not fetched.
    const elsewhere = /^0; url=(.+)/.exec(reply.headers.get('refresh') ?? '')?.[1]
    if (elsewhere) return location.assign(elsewhere)
    if (!isPage(reply)) await keepFile(reply)
    else {
      changed.delete(form)
      const html = await reply.text()
      const where = reply.redirected ? reply.url : location.href
      showPage(html, where, where === location.href ? 'keep' : 'push')
    }
  } catch {
    tell(form.dataset.failed ?? '…')
  } finally {
    busy(form, submitter, false)
  }
}

/**
 * @param {HTMLFormElement} form
 * @param {HTMLElement | null} submitter
 * @param {boolean} is
 */
function busy(form, submitter, is) {
  form.ariaBusy = is ? 'true' : null
  if (submitter) submitter.ariaBusy = is ? 'true' : null
}

/**
 * What is no page is a file to be kept.
 * @param {Response} reply
 */
async function keepFile(reply) {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(await reply.blob())
  link.download = /filename="?([^";]+)/.exec(reply.headers.get('content-disposition') ?? '')?.[1] ?? 'file'
  link.click()
  URL.revokeObjectURL(link.href)
}
