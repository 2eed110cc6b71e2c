import { QuoinError } from '../../shared/errors.ts'
import { type JsonObject, type JsonValue, jsonProblem } from '../../shared/json.ts'
import { defineFlow, PinError } from '../block.ts'
import { checkHeaders } from './check-headers.ts'
import { connectionUrl, isRefusedHeader, sendSignedIn } from './connection-request.ts'
import { keptAnswers } from './kept-answers.ts'
import { bodyKinds, requestBody } from './request-body.ts'
import { type Answer, type OutgoingRequest, outgoingUrl, sendRequest } from './send-request.ts'
import { sendWithRetries } from './send-with-retries.ts'
import { sharedAgent } from './shared-agent.ts'

const JSON_TYPE = /^(?:application|text)\/(?:[a-z0-9.-]+\+)?json\s*(?:;|$)/i

export default defineFlow({
  identifier: 'http_request',
  aliases: ['http request'],
  title: 'HTTP request',
  words: '[{method} ]{url}',
  summary: 'Sends an HTTP request to another server and waits for the reply. Follows redirects.',
  outside: true,
  ignoresCaller: true,
  in: {
    connection: {
      type: 'http_connection',
      help: 'Name of a connection: its base address, headers and sign-in. A status code outside of 200 to 299 is then an error of the block, unless failed is wired.',
    },
    url: {
      type: 'value',
      required: true,
      help: 'The address, starting with https:// or http://; with a connection a path below its base address. Private addresses must be allowed by QUOIN_ALLOWED_HOSTS.',
    },
    method: {
      type: 'value',
      default: 'GET',
      choices: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'],
      help: 'Method: GET, POST, PUT, PATCH, DELETE, HEAD or OPTIONS.',
    },
    headers: { type: 'object', help: 'Headers by name, such as authorization.' },
    query: { type: 'object', help: 'Added to the address: name and value; a list is sent as several.' },
    body: { type: 'any', raw: true, help: 'Body, written as body_as says.' },
    timeout: {
      type: 'number',
      default: 10,
      min: 0.1,
      max: 600,
      help: 'Maximum seconds until the reply is complete, over all attempts.',
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
    from_cache: { type: 'condition', help: 'Whether the reply was kept: see keep_seconds.' },
    failed: { type: 'flow', help: 'If it is wired, taken for a status code outside of 200 to 299.' },
  },
  settings: {
    body_as: {
      kind: 'choice',
      options: bodyKinds,
      default: 'auto',
      help: 'How the body is sent. auto: objects and lists as JSON, other values as text. form: fields of an object. multipart: the same, and files as { file_name, type, text } or with base64. base64: the bytes that the text means.',
    },
    retries: {
      kind: 'number',
      default: 0,
      min: 0,
      max: 5,
      help: 'Further attempts within the timeout, with growing pauses or as retry-after asks: after 429 and 503; without a reply, and after 502 and 504, only for GET, HEAD, OPTIONS, PUT, DELETE and requests with an idempotency-key.',
    },
    keep_seconds: {
      kind: 'number',
      default: 0,
      min: 0,
      max: 86_400,
      help: 'Seconds for which a reply to GET or HEAD with a status code from 200 to 299 is kept in the memory of each process. Requests with the same address, headers and connection get it. 0: each request is sent.',
    },
    must_succeed: {
      kind: 'switch',
      default: false,
      help: 'Whether a status code outside of 200 to 299 is an error of the block. A job fails then and is tried again.',
    },
  },
  async run(inputs, context) {
    const { connection, query, timeout, maxSize } = { ...inputs, maxSize: inputs.max_size }
    const opened = connection?.open()
    const { settings, signal, wired } = context
    const now = () => context.now()
    const address = inputs.url.trim()
    const url = opened ? connectionUrl(opened, address) : outgoingUrl(address)
    addQuery(url, query)
    const { type, body } = await requestBody(inputs.body, settings.body_as)
    const headers = {
      accept: '*/*',
      'user-agent': 'quoin',
      ...(type === undefined ? {} : { 'content-type': type }),
      ...(opened ? checkHeaders(opened.headers, isRefusedHeader) : {}),
      ...checkHeaders(inputs.headers, isRefusedHeader),
      // Answers are not unpacked, so that max_size is what it says.
      'accept-encoding': 'identity',
    }
    const agent = await sharedAgent(context.allowedHosts)
    const request = { url, method: inputs.method, headers, body }
    const retries = { most: settings.retries, until: now() + timeout * 1000, now, signal }
    const kept = keptAnswers(agent, request, opened, { seconds: settings.keep_seconds, maxSize })
    const known = kept?.find(now())
    const answer =
      known ??
      (await sendWithRetries(request, retries, (left) => {
        const limits = { timeout: settings.retries === 0 ? timeout : left, maxSize, signal, now }
        const send = (one: OutgoingRequest) => sendRequest(one, agent, limits)
        return opened ? sendSignedIn(opened, request, agent, limits, send) : send(request)
      }))
    if (!known) kept?.keep(answer, now())
    const { code } = answer
    const ok = code >= 200 && code <= 299
    const given = {
      code,
      headers: headersOf(answer),
      body: readBody(answer),
      ok,
      from_cache: known !== undefined,
    }
    if (!ok && wired('failed') && !settings.must_succeed) return { ...given, next: 'failed' }
    if (!ok && (settings.must_succeed || opened))
      throw new QuoinError('UNAVAILABLE', `the other server replied with status ${code}`)
    return given
  },
})

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
