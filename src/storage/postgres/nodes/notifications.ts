/**
 * What PostgreSQL says on some channels, on a connection of its own: LISTEN belongs to a connection, so this one goes past
 * a pooler. It may be lost at any time, and messages with it, so each listener also polls now and then.
 */
import { Client } from 'pg'

export interface Notifications {
  close(): Promise<void>
}

const RETRY_MS = 500

/** `heard` is called with each message and its channel, and with undefined once it listens again after it did not. Never fails. */
export function openNotifications(
  url: string,
  channels: readonly string[],
  heard: (channel: string | undefined, message?: string) => void,
): Notifications {
  let client: Client | undefined
  let timer: NodeJS.Timeout | undefined
  let closed = false
  let connecting: Promise<void> = Promise.resolve()

  function again(): void {
    client = undefined
    if (!closed) timer = setTimeout(connect, RETRY_MS)
  }

  function connect(): void {
    const next = new Client({ connectionString: url, connectionTimeoutMillis: 5_000, keepAlive: true })
    client = next
    let over = false
    const lost = () => {
      if (over) return
      over = true
      next.end().catch(() => undefined)
      again()
    }
    next.on('error', lost)
    next.on('end', lost)
    next.on('notification', ({ channel, payload }) => heard(channel, payload))
    connecting = (async () => {
      await next.connect()
      // The names are our own constants.
      for (const channel of channels) await next.query(`LISTEN ${channel}`)
      heard(undefined)
    })().catch(lost)
  }

  connect()
  return {
    async close() {
      closed = true
      clearTimeout(timer)
      const last = client
      await connecting
      await last?.end().catch(() => undefined)
    },
  }
}
