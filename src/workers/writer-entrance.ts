/**
 * Where the writer takes requests from the processes that read: a Unix socket in the data directory, which only its owner
 * can open. They are served as if they had come directly, with the client's address, and for as long as there are readers,
 * also when the port is already closed: a request that a reader has accepted is finished.
 */
import { chmod, rm } from 'node:fs/promises'
import type { IncomingMessage, Server } from 'node:http'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import { MAX_HEADER_BYTES } from '../http/limits/connection-limits.ts'
import { SENDER_HEADER } from './forwarded-headers.ts'

export interface Entrance {
  readonly path: string
  close(): Promise<void>
}

/** Longer paths of sockets cannot be opened; it is 104 bytes on some systems. */
const LONGEST_PATH = 103

// Not imported: see `http/limits/connection-errors.ts`.
const http = process.getBuiltinModule('node:http')

/** How often slow senders are looked for. */
const CHECK_MS = 1_000
/** For the reader to take a reply and close; it takes milliseconds. */
const LINGER_MS = 2_000
/** What a reader adds to the headers. */
const SENDER_BYTES = 256

/**
 * No other process uses the directory: a socket there is left from a process that was killed. Throws for a path too long.
 * `watch` is told of each connection.
 */
export async function openEntrance(
  directory: string,
  server: Server,
  watch: (socket: Socket) => void,
): Promise<Entrance> {
  // Beside the lock, and like it no data.
  const path = join(directory, 'quoin.lock.entrance')
  if (Buffer.byteLength(path) > LONGEST_PATH)
    throw new Error(
      `The path ${path} is too long for a socket, which QUOIN_WORKERS needs: set QUOIN_DATA to a shorter one.`,
    )
  await rm(path, { force: true })
  const { headersTimeout, requestTimeout } = server
  const limits = {
    headersTimeout,
    requestTimeout,
    connectionsCheckingInterval: CHECK_MS,
    keepAliveTimeout: 0,
  }
  const entrance = http.createServer({ ...limits, maxHeaderSize: MAX_HEADER_BYTES + SENDER_BYTES })
  entrance.on('request', (request, response) => {
    takeSender(request)
    server.emit('request', request, response)
  })
  entrance.on('connection', closeBehindReader)
  entrance.on('connection', watch)
  entrance.on('clientError', (error, socket) => server.emit('clientError', error, socket))
  await new Promise<void>((resolve, reject) => {
    entrance.once('error', reject)
    entrance.listen(path, resolve)
  })
  await chmod(path, 0o600)
  return {
    path,
    async close() {
      const closed = new Promise((resolve) => entrance.close(resolve))
      entrance.closeAllConnections()
      await closed
    },
  }
}

/**
 * A connection that ends with its reply is closed by the reader, which has the reply then. Closed here, the reader might be
 * sending a body still: that fails before it looks at what has come, and a client would get 503 in place of 413.
 */
function closeBehindReader(socket: Socket): void {
  socket.destroySoon = () => {
    socket.end()
    const late = setTimeout(() => socket.destroy(), LINGER_MS)
    socket.once('close', () => clearTimeout(late))
  }
}

/** One request at a time is on a connection, so the connection can have the address of the request's sender. */
function takeSender(request: IncomingMessage): void {
  const sender = request.headers[SENDER_HEADER]
  delete request.headers[SENDER_HEADER]
  Object.defineProperty(request.socket, 'remoteAddress', { value: sender, configurable: true })
}
