/** Getting pages, and putting them, or a part of one, in place of what is shown. */

/** @type {((part: ParentNode) => void)[]} */
const arrivals = []

/**
 * Does something with the page now, and with each part that is put into it.
 * @param {(part: ParentNode) => void} work
 */
export function onArrival(work) {
  arrivals.push(work)
  work(document)
}

/** @param {ParentNode} part */
function arrived(part) {
  for (const work of arrivals) work(part)
}

/**
 * @param {string} address
 * @param {RequestInit & { part?: string }} [how] `part`: id of what is wanted of the page
 */
export async function fetchPage(address, { part = 'page', ...init } = {}) {
  const headers = { accept: 'text/html', 'x-quoin-fragment': part }
  return fetch(address, { credentials: 'same-origin', headers, ...init })
}

/** @param {Response} reply */
export function isPage(reply) {
  const { headers } = reply
  return (headers.get('content-type') ?? '').startsWith('text/html') && !headers.get('content-disposition')
}

/** @param {string} html */
export function parse(html) {
  return new DOMParser().parseFromString(html, 'text/html')
}

/** Forms with something typed that the server has not taken. @type {WeakSet<HTMLFormElement>} */
export const changed = new WeakSet()

/** Path and query of the page that is shown, while the address may be ahead of it. */
let shown = place()
/** Entries of the history that differ in their tables alone have the same one. */
let pageId = history.state?.page ?? 0
/** Grows with every page that is shown or asked for, so that what comes late is not shown in place of it. */
let turn = 0

function place() {
  return location.pathname + location.search
}

/** Gives whether the visitor is on the same page still. */
export function stillHere() {
  const mine = turn
  return () => mine === turn
}

/**
 * Shows a page that has come. One with other styles or scripts is loaded as usual instead, but for what answers a form: it
 * would be lost. Gives false if the visitor stays for what is typed here.
 * @param {string} html
 * @param {string} address
 * @param {'push' | 'keep'} history
 * @param {boolean} [isRefused] whether the page says that a form was not taken
 */
export function showPage(html, address, history, isRefused) {
  const page = parse(html)
  const { pathname, search } = new URL(address)
  const isSame = pathname + search === shown
  const isPlain = isRefused || outfit(page) === outfit(document)
  const unsaved = [...document.forms].filter((form) => changed.has(form))
  // Forms that are on the new page too stay as they are.
  const carried = unsaved.filter((form) => isSame && isPlain && form.id && page.getElementById(form.id))
  // A sheet is about one thing: who signs in in another way has no use for a name that was typed.
  const lost = unsaved.filter((form) => !carried.includes(form) && !form.closest('.sheet'))
  if (lost[0] && !confirm(lost[0].dataset.unsaved)) return false
  for (const form of lost) changed.delete(form)
  turn += 1
  if (!isPlain) {
    if (address === location.href) location.reload()
    else location.assign(address)
    return true
  }
  if (history === 'push') pageId = Date.now()
  else if (!isSame) pageId = window.history.state?.page ?? 0
  setAddress(address, history)
  shown = place()
  document.title = page.title
  document.documentElement.lang = page.documentElement.lang
  document.documentElement.dir = page.documentElement.dir
  for (const link of page.querySelectorAll('link[rel=stylesheet]'))
    if (!outfit(document).includes(nameOf(link))) document.head.append(link)
  const { events } = page.body.dataset
  if (events === undefined) delete document.body.dataset.events
  else document.body.dataset.events = events
  const tabs = isSame ? [...document.querySelectorAll('[role=tab][aria-selected=true]')] : []
  document.body.replaceChildren(...page.body.childNodes)
  for (const form of carried) document.getElementById(form.id)?.replaceWith(form)
  arrived(document)
  document.dispatchEvent(new CustomEvent('quoin:page'))
  if (document.querySelector('[data-summary]')) return true
  for (const { id } of tabs) document.getElementById(id)?.click()
  // As after a usual load: reading starts at the content.
  document.getElementById('main')?.focus({ preventScroll: true })
  if (history === 'push') scrollTo(0, 0)
  return true
}

/** @param {Element} link */
function nameOf(link) {
  return link.getAttribute('href') ?? link.getAttribute('src') ?? ''
}

