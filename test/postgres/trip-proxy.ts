/**
 * A wire to a PostgreSQL that counts round trips: each time its clients say something after the server has said something, or
 * first. What they say without waiting for an answer in between is one trip, however many statements it is. It can also break
 * where it matters most, such as around a COMMIT.
 */
import { connect, createServer, type Socket } from 'node:net'

export interface TripProxy {
  readonly port: number
  /** Of all connections together, those of opening them included. */
  readonly trips: number
  /**
   * The next connection that sends this text is lost: before that reaches the server, or before its answer comes back, or behind the
   * answer, where an administrator ends the connection before the server is ready for the next question.
   */
  breakAt(when: BreaksAt, text: string): void
  /** What the server says from now on, and that it has gone, is heard when its client has said something more. */
  keepFarewells(): void
  /** What the server says to the next connection, its greeting included, is heard in one piece when it has ended it. */
  keepGreeting(): void
  close(): Promise<void>
}

type BreaksAt = 'before' | 'behind' | 'farewell'

/** The end of an answer: the server is ready for the next question. */
const READY_BYTES = 6

/** What PostgreSQL says to a connection that an administrator ends. */
function farewell(): Buffer {
  const fields = 'SFATAL\0VFATAL\0C57P01\0Mterminating connection due to administrator command\0\0'
  const head = Buffer.from('E\0\0\0\0')
  head.writeInt32BE(fields.length + 4, 1)
  return Buffer.concat([head, Buffer.from(fields)])
}

export async function openTripProxy(target: number): Promise<TripProxy> {
  const ends = new Set<Socket>()
  let trips = 0
  let keeps = false
  let keepsNext = false
  let fault: { readonly when: BreaksAt; readonly text: string } | undefined

  const server = createServer((near) => {
    const far = connect(target, '127.0.0.1')
    let waits = false
    let breaks: BreaksAt | undefined
    const greeting: Uint8Array[] | undefined = keepsNext ? [] : undefined
    keepsNext = false
    const kept: Uint8Array[] = []
    for (const end of [near, far]) {
      end.setNoDelay(true)
      ends.add(end)
      end.on('error', () => undefined)
      end.on('close', () => {
        ends.delete(end)
        if (end === far && kept.length > 0) return
        if (end === far && greeting) return void near.end(Buffer.concat(greeting))
        near.destroy()
        far.destroy()
      })
    }
    near.on('data', (bytes) => {
      if (kept.length > 0) {
        keeps = false
        near.end(Buffer.concat(kept.splice(0)))
        return
      }
      if (!waits) trips += 1
      waits = true
      if (fault !== undefined && bytes.includes(fault.text)) {
        breaks = fault.when
        if (fault.when === 'before') near.destroy()
        else far.write(bytes)
        fault = undefined
        return
      }
      far.write(bytes)
    })
    far.on('data', (bytes) => {
      waits = false
      if (breaks === 'farewell')
        near.end(Buffer.concat([Buffer.from(bytes).subarray(0, -READY_BYTES), farewell()]))
      else if (breaks) near.destroy()
      else if (greeting) greeting.push(Buffer.from(bytes))
      else if (keeps) kept.push(Buffer.from(bytes))
      else near.write(bytes)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (typeof address !== 'object' || address === null) throw new Error('The proxy has no port.')
  return {
    port: address.port,
    get trips() {
      return trips
    },
    breakAt(when, text) {
      fault = { when, text }
    },
    keepFarewells() {
      keeps = true
    },
    keepGreeting() {
      keepsNext = true
    },
    async close() {
      for (const end of ends) end.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
