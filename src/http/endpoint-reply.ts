import type { Reply } from '../blocks/run-request.ts'
import type { RunEnd } from '../engine/run.ts'
import { StoredJson } from '../storage/stored-json.ts'
import type { EndpointExchange } from './endpoint-exchange.ts'

/** Values and characters in a reply that a flow put together. Stored documents are not counted: they are bounded as such. */
const MOST_VALUES = 1_000_000
const MOST_CHARACTERS = 64 * 1024 * 1024

/**
 * The text of a reply's body; undefined for a reply without one. Stored documents pass as the text they are. Throws for a
 * value that is too large: a flow of two maps can make one of 500 MB out of 50 KB, since its lists share their items, and
 * writing it would stop the process for seconds.
 */
export function replyText(reply: Reply): string | undefined {
  if (reply.code === 204 || reply.code === 304 || reply.value === undefined) return undefined
  if (reply.value instanceof StoredJson) return reply.value.text
  checkSize(reply.value)
  return JSON.stringify(reply.value)
}

function checkSize(whole: unknown): void {
  let values = 0
  let characters = 0
  const open: unknown[] = [whole]
  while (open.length > 0) {
    const value = open.pop()
    values += 1
    if (typeof value === 'string') characters += value.length
    else if (typeof value === 'object' && value !== null)
      for (const item of Object.values(value)) open.push(item)
    if (values + open.length > MOST_VALUES || characters > MOST_CHARACTERS) {
      throw new Error(`The reply holds more than ${MOST_VALUES} values or ${MOST_CHARACTERS} characters.`)
    }
  }
}

/** Sends what a flow replied. */
export function sendReply(exchange: EndpointExchange, reply: Reply): void {
  const text = replyText(reply)
  const { listening, scopes } = exchange.endpoint
  let { headers } = reply
  if (listening.cacheSeconds > 0 && reply.code === 200) {
    const open = scopes.length === 0 || scopes.includes('*public')
    headers = {
      'cache-control': `${open ? 'public' : 'private'}, max-age=${listening.cacheSeconds}`,
      ...headers,
    }
  }
  exchange.send({ status: reply.code, headers, text })
}

/** What a request gets whose flow ended without a reply: an error's reply, or 204. */
export function sendEnd(exchange: EndpointExchange, end: RunEnd): void {
  if (!end.error) {
    exchange.send({ status: 204, text: undefined })
  } else if (end.error.code === 'INTERNAL') {
    exchange.logFailure({ run: end.run, err: end.error.cause }, 'run failed')
    const text = JSON.stringify({ error: 'internal error', run: end.run })
    exchange.send({ status: 500, headers: { 'cache-control': 'no-store' }, text })
  } else {
    if (end.error.status >= 500) exchange.logFailure({ run: end.run, code: end.error.code }, 'run stopped')
    exchange.fail(end.error)
  }
}
