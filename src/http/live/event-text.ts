/** Server-sent events as bytes (WHATWG HTML, 9.2). */

export interface StreamEvent {
  /** Sent back by the browser when it connects again. One line. */
  readonly id?: string | undefined
  /** `message` if not given. One line. */
  readonly event?: string | undefined
  readonly data: string
}

const LINES = /\r\n|\r|\n/

export function eventBytes({ id, event, data }: StreamEvent): Buffer {
  const head = `${id === undefined ? '' : `id: ${id}\n`}${event === undefined ? '' : `event: ${event}\n`}`
  return Buffer.from(`${head}data: ${data.split(LINES).join('\ndata: ')}\n\n`)
}

export function errorBytes(status: number, body: object): Buffer {
  return eventBytes({ event: 'error', data: JSON.stringify({ status, ...body }) })
}

/** Milliseconds after which a browser connects again. */
export function retryBytes(milliseconds: number): Buffer {
  return Buffer.from(`retry: ${milliseconds}\n\n`)
}

/** A comment: proxies end connections that are silent for a minute. */
export const heartbeat = Buffer.from(': still here\n\n')
