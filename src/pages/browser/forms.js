/**
 * Forms are sent without leaving the page: the answer is shown in place, with its error summary in focus. A second click
 * while one is under way does nothing. Leaving a form with changes asks first.
 */
import { changed, fetchPage, isPage, onArrival, parse, showPage, stillHere, tell } from './swap.js'
import { reveal } from './tabs.js'

/** Forms under way; those of tables by the table, whose form is new after each refresh. @type {Set<unknown>} */
const sending = new Set()

export function followForms() {
  document.addEventListener('submit', (event) => {
    const form = event.target
    if (!(form instanceof HTMLFormElement) || !form.matches('[data-send]') || event.defaultPrevented) return
    event.preventDefault()
    const key = form.closest('[data-table]')?.id ?? form
    if (sending.has(key)) return
    sending.add(key)
    void send(form, event.submitter).finally(() => sending.delete(key))
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
    reveal(input)
    input.focus()
    input.scrollIntoView({ block: 'center' })
  })
  onArrival((part) => {
    const summary = part.querySelector('[data-summary]')
    if (!(summary instanceof HTMLElement)) return
    const form = summary.closest('form')
    if (form) changed.add(form)
    summary.focus()
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
  const [isHere, here] = [stillHere(), location.href]
  busy(form, submitter, true)
  try {
    const reply = await fetchPage(form.getAttribute('action') ?? here, { method: 'POST', body })
    // To another site, which is opened and not fetched.
    const elsewhere = /^0; url=(.+)/.exec(reply.headers.get('refresh') ?? '')?.[1]
    if (elsewhere) return location.assign(elsewhere)
    const isRefused = !reply.ok && !reply.redirected
    if (!isPage(reply)) return isRefused ? tell() : await keepFile(reply)
    const html = await reply.text()
    // The visitor has gone elsewhere meanwhile.
    if (!isHere()) return isRefused ? tell() : undefined
    if (isRefused && keepForm(form, html)) return undefined
    changed.delete(form)
    const where = reply.redirected ? reply.url : here
    showPage(html, where, where === location.href ? 'keep' : 'push', isRefused)
  } catch {
    form.dataset.lost = ''
    tell()
  } finally {
    busy(form, submitter, false)
  }
  return undefined
}

/**
 * What the server says in place of the page is shown at the form, which stays as it was filled in. Gives false if the form
 * itself has come back, or the application's own page.
 * @param {HTMLFormElement} form
 * @param {string} html
 */
function keepForm(form, html) {
  const page = parse(html)
  const main = page.getElementById('main')
  if (!main) {
    tell()
    return true
  }
  if (!main.querySelector('.sheet') || page.getElementById(form.id)) return false
  const summary = document.createElement('div')
  summary.className = 'summary'
  summary.id = 'refused'
  summary.role = 'alert'
  summary.tabIndex = -1
  summary.dataset.summary = ''
  for (const { localName, textContent } of main.querySelectorAll('h1, p:not(:has(a))'))
    summary.appendChild(document.createElement(localName === 'h1' ? 'h2' : 'p')).textContent = textContent
  document.getElementById('refused')?.remove()
  form.querySelector('[data-summary]')?.remove()
  const question = form.querySelector(':popover-open')
  if (question instanceof HTMLElement) question.hidePopover()
  // A table is replaced when it changes, and a form that is a button stands in a row.
  const around = form.closest('[data-table]') ?? (form.matches('.plain-form') ? form.parentElement : null)
  if (around) around.before(summary)
  else form.prepend(summary)
  summary.focus()
  return true
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
