/**
 * Who may come in, in a process that only reads: it looks tokens up itself. What that would write, the writer is asked to:
 * that a token was used, once an hour for each, and the log of requests, which may lose what was not sent yet when this
 * process is killed.
 */
import type { Access } from '../access/access.ts'
import type { LoggedRequest } from '../access/user-log.ts'
import { isPromise } from '../shared/maybe-promise.ts'
import type { FromReader } from './worker-messages.ts'

export interface ReadingAccess {
  readonly access: Access
  /** Sends what was logged. */
  flush(): void
}

/** Milliseconds from a request to the message that tells of it, and between two that a token was used. */
const PAUSE = 200
const MOST = 5_000

/** `refusals`: how many writes this process has refused so far. */
export function readingAccess(
  access: Access,
  refusals: () => number,
  send: (message: FromReader) => void,
): ReadingAccess {
  let requests: LoggedRequest[] = []
  const used = new Set<string>()
  let timer: NodeJS.Timeout | undefined

  function flush(): void {
    clearTimeout(timer)
    timer = undefined
    used.clear()
    if (requests.length > 0) send({ kind: 'requests', requests })
    requests = []
  }

  function note(token: string): void {
    if (used.has(token)) return
    used.add(token)
    timer ??= setTimeout(flush, PAUSE).unref()
    send({ kind: 'used', token })
  }

  return {
    flush,
    access: {
      ...access,
      identify(token) {
        const before = refusals()
        const found = access.identify(token)
        if (!isPromise(found)) return found
        return found.then((identity) => {
          // Its lookup was to write that it was used, or another one's meanwhile: asked too often, the writer does nothing.
          if (identity !== undefined && refusals() !== before) note(token)
          return identity
        })
      },
      logRequest({ user: { guid, username }, ...request }) {
        if (requests.length >= MOST) return
        requests.push({ ...request, user: { guid, username } })
        timer ??= setTimeout(flush, PAUSE).unref()
      },
    },
  }
}
