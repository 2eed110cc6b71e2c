import { isUtf8 } from 'node:buffer'
import type { onRequestHookHandler } from 'fastify'
import { QuoinError } from '../../shared/errors.ts'

/** What is encoded and no ASCII: a text in UTF-8, whole by itself. */
const ENCODED = /(?:%[89a-f][0-9a-f])+/gi

/**
 * Why no request may have this URL, as a sentence. U+0000 is never meant: no stored text can hold it, and other programs take it for the end. What
 * is no UTF-8 in the query would become U+FFFD, another text than was sent. Paths that are none are refused by the router.
 */
export function urlProblem(url: string): string | undefined {
  if (!url.includes('%')) return undefined
  if (url.includes('%00')) return 'The URL contains the character U+0000 (%00).'
  const query = url.indexOf('?')
  if (query < 0) return undefined
  const wrong = url
    .slice(query)
    .match(ENCODED)
    ?.find((one) => !isUtf8(Buffer.from(one.replaceAll('%', ''), 'hex')))
  if (wrong === undefined) return undefined
  return `The query contains ${wrong.slice(0, 12)}, which is not UTF-8. Encode the text in UTF-8: é is %C3%A9.`
}

export const refuseWrongUrl: onRequestHookHandler = (request, _reply, done) => {
  const problem = urlProblem(request.url)
  if (problem === undefined) done()
  else done(new QuoinError('INVALID_QUERY', problem))
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