/** @param {Document} page */
function outfit(page) {
  return [...page.querySelectorAll('link[rel=stylesheet], script[src]')].map(nameOf).join(' ')
}

/**
 * Puts one part of a page that has come in place of the same part here. Opened filters, chosen rows and the focus stay. Gives
 * whether both pages have the part.
 * @param {string} html
 * @param {string} id
 * @param {string} [typed] the inputs whose values stay
 */
export function showPart(html, id, typed = '[type=search]:focus') {
  const fresh = parse(html).getElementById(id)
  const old = document.getElementById(id)
  if (!fresh || !old) return false
  /** @param {Element} one */
  const sameAs = (one) => /** @type {any} */ (fresh.querySelector(`#${CSS.escape(one.id)}`)) ?? {}
  const active = old.contains(document.activeElement) ? document.activeElement : null
  const scroll = old.querySelector('.table-scroll')?.scrollLeft ?? 0
  for (const open of old.querySelectorAll('details[open][id]')) sameAs(open).open = true
  for (const pick of old.querySelectorAll('.pick:checked')) sameAs(pick).checked = true
  for (const input of /** @type {NodeListOf<HTMLInputElement>} */ (old.querySelectorAll(typed)))
    Object.assign(sameAs(input), { value: input.value, checked: input.checked })
  // A form whose reply was lost is the same form when it is sent again: the server does once what it gets twice.
  const lost = old.querySelector('[data-lost]')
  const form = lost && fresh.querySelector('form.rows-form')
  if (lost) form?.setAttribute('data-lost', '')
  for (const input of lost?.querySelectorAll('input[type=hidden]') ?? [])
    form?.querySelector(`[name=${CSS.escape(input.getAttribute('name') ?? '')}]`)?.replaceWith(input)
  old.replaceWith(fresh)
  fresh.querySelector('.table-scroll')?.scrollTo({ left: scroll })
  if (active) moveFocus(active, fresh)
  arrived(fresh)
  return true
}

/**
 * To the same element, else to the rows, so that the keyboard stays in the part.
 * @param {Element} before
 * @param {HTMLElement} part
 */
function moveFocus(before, part) {
  const mark = markOf(before)
  const same = [...part.querySelectorAll(before.localName)].find((one) => markOf(one) === mark)
  const now = /** @type {HTMLElement | null} */ (same ?? part.querySelector('.table-scroll'))
  now?.focus({ preventScroll: true })
  if (now instanceof HTMLInputElement && before instanceof HTMLInputElement && now.type === 'search')
    now.setSelectionRange(before.selectionStart, before.selectionEnd)
}

/** @param {Element} one */
function markOf(one) {
  if (one.id || one.localName === 'summary') return one.id || one.parentElement?.id
  const names = ['name', 'value', 'popovertarget'].map((name) => one.getAttribute(name))
  // In rows, texts are there more than once.
  return [...names, one.closest('tbody') ? one.getAttribute('href') : one.textContent].join()
}

/**
 * @param {string} address
 * @param {'push' | 'replace' | 'keep'} history
 */
export function setAddress(address, history) {
  if (history !== 'keep' && address !== location.href)
    window.history[`${history}State`]({ page: pageId }, '', address)
  shown = place()
}

/** Going back and forward between addresses that were put there without loading. */
export function followHistory() {
  let newest = 0
  addEventListener('popstate', async () => {
    newest += 1
    // A jump within the page is none.
    if (place() === shown) return
    turn += 1
    const [mine, isHere] = [newest, stillHere()]
    const html = await fetchPage(location.href)
      .then((reply) => (isPage(reply) ? reply.text() : undefined))
      .catch(() => undefined)
    if (mine !== newest || !isHere()) return
    if (html === undefined) location.reload()
    else if ((history.state?.page ?? 0) === pageId) {
      shown = place()
      for (const { id } of document.querySelectorAll('[data-table]')) showPart(html, id, ':not(*)')
    } else if (!showPage(html, location.href, 'keep')) history.pushState({ page: pageId }, '', shown)
  })
}

/**
 * Has a sentence read out, and shows it for a while.
 * @param {string} [text] else: that a form could not be sent
 */
export function tell(text) {
  const notice = document.getElementById('notice')
  if (!notice) return
  notice.textContent = text ?? notice.dataset.failed ?? ''
  setTimeout(() => notice.replaceChildren(), 6000)
}
