import { countedAddress } from '../../shared/counted-address.ts'
import { QuoinError } from '../../shared/errors.ts'

/** How many event streams may be open; 0: no limit. */
export interface StreamLimits {
  /** On this node. */
  readonly all: number
  readonly ofAddress: number
  readonly ofUser: number
}

export interface StreamPlaces {
  /** Takes a place; the function gives it back. UNAVAILABLE when the node has none left, else RATE_LIMITED. */
  take(ip: string, user: string | undefined): () => void
}

const RETRY_SECONDS = 30

export function streamPlaces(limits: StreamLimits): StreamPlaces {
  let open = 0
  const addresses = new Map<string, number>()
  const users = new Map<string, number>()

  return {
    take(ip, user) {
      const address = countedAddress(ip)
      if (isFull(open, limits.all))
        throw new QuoinError('UNAVAILABLE', 'Too many event streams are open on this node.', {
          retryAfter: RETRY_SECONDS,
        })
      if (isFull(addresses.get(address) ?? 0, limits.ofAddress)) throw tooMany('at one address')
      if (user !== undefined && isFull(users.get(user) ?? 0, limits.ofUser)) throw tooMany('by one user')
      open += 1
      add(addresses, address, 1)
      if (user !== undefined) add(users, user, 1)
      return () => {
        open -= 1
        add(addresses, address, -1)
        if (user !== undefined) add(users, user, -1)
      }
    },
  }
}

function isFull(open: number, most: number): boolean {
  return most > 0 && open >= most
}

function add(counts: Map<string, number>, key: string, change: number): void {
  const count = (counts.get(key) ?? 0) + change
  if (count === 0) counts.delete(key)
  else counts.set(key, count)
}

function tooMany(where: string): QuoinError {
  return new QuoinError('RATE_LIMITED', `Too many event streams are open ${where}.`, {
    retryAfter: RETRY_SECONDS,
  })
}
