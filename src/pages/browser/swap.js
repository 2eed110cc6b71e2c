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
function parse(html) {
  return new DOMParser().parseFromString(html, 'text/html')
}

/**
 * Shows a page that has come. One with other styles or scripts is loaded as usual instead.
 * @param {string} html
 * @param {string} address
 * @param {'push' | 'replace' | 'keep'} history
 */
export function showPage(html, address, history) {
  const page = parse(html)
  if (outfit(page) !== outfit(document)) return location.assign(address)
  setAddress(address, history)
  document.title = page.title
  document.documentElement.lang = page.documentElement.lang
  document.documentElement.dir = page.documentElement.dir
  const { events } = page.body.dataset
  if (events === undefined) delete document.body.dataset.events
  else document.body.dataset.events = events
  document.body.replaceChildren(...page.body.childNodes)
  arrived(document)
  document.dispatchEvent(new CustomEvent('quoin:page'))
  const summary = document.querySelector('[data-summary]')
  if (summary instanceof HTMLElement) summary.focus()
  else {
    // As after a usual load: reading starts at the content.
    document.getElementById('main')?.focus({ preventScroll: true })
    if (history === 'push') scrollTo(0, 0)
  }
  return undefined
}

/** @param {Document} page */
function outfit(page) {
  const links = page.querySelectorAll('link[rel=stylesheet], script[src]')
  return [...links].map((link) => link.getAttribute('href') ?? link.getAttribute('src')).join(' ')
}

/**
 * Puts one part of a page that has come in place of the same part here. What is typed meanwhile stays, and so does the
 * focus. Gives whether both pages have the part.
 * @param {string} html
 * @param {string} id
 */
export function showPart(html, id) {
  const fresh = parse(html).getElementById(id)
  const old = document.getElementById(id)
  if (!fresh || !old) return false
  const active = old.contains(document.activeElement) ? document.activeElement : null
  const scroll = old.querySelector('.table-scroll')?.scrollLeft ?? 0
  // Opened filters stay open, chosen rows stay chosen.
  for (const open of old.querySelectorAll('details[open][id], input.pick:checked')) {
    const same = fresh.querySelector(`#${CSS.escape(open.id)}`)
    if (same instanceof HTMLDetailsElement) same.open = true
    if (same instanceof HTMLInputElement) same.checked = true
  }
  old.replaceWith(fresh)
  fresh.querySelector('.table-scroll')?.scrollTo({ left: scroll })
  if (active?.id) keepFocus(active, document.getElementById(active.id))
  arrived(fresh)
  return true
}

/**
 * @param {Element} before
 * @param {HTMLElement | null} now
 */
function keepFocus(before, now) {
  if (now instanceof HTMLInputElement && before instanceof HTMLInputElement && now.type === 'search') {
    now.value = before.value
    now.focus({ preventScroll: true })
    now.setSelectionRange(before.selectionStart, before.selectionEnd)
  } else now?.focus({ preventScroll: true })
}

/**
 * @param {string} address
 * @param {'push' | 'replace' | 'keep'} history
 */
export function setAddress(address, history) {
  if (history === 'keep' || address === location.href) return
  if (history === 'push') window.history.pushState({ quoin: true }, '', address)
  else window.history.replaceState({ quoin: true }, '', address)
}

/** Going back and forward between addresses that were put there without loading. */
export function followHistory() {
  addEventListener('popstate', async () => {
    // A jump within the page is none.
    if (location.hash && !history.state) return
    const reply = await fetchPage(location.href).catch(() => undefined)
    if (reply && isPage(reply)) showPage(await reply.text(), location.href, 'keep')
    else location.reload()
  })
}

/**
 * Has a sentence read out, and shows it for a while.
 * @param {string} text
 */
export function tell(text) {
  const notice = document.getElementById('notice')
  if (!notice) return
  notice.textContent = text
  setTimeout(() => notice.replaceChildren(), 6000)
}
