/** A server that speaks the OpenAI-compatible API, and answers with what a test wants next: right, wrong, late or in pieces. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { text as readText } from 'node:stream/consumers'
import type { JsonObject } from '../src/shared/json.ts'
import { type LocalServer, startLocalServer } from './local-server.ts'

type Answer = (response: ServerResponse, body: JsonObject, request: IncomingMessage) => void

export interface ModelTestServer extends LocalServer {
  /** Bodies of the requests since `answers` was called. */
  readonly seen: JsonObject[]
  /** One for each request; the last one answers all further ones. */
  answers(...answers: readonly Answer[]): void
}

export async function startModelServer(): Promise<ModelTestServer> {
  const seen: JsonObject[] = []
  let next: Answer[] = []
  const server = await startLocalServer(async (request, response) => {
    const body = JSON.parse(await readText(request))
    seen.push(body)
    const answer = next.length > 1 ? next.shift() : next[0]
    answer?.(response, body, request)
  })
  return {
    ...server,
    seen,
    answers(...answers) {
      seen.length = 0
      next = [...answers]
    },
  }
}

export function json(value: unknown, status = 200, headers: Record<string, string> = {}): Answer {
  return (response) =>
    void response
      .writeHead(status, { 'content-type': 'application/json', ...headers })
      .end(typeof value === 'string' ? value : JSON.stringify(value))
}

const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 }

export function says(content: string, more: JsonObject = {}): Answer {
  return json({
    choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
    ...{ usage, ...more },
  })
}

/** Names of tools with the JSON of their arguments. */
export function calls(...tools: readonly (readonly [string, string])[]): Answer {
  const asked = tools.map(([name, input], at) => ({
    ...{ id: `id_${at}`, type: 'function' },
    function: { name, arguments: input },
  }))
  const message = { role: 'assistant', content: null, tool_calls: asked }
  return json({ choices: [{ index: 0, message, finish_reason: 'tool_calls' }], usage })
}

/** Events, cut into pieces of so many bytes. */
export function streams(events: readonly (JsonObject | string)[], bytes = 7, pause = 0): Answer {
  return async (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const all = events.map((one) => `data: ${typeof one === 'string' ? one : JSON.stringify(one)}\n\n`)
    const whole = Buffer.from(all.join(''))
    for (let at = 0; at < whole.length && !response.destroyed; at += bytes) {
      response.write(whole.subarray(at, at + bytes))
      await new Promise((resolve) => setTimeout(resolve, pause))
    }
    response.end()
  }
}

export const piece = (delta: JsonObject, finish: string | null = null): JsonObject => ({
  choices: [{ index: 0, delta, finish_reason: finish }],
})

export const usagePiece: JsonObject = { choices: [], usage }
