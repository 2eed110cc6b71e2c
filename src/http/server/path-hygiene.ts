import type { onRequestHookHandler } from 'fastify'
import { QuoinError } from '../../shared/errors.ts'

/**
 * U+0000 in a URL is never meant: no stored text can hold it, and other programs take it for the end. Paths that are no
 * UTF-8 at all are refused by the router.
 */
export const refuseZeroCharacter: onRequestHookHandler = (request, _reply, done) => {
  if (request.url.includes('%00'))
    done(new QuoinError('INVALID_QUERY', 'The URL contains the character U+0000 (%00).'))
  else done()
}

/** RFC 9112, 3.2: which of two hosts is meant would be decided otherwise by a proxy than here. */
export const refuseTwoHosts: onRequestHookHandler = ({ raw }, _reply, done) => {
  if (hasTwoHosts(raw.rawHeaders))
    done(new QuoinError('INVALID_QUERY', 'The request has two Host headers; send one.'))
  else done()
}

/** Names and values in turns. Node keeps the first of several and says nothing. 30 ns for ten headers. */
export function hasTwoHosts(rawHeaders: readonly string[]): boolean {
  let hosts = 0
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]
    if (name?.length === 4 && name.toLowerCase() === 'host') hosts += 1
  }
  return hosts > 1
}
