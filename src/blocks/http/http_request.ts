import type { Agent } from 'undici'
import { QuoinError } from '../../shared/errors.ts'
import { type JsonObject, type JsonValue, jsonProblem } from '../../shared/json.ts'
import { isLargerThan } from '../../shared/json-size.ts'
import { StoredJson } from '../../storage/stored-json.ts'
import { defineFlow, PinError } from '../block.ts'
import { checkHeaders } from './check-headers.ts'
import { guardedAgent } from './guarded-agent.ts'
import { type Answer, outgoingUrl, sendRequest } from './send-request.ts'

/** The client writes these itself. */
const isRefused = (name: string) => name === 'host' || name === 'accept-encoding'
/** As large as a document may be. Written out in one turn, in which nothing else is served. */
const MOST_SENT = { values: 500_000, characters: 16 * 1024 * 1024 }
const JSON_TYPE = /^(?:application|text)\/(?:[a-z0-9.-]+\+)?json\s*(?:;|$)/i

/**
 * One client for each list of allowed hosts, so that connections are used again. Idle ones close after four seconds and
 * keep no process alive; a client goes when its list does.
 */
const agents = new WeakMap<readonly string[], Promise<Agent>>()

export default defineFlow({
  identifier: 'http_request',
  aliases: ['http request'],
  title: 'HTTP request',
  summary: 'Sends an HTTP request to another server and waits for the reply. Follows redirects.',
  outside: true,
  ignoresCaller: true,
  in: {
    url: {
      type: 'value',
      required: true,
      help: 'The address, starting with https:// or http://. Private addresses must be allowed by QUOIN_ALLOWED_HOSTS.',
    },
    method: {
      type: 'value',
      default: 'GET',
      choices: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'],
      help: 'Method: GET, POST, PUT, PATCH, DELETE, HEAD or OPTIONS.',
    },
    headers: { type: 'object', help: 'Headers by name, such as authorization.' },
    query: { type: 'object', help: 'Added to the address: name and value; a list is sent as several.' },
    body: { type: 'any', raw: true, help: 'Body. Objects and lists are sent as JSON, other values as text.' },
    timeout: {
      type: 'number',
      default: 10,
      min: 0.1,
      max: 600,
      help: 'Maximum seconds until the reply is complete.',
    },
    max_size: {
      type: 'number',
      default: 10_485_760,
      min: 0,
      max: 104_857_600,
      integer: true,
      help: 'Maximum bytes of the reply; a larger one is an error. 10 MiB if not set, 100 MiB at most.',
    },
  },
  out: {
    code: { type: 'number', help: 'Status code of the reply.' },
    headers: {
      type: 'object',
      help: 'Headers of the reply, in lower case. A repeated header is a list.',
    },
    body: {
      type: 'any',
      help: 'Body of the reply: parsed if it is JSON, else text. Empty without a body.',
    },
    ok: { type: 'condition', help: 'Whether the status code is from 200 to 299.' },
  },
  settings: {
    must_succeed: {
      kind: 'switch',
      default: false,
      help: 'Whether a status code outside of 200 to 299 is an error of the block. A job fails then and is tried again.',
    },
  },
  async run(
    { url: address, method, headers: given, query, body: content, timeout, max_size: maxSize },
    context,
  ) {
    const url = outgoingUrl(address.trim())
    addQuery(url, query)
    const { type, body } = bodyOf(content)
    const headers = {
      accept: '*/*',
      'user-agent': 'quoin',
      ...(type === undefined ? {} : { 'content-type': type }),
      ...checkHeaders(given, isRefused),
      // Answers are not unpacked, so that max_size is what it says.
      'accept-encoding': 'identity',
    }
    const { signal, allowedHosts } = context
    const request = { url, method, headers, body }
    const answer = await sendRequest(request, await agentFor(allowedHosts), { timeout, maxSize, signal })
    const { code } = answer
    const ok = code >= 200 && code <= 299
    if (!ok && context.settings.must_succeed)
      throw new QuoinError('UNAVAILABLE', `the other server replied with status ${code}`)
    return { code, headers: headersOf(answer), body: readBody(answer), ok }
  },
})

function agentFor(allowedHosts: readonly string[]): Promise<Agent> {
  const known = agents.get(allowedHosts)
  if (known) return known
  const agent = guardedAgent(allowedHosts)
  agents.set(allowedHosts, agent)
  return agent
}

function addQuery(url: URL, query: JsonObject | undefined): void {
  for (const [name, value] of Object.entries(query ?? {})) {
    const items: readonly JsonValue[] = Array.isArray(value) ? value : [value]
    for (const item of items) {
      if (typeof item === 'object' && item !== null)
        throw new PinError('query', `must give text, a number or a list of these for ${JSON.stringify(name)}`)
      if (item !== null) url.searchParams.append(name, String(item))
    }
  }
}

function bodyOf(content: JsonValue | StoredJson | undefined): { type?: string; body: string | undefined } {
  if (content === undefined || content === null) return { body: undefined }
  if (content instanceof StoredJson) return { type: 'application/json', body: content.text }
  if (isLargerThan(content, MOST_SENT.values, MOST_SENT.characters))
    throw new PinError('body', 'is too large to be sent: at most 500,000 values and 16 MiB of text')
  if (typeof content === 'object') return { type: 'application/json', body: JSON.stringify(content) }
  return { type: 'text/plain; charset=utf-8', body: String(content) }
}

function headersOf(answer: Answer): JsonObject {
  const headers: Record<string, string | string[]> = {}
  for (const [name, value] of Object.entries(answer.headers)) {
    // The other server chooses the names.
    if (value !== undefined && name !== '__proto__') headers[name] = value
  }
  return headers
}

function readBody({ headers, bytes }: Answer): JsonValue | undefined {
  if (bytes.byteLength === 0) return undefined
  const encoding = headers['content-encoding']
  if (encoding !== undefined && encoding !== 'identity')
    throw new QuoinError('INTERNAL', 'the other server sent a compressed reply although none was accepted')
  const type = String(headers['content-type'] ?? '')
  const text = decoderFor(type).decode(bytes)
  const value = JSON_TYPE.test(type) ? parsed(text) : undefined
  return value === undefined ? text : value
}

/** undefined for text that is no JSON, or JSON that Quoin could not store. */
function parsed(text: string): JsonValue | undefined {
  try {
    const value: JsonValue = JSON.parse(text)
    return jsonProblem(value) === undefined ? value : undefined
  } catch {
    return undefined
  }
}

function decoderFor(type: string): TextDecoder {
  const charset = /;\s*charset="?([\w-]+)"?/i.exec(type)?.[1]
  try {
    return new TextDecoder(charset ?? 'utf-8')
  } catch {
    return new TextDecoder()
  }
}
