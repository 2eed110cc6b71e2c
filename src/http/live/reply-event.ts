import { ChannelReply, FileBody, type Reply } from '../../blocks/reply.ts'
import type { RunEnd } from '../../flows/run/run-start.ts'
import { QuoinError } from '../../shared/errors.ts'
import type { EndpointExchange } from '../endpoints/endpoint-exchange.ts'
import { replyText, sendEnd } from '../endpoints/endpoint-reply.ts'
import { entityTag } from '../replies/entity-tag.ts'
import { errorBytes, eventBytes } from './event-text.ts'
import type { LiveTools } from './live-tools.ts'

/** What a run gives those who follow it. */
export interface ReplyEvent {
  /** Of the bytes: a client that has it gets nothing. */
  readonly id: string
  readonly bytes: Buffer
  /** Whether a stream ends with it. */
  readonly isLast: boolean
  /** Sends the same to a client whose stream has not begun. Undefined for a reply that a stream can begin with. */
  readonly answer: ((exchange: EndpointExchange) => void) | undefined
}

/** Characters of a reply. */
const LONGEST = 1024 * 1024

/**
 * A reply with the status 200 is an event. Other replies of the flow, and ends with a status below 500, are events `error`
 * that leave the stream open: what is not found may come back. Every other end is the last event.
 */
export function replyEvent(end: RunEnd, reply: Reply | undefined, { sendReply }: LiveTools): ReplyEvent {
  if (end.error || !reply) return endEvent(end)
  if (reply.value instanceof FileBody || reply.value instanceof ChannelReply)
    return refusedEvent('A file cannot be sent as events.')
  const text = replyText(reply) ?? 'null'
  if (text.length > LONGEST)
    return refusedEvent(`The reply has more than ${LONGEST} characters, the most that is sent as an event.`)
  const { code } = reply
  const id = entityTag(`${code} ${text}`).slice(1, -1)
  if (code === 200) return { id, bytes: eventBytes({ id, data: text }), isLast: false, answer: undefined }
  const bytes = eventBytes({ event: 'error', data: `{"status":${code},"reply":${jsonOf(text, reply)}}` })
  return { id, bytes, isLast: false, answer: (exchange) => sendReply(exchange, reply) }
}

function endEvent(end: RunEnd): ReplyEvent {
  const { status, code, message } = end.error ?? { status: 204, code: '', message: 'the flow did not reply' }
  const body = code === 'INTERNAL' ? { error: 'internal error', run: end.run } : { error: message }
  const bytes = errorBytes(status, body)
  const isLast = status >= 500 || !end.error
  return { id: `${status} ${message}`, bytes, isLast, answer: (exchange) => sendEnd(exchange, end) }
}

function refusedEvent(message: string): ReplyEvent {
  const error = new QuoinError('NOT_ACCEPTABLE', message)
  const bytes = errorBytes(error.status, { error: message })
  return { id: message, bytes, isLast: true, answer: (exchange) => exchange.fail(error) }
}

/** Text that is not JSON goes as a JSON string. */
function jsonOf(text: string, { headers }: Reply): string {
  const type = headers['content-type']
  return type === undefined || type.startsWith('application/json') ? text : JSON.stringify(text)
}
