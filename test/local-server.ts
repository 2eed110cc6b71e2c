import { createServer, type RequestListener, type ServerResponse } from 'node:http'

/** An HTTP server on a free port of this machine, for tests that need another server. */
export interface LocalServer {
  /** Without a slash at the end. */
  readonly url: string
  readonly port: number
  close(): Promise<void>
}

export async function startLocalServer(listener: RequestListener): Promise<LocalServer> {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (typeof address !== 'object' || address === null) throw new Error('The server has no port.')
  const { port } = address
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

const PIECE = 'x'.repeat(65_536)

/** Sends a body until the client closes the connection. */
export function sendEndlessly(response: ServerResponse): void {
  const send = () => {
    while (!response.destroyed && response.write(PIECE));
    if (!response.destroyed) response.once('drain', send)
  }
  send()
}
