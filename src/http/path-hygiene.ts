import type { onRequestHookHandler } from 'fastify'
import { QuoinError } from '../shared/errors.ts'

/**
 * U+0000 in a URL is never meant: no stored text can hold it, and other programs take it for the end. Paths that are no
 * UTF-8 at all are refused by the router.
 */
export const refuseZeroCharacter: onRequestHookHandler = (request, _reply, done) => {
  if (request.url.includes('%00'))
    done(new QuoinError('INVALID_QUERY', 'The URL holds the character U+0000 (%00).'))
  else done()
}
