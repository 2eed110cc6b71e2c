import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Reply } from '../blocks/run-request.ts'
import type { CompiledEndpoint } from '../engine/frame.ts'
import type { RunEnd } from '../engine/run.ts'
import { StoredJson } from '../storage/stored-json.ts'
import { replyWithError } from './error-reply.ts'

/** The text of a reply's body; undefined for a reply without one. Stored documents pass as the text they are. */
export function replyText(reply: Reply): string | undefined {
  if (reply.code === 204 || reply.code === 304 || reply.value === undefined) return undefined
  return reply.value instanceof StoredJson ? reply.value.text : JSON.stringify(reply.value)
}

/** Sends what a flow replied. */
export function sendReply(response: FastifyReply, endpoint: CompiledEndpoint, reply: Reply): void {
  const text = replyText(reply)
  response.code(reply.code)
  const { cacheSeconds } = endpoint.listening
  if (cacheSeconds > 0 && reply.code === 200) {
    const open = endpoint.scopes.length === 0 || endpoint.scopes.includes('*public')
    response.header('cache-control', `${open ? 'public' : 'private'}, max-age=${cacheSeconds}`)
  }
  if (text !== undefined) response.header('content-type', 'application/json; charset=utf-8')
  for (const [name, value] of Object.entries(reply.headers)) response.header(name, value)
  response.send(text)
}

/** What a request gets whose flow ended without a reply: an error's reply, or 204. */
export function sendEnd(response: FastifyReply, request: FastifyRequest, end: RunEnd): void {
  if (!end.error) {
    response.code(204).send()
  } else if (end.error.code === 'INTERNAL') {
    request.log.error({ run: end.run, err: end.error.cause }, 'run failed')
    response.code(500).header('content-type', 'application/json; charset=utf-8')
    response
      .header('cache-control', 'no-store')
      .send(JSON.stringify({ error: 'internal error', run: end.run }))
  } else {
    replyWithError(end.error, request, response)
  }
}
