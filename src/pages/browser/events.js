/** The server says which table of the page has changed; it is fetched again, at most once a second. */
import { refreshTable } from './tables.js'

/** Milliseconds. */
const SHORT = 1_000
const LONG = 120_000

export function followEvents() {
  /** @type {EventSource | undefined} */
  let source
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let again
  let pause = SHORT
  /** @type {Map<string, ReturnType<typeof setTimeout>>} */
  const waiting = new Map()

  /** @param {MessageEvent<string>} event */
  function changed({ data }) {
    const { table } = JSON.parse(data)
    if (typeof table === 'string') later(table, SHORT)
  }

  /**
   * @param {string} table
   * @param {number} most
   */
  function later(table, most) {
    if (waiting.has(table)) return
    waiting.set(
      table,
      setTimeout(() => refresh(table, most), most * (0.3 + Math.random() * 0.7)),
    )
  }

  /**
   * @param {string} id
   * @param {number} last
   */
  async function refresh(id, last) {
    waiting.delete(id)
    const table = document.getElementById(id)
    const isShown = table && (await refreshTable(table, location.href, true))
    // What the visitor is about in the table comes first.
    if (isShown === undefined) later(id, SHORT)
    if (isShown === false) later(id, Math.min(last * 2, LONG))
  }

  function connect() {
    clearTimeout(again)
    again = undefined
    source?.close()
    source = undefined
    const { events } = document.body.dataset
    if (events === undefined) return
    const mine = new EventSource(events)
    source = mine
    mine.addEventListener('changed', changed)
    mine.addEventListener('open', () => {
      pause = SHORT
    })
    // A lost connection comes again by itself, one that was refused does not.
    mine.addEventListener('error', () => {
      if (mine === source && mine.readyState === EventSource.CLOSED) retry(events)
    })
  }

  /** @param {string} events */
  function retry(events) {
    clearTimeout(again)
    again = setTimeout(() => ask(events), pause * (0.3 + Math.random() * 0.7))
    pause = Math.min(pause * 2, LONG)
  }

  /**
   * An event source does not say whether it was refused for a while or for ever.
   * @param {string} events
   */
  async function ask(events) {
    const mine = again
    const controller = new AbortController()
    const { status } = await fetch(events, { redirect: 'manual', signal: controller.signal }).catch(() => ({
      status: 503,
    }))
    controller.abort()
    if (mine !== again) return
    if (status === 200) connect()
    // Nothing on it changes any more, or its visitor is signed out.
    else if (status !== 204 && status !== 0) retry(events)
  }

  document.addEventListener('quoin:page', connect)
  // A hidden page needs no news; when it is seen again, all of it is.
  document.addEventListener('visibilitychange', () => {
    if (document.hidden) {
      source?.close()
      clearTimeout(again)
      again = undefined
      return
    }
    for (const { id } of document.querySelectorAll('[data-live]')) void refresh(id, SHORT)
    connect()
  })
  connect()
}
