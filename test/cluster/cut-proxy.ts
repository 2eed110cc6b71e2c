/**
 * A wire to a server that can be cut: what a node's network does when it fails.
 *
 * - whole: passes on everything.
 * - reset: connections are reset, new ones refused.
 * - hang: nothing arrives any more in either direction, no side is told, new connections are not accepted. What
 *   was sent meanwhile arrives when it is mended, however late: so does a network whose cable is put back.
 */
import { connect, createServer, type Server, type Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'

export type Cut = 'reset' | 'hang'

export interface CutProxy {
  readonly port: number
  cut(kind: Cut): Promise<void>
  mend(): Promise<void>
  close(): Promise<void>
}

interface Wire {
  readonly near: Socket
  /** Undefined until it is accepted. */
  far: Socket | undefined
}

export async function openCutProxy(target: number): Promise<CutProxy> {
  const wires = new Set<Wire>()
  let state: 'whole' | Cut = 'whole'

  const server = createServer({ pauseOnConnect: true }, (near) => {
    const wire: Wire = { near, far: undefined }
    wires.add(wire)
    near.on('error', () => drop(wire))
    near.on('close', () => part(wire))
    if (state === 'whole') join(wire)
  })

  function join(wire: Wire): void {
    const far = connect(target, '127.0.0.1')
    wire.far = far
    far.on('error', () => drop(wire))
    far.on('close', () => part(wire))
    pass(wire.near, far)
    pass(far, wire.near)
    wire.near.resume()
  }

  function pass(from: Socket, to: Socket): void {
    from.on('data', (bytes) => {
      if (to.write(bytes) || state === 'hang') return
      from.pause()
      to.once('drain', () => {
        if (state === 'whole') from.resume()
      })
    })
    from.on('end', () => to.end())
  }

  /** One end has said goodbye: the other still reads what was on its way. */
  function part(wire: Wire): void {
    const { near, far } = wire
    near.end()
    far?.end()
    if (near.destroyed && far?.destroyed !== false) wires.delete(wire)
  }

  function drop(wire: Wire): void {
    if (!wires.delete(wire)) return
    for (const end of [wire.near, wire.far]) {
      if (!end || end.destroyed) continue
      // A socket that is just saying goodbye cannot be reset, and would stay open.
      if (end.writableEnded) end.destroy()
      else end.resetAndDestroy()
    }
  }

  const port = await listen(server, 0)
  return {
    port,
    async cut(kind) {
      state = kind
      if (kind === 'hang') {
        for (const { near, far } of wires) {
          near.pause()
          far?.pause()
        }
        return
      }
      const closed = new Promise((resolve) => server.close(resolve))
      for (const wire of [...wires]) drop(wire)
      await closed
    },
    async mend() {
      const before = state
      state = 'whole'
      if (before === 'reset') await listenAgain(server, port)
      if (before !== 'hang') return
      for (const wire of wires) {
        if (!wire.far) join(wire)
        else for (const end of [wire.near, wire.far]) end.resume()
      }
    },
    async close() {
      for (const wire of [...wires]) drop(wire)
      if (server.listening) await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** On a port that an outgoing connection may have taken for a moment. */
async function listenAgain(server: Server, port: number): Promise<void> {
  for (let tries = 0; ; tries++) {
    try {
      await listen(server, port)
      return
    } catch (error) {
      if (tries === 100) throw error
      await wait(50)
    }
  }
}

function listen(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', () => {
      server.off('error', reject)
      const address = server.address()
      if (typeof address === 'object' && address) resolve(address.port)
      else reject(new Error('The proxy has no port.'))
    })
  })
}
