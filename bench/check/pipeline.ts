/** A connection on which several requests go out in one packet, so that the server finds them in one turn of its loop. */
import { once } from 'node:events'
import { connect } from 'node:net'
import type { Ask } from '../requests.ts'
import { responseScanner } from '../response-scanner.ts'

export interface Pipeline {
  /** Sends them all at once. Resolves with the last reply; rejects at a status that was not expected. */
  send(...asks: readonly Ask[]): Promise<void>
  close(): void
}

const PATIENCE_MS = 20_000

export async function openPipeline(port: number): Promise<Pipeline> {
  const socket = connect({ host: '127.0.0.1', port, noDelay: true })
  await once(socket, 'connect')
  let expected: number[] = []
  let settle: { readonly resolve: () => void; readonly reject: (error: Error) => void } | undefined
  const scan = responseScanner((status) => {
    const requested = expected.shift()
    if (status !== requested) settle?.reject(new Error(`The status is ${status} and not ${requested}.`))
    else if (expected.length === 0) settle?.resolve()
  })
  socket.on('data', scan)
  socket.on('error', (error) => settle?.reject(error))
  socket.on('close', () => settle?.reject(new Error('The server closed the connection.')))
  socket.setTimeout(PATIENCE_MS, () => socket.destroy(new Error('No reply came within 20 seconds.')))
  return {
    send(...asks) {
      return new Promise((resolve, reject) => {
        settle = { resolve, reject }
        expected = asks.map((one) => one.expected)
        socket.write(Buffer.concat(asks.map(({ bytes }) => bytes)))
      })
    },
    close() {
      settle = undefined
      socket.destroy()
    },
  }
}
