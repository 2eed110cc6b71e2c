/** Reads an event stream as a browser does. */
export interface ReadEvent {
  readonly id?: string
  readonly event?: string
  readonly data: string
}

export interface EventReader {
  readonly status: number
  readonly headers: Headers
  /** The body of a reply that is no stream. */
  text(): Promise<string>
  /** The next event, or undefined at the end. Comments and `retry` are passed over. */
  next(): Promise<ReadEvent | undefined>
  /** The data of the next event, parsed. Throws at the end. */
  data(): Promise<unknown>
  close(): void
}

export async function readEvents(
  address: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<EventReader> {
  const abort = new AbortController()
  const reply = await fetch(address, {
    headers: { accept: 'text/event-stream', ...headers },
    signal: abort.signal,
  })
  let buffer = ''
  const decoder = new TextDecoder()
  const chunks = reply.body?.getReader()

  async function next(): Promise<ReadEvent | undefined> {
    for (;;) {
      const at = buffer.indexOf('\n\n')
      if (at >= 0) {
        const event = parsed(buffer.slice(0, at))
        buffer = buffer.slice(at + 2)
        if (event) return event
        continue
      }
      const read = await chunks?.read().catch(() => undefined)
      if (!read || read.done) return undefined
      buffer += decoder.decode(read.value, { stream: true })
    }
  }

  return {
    status: reply.status,
    headers: reply.headers,
    next,
    async text() {
      while (await next());
      return buffer
    },
    async data() {
      const event = await next()
      if (!event) throw new Error(`The stream ended: ${reply.status} ${buffer}`)
      return JSON.parse(event.data)
    },
    close: () => abort.abort(),
  }
}

function parsed(block: string): ReadEvent | undefined {
  const event: { id?: string; event?: string } = {}
  const data: string[] = []
  for (const line of block.split('\n')) {
    const at = line.indexOf(':')
    const name = line.slice(0, at)
    const value = line.slice(at + 1).replace(/^ /, '')
    if (name === 'id' || name === 'event') event[name] = value
    else if (name === 'data') data.push(value)
  }
  return data.length === 0 ? undefined : { ...event, data: data.join('\n') }
}
