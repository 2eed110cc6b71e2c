/** The server says which table of the page has changed; it is fetched again, at most once a second. */
import { refreshTable } from './tables.js'

export function followEvents() {
  /** @type {EventSource | undefined} */
  let source
  /** @type {Map<string, ReturnType<typeof setTimeout>>} */
  const waiting = new Map()

  /** @param {MessageEvent<string>} event */
  function changed({ data }) {
    const { table } = JSON.parse(data)
    if (typeof table !== 'string' || waiting.has(table)) return
    waiting.set(
      table,
      setTimeout(() => refresh(table), 300 + Math.random() * 700),
    )
  }

  /** @param {string} table */
  function refresh(table) {
    waiting.delete(table)
    const shown = document.getElementById(table)
    // A question that is open, or a form half filled in, is not taken away.
    if (!shown || shown.querySelector(':popover-open')) return
    void refreshTable(table, location.href)
  }

  function connect() {
    source?.close()
    source = undefined
    const { events } = document.body.dataset
    if (events === undefined) return
    source = new EventSource(events)
    source.addEventListener('changed', changed)
  }

  document.addEventListener('quoin:page', connect)
  // A hidden page needs no news; when it is seen again, all of it is.
  document.addEventListener('visibilitychange', () => {
    if (document.hidden) {
      source?.close()
      return
    }
    for (const { id } of document.querySelectorAll('[data-live]')) refresh(id)
    connect()
  })
  connect()
}
