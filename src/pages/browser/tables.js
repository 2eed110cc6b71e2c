/** Sorting, searching and paging replace the table only; the address follows, so that the view can be linked. */
import { fetchPage, isPage, setAddress, showPart, stillHere } from './swap.js'

/** The newest request of each table: what comes back late is not shown. @type {Map<string, AbortController>} */
const running = new Map()
/** Those that no visitor asked for. @type {WeakSet<AbortController>} */
const behind = new WeakSet()

export function followTables() {
  document.addEventListener('click', (event) => {
    const link = event.target instanceof Element ? event.target.closest('a[data-part]') : null
    const usual = event.ctrlKey || event.metaKey || event.shiftKey || event.altKey || event.button !== 0
    if (!(link instanceof HTMLAnchorElement) || usual) return
    event.preventDefault()
    void load(link, link.href, 'push')
  })
  document.addEventListener('submit', (event) => {
    const form = event.target
    if (!(form instanceof HTMLFormElement) || !form.matches('[data-part]')) return
    event.preventDefault()
    ask(form, 'push')
  })
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let pause
  document.addEventListener('input', (event) => {
    const box = event.target
    if (!(box instanceof HTMLInputElement) || !box.matches('[data-typed]')) return
    clearTimeout(pause)
    pause = setTimeout(() => box.form && ask(box.form, 'replace'), 250)
  })
  document.addEventListener('change', (event) => {
    const box = event.target
    if (!(box instanceof HTMLInputElement) || !box.matches('.pick')) return
    const table = box.closest('[data-table]')
    if (box.matches('[data-all]')) for (const pick of picksOf(table)) pick.checked = box.checked
    countPicks(table)
  })
  // A click beside opened filters closes them.
  document.addEventListener('click', (event) => {
    for (const drop of document.querySelectorAll('details.drop[open]'))
      if (event.target instanceof Node && !drop.contains(event.target)) drop.removeAttribute('open')
  })
  document.addEventListener('keydown', (event) => {
    const drop =
      event.key === 'Escape' && event.target instanceof Element && event.target.closest('details.drop[open]')
    if (!drop) return
    drop.removeAttribute('open')
    drop.querySelector('summary')?.focus()
  })
}

/**
 * @param {HTMLFormElement} form
 * @param {'push' | 'replace'} history
 */
function ask(form, history) {
  const filled = [...new FormData(form)].filter(([, value]) => value !== '')
  const address = new URL(form.action)
  // What is empty is left out of the address, so that a view has one.
  address.search = new URLSearchParams(/** @type {[string, string][]} */ (filled)).toString()
  void load(form, address.href, history)
}

/**
 * @param {Element} from
 * @param {string} address
 * @param {'push' | 'replace'} history
 */
async function load(from, address, history) {
  const table = from.closest('[data-table]')
  if (!table) return location.assign(address)
  const shown = await refreshTable(table, address)
  if (shown === undefined) return undefined
  if (!shown) return location.assign(address)
  setAddress(address, history)
  if (from.closest('.pages')) document.getElementById(table.id)?.scrollIntoView({ block: 'nearest' })
  return undefined
}

/**
 * Shows the table as it is at this address. Gives false if it is not there, undefined if something overtook it.
 * @param {Element} table
 * @param {string} address
 * @param {boolean} [isBehind] whether no visitor asked: what the visitor is about is left alone
 * @returns {Promise<boolean | undefined>}
 */
export async function refreshTable({ id }, address, isBehind) {
  const before = running.get(id)
  if (isBehind && (isInUse(id) || (before && !behind.has(before)))) return undefined
  before?.abort()
  const controller = new AbortController()
  running.set(id, controller)
  if (isBehind) behind.add(controller)
  else document.getElementById(id)?.setAttribute('aria-busy', 'true')
  const isHere = stillHere()
  try {
    const reply = await fetchPage(address, { part: id, signal: controller.signal })
    const html = await reply.text()
    if (!isHere() || controller.signal.aborted) return undefined
    if (isBehind && (isInUse(id) || address !== location.href)) return undefined
    if (!isPage(reply)) return false
    const shown = isBehind ? reply.ok && showPart(html, id, '.table-tools [id]') : showPart(html, id)
    countPicks(document.getElementById(id))
    return shown
  } catch {
    return controller.signal.aborted || !isHere() ? undefined : false
  } finally {
    if (running.get(id) === controller) running.delete(id)
  }
}

/**
 * Whether a question or filters are open in the table, or its form is under way.
 * @param {string} id
 */
function isInUse(id) {
  return document.getElementById(id)?.querySelector(':popover-open, details.drop[open], form[aria-busy=true]')
}

/** @param {Element | null} table */
function picksOf(table) {
  return /** @type {HTMLInputElement[]} */ ([...(table?.querySelectorAll('tbody .pick') ?? [])])
}

/** @param {Element | null} table */
function countPicks(table) {
  const bar = table?.querySelector('.bulk')
  if (!table || !bar) return
  const picks = picksOf(table)
  const count = picks.filter((pick) => pick.checked).length
  bar.classList.toggle('some', count > 0)
  const all = table.querySelector('[data-all]')
  if (all instanceof HTMLInputElement) {
    all.checked = count > 0 && count === picks.length
    all.indeterminate = count > 0 && count < picks.length
  }
  const words = bar.querySelector('[data-selected]')
  if (words instanceof HTMLElement && count > 0)
    words.textContent =
      count === 1 ? (words.dataset.one ?? '') : (words.dataset.other ?? '').replace('{count}', String(count))
}
