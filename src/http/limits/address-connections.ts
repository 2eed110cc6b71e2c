import type { Socket } from 'node:net'
import type { Clock } from '../../shared/clock.ts'
import { countedAddress } from '../../shared/counted-address.ts'

/** Milliseconds between two lines about connections that were closed: a flood must not become one of the log. */
const LOG_PAUSE = 10_000

export interface AddressConnectionsOptions {
  /** Connections of one address, at present; 0: no limit. */
  readonly most: () => number
  /** Whose connections are not counted. */
  readonly isMany: (address: string) => boolean
  readonly clock: Clock
  readonly warn: (details: { readonly address: string; readonly closed: number }) => void
}

/** Closes connections of an address that has too many at once. For a server's event `connection`. */
export function addressConnections(options: AddressConnectionsOptions): (socket: Socket) => void {
  const { isMany, clock, warn } = options
  const open = new Map<string, number>()
  let closed = 0
  let logged = Number.NEGATIVE_INFINITY

  function refuse(socket: Socket, address: string): void {
    socket.destroy()
    closed += 1
    if (clock() - logged < LOG_PAUSE) return
    logged = clock()
    warn({ address, closed })
    closed = 0
  }

  return (socket) => {
    const { remoteAddress } = socket
    const most = options.most()
    if (most === 0 || remoteAddress === undefined || isMany(remoteAddress)) return
    const address = countedAddress(remoteAddress)
    const count = (open.get(address) ?? 0) + 1
    if (count > most) return refuse(socket, address)
    open.set(address, count)
    socket.once('close', () => {
      const left = (open.get(address) ?? 1) - 1
      if (left === 0) open.delete(address)
      else open.set(address, left)
    })
  }
}
