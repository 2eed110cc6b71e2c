import type { FetchLike } from '@modelcontextprotocol/client'
import { runCooperatively, type Steps } from '../../shared/cooperative.ts'
import { QuoinError } from '../../shared/errors.ts'
import { HOPS_HEADER, loopDetected, MOST_HOPS } from '../../shared/hops.ts'
import { type JsonObject, type JsonValue, MAX_DEPTH } from '../../shared/json.ts'
import { defineFlow, PinError } from '../block.ts'
import type { FlowContext } from '../context.ts'
import { prepareRequest, sendingIn, sendPrepared } from '../http/prepared-request.ts'
import { refusedReply } from '../http/read-answer.ts'
import { addressPins } from '../http/request-pins.ts'
import { type Answer, sendRequest } from '../http/send-request.ts'
import type { HttpConnection } from '../http-connection.ts'

/** Bytes of one reply. */
const MOST_REPLY = 8 * 1024 * 1024
/** Commas and brackets of one reply, also of its texts. */
const MOST_VALUES = 100_000
/** Line ends of a reply that comes as events. */
const MOST_LINES = 2_000
/** Bytes that are counted in one step. */
const STEP = 256 * 1024
/** Requests of one call: finding out what the server speaks, the call, and asking again. */
const MOST_REQUESTS = 12
const WITHOUT_BODY = new Set([204, 205, 304])

export default defineFlow({
  identifier: 'call_tool',
  title: 'Call a tool',
  words: 'Call {tool}',
  summary: 'Uses a tool of another server, which speaks the Model Context Protocol (MCP) over HTTP.',
  effects: { calls: 'external', callerIndependent: true },
  in: {
    connection: addressPins.connection,
    url: {
      type: 'value',
      default: 'mcp',
      help: 'Path of the MCP server below the address of the connection; without a connection the whole address.',
    },
    tool: { type: 'line', required: true, help: 'Name of the tool, as the server lists it.' },
    arguments: { type: 'object', help: 'What the tool is given, by the names that its description says.' },
    timeout: {
      type: 'number',
      default: 30,
      min: 0.1,
      max: 600,
      help: 'Maximum seconds until the tool has answered.',
    },
  },
  out: {
    result: {
      type: 'any',
      help: 'The structured result of the tool; its text where it gives none. Untrusted: another server wrote it.',
    },
    text: { type: 'value', help: 'The texts of the answer, one below the other.' },
    content: {
      type: 'array',
      help: 'All parts of the answer as the server sent them, such as images in base64.',
    },
    failed: {
      type: 'flow',
      help: 'If it is wired, taken when the tool says that it failed; text says why. Else the block fails.',
    },
  },
  settings: {},
  async run(inputs, context) {
    const { tool } = inputs
    if (tool === '') throw new PinError('tool', 'must be the name of a tool')
    const hops = context.hops + 1
    if (hops > MOST_HOPS) throw loopDetected(hops)
    const answer = await called({ ...inputs, hops }, context)
    const content = answer.content.map((part) => jsonOf(part, 0))
    const text = answer.content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n')
    const structured = jsonOf(answer.structuredContent ?? null, 0)
    const gives = { result: structured ?? text, text, content }
    if (answer.isError !== true) return gives
    if (context.wired('failed')) return { ...gives, next: 'failed' }
    throw new QuoinError('UNAVAILABLE', `the tool ${tool} failed`, { gave: gives })
  },
})

interface Call {
  readonly connection: HttpConnection | undefined
  readonly url: string
  readonly tool: string
  readonly arguments: JsonObject | undefined
  readonly timeout: number
  readonly hops: number
}

/** Opens what the protocol needs for one call, and closes it: a server that keeps sessions is told of the end. */
async function called(call: Call, context: FlowContext) {
  const { Client, ProtocolError, StreamableHTTPClientTransport } = await import(
    '@modelcontextprotocol/client'
  )
  const through = requestsOf(call, context)
  // Each request has a limit of its own, which says what it waited for.
  const limits = { timeout: call.timeout * 1000 + 1000, signal: context.signal }
  // The address is that of the pins: each request is prepared from them.
  const transport = new StreamableHTTPClientTransport(new URL('http://server.invalid/mcp'), {
    fetch: through.fetch,
  })
  const client = new Client(
    { name: 'quoin', version: '1' },
    { versionNegotiation: { mode: 'auto' }, inputRequired: { autoFulfill: false } },
  )
  try {
    await client.connect(transport, limits)
    return await client.callTool({ name: call.tool, arguments: call.arguments ?? {} }, limits)
  } catch (error) {
    context.signal.throwIfAborted()
    const { failure, refused } = through
    if (failure !== undefined) throw failure
    if (refused) throw refusedReply(refused)
    const reason = error instanceof Error ? error.message : String(error)
    throw new QuoinError(
      'UNAVAILABLE',
      error instanceof ProtocolError
        ? `the other server refused the call: ${reason.slice(0, 500)}`
        : 'the other server did not answer as the Model Context Protocol says',
      { cause: error },
    )
  } finally {
    if (!context.signal.aborted) await transport.terminateSession().catch(() => undefined)
    await client.close().catch(() => undefined)
  }
}

/** Requests of the protocol as any other request of a flow: to hosts that are allowed, signed in, masked, bounded in size and time. */
function requestsOf({ connection, url, timeout, hops }: Call, context: FlowContext) {
  const end = context.now() + timeout * 1000
  let count = 0
  const seen: { failure: unknown; refused: Answer | undefined; fetch: FetchLike } = {
    failure: undefined,
    refused: undefined,
    async fetch(_, init) {
      const method = init?.method ?? 'GET'
      // What a server says beside an answer is not listened to.
      if (method === 'GET') return new Response(null, { status: 405 })
      try {
        count += 1
        if (count > MOST_REQUESTS)
          throw new QuoinError('UNAVAILABLE', `the call took more than ${MOST_REQUESTS} requests`)
        const { 'content-type': type, ...others } = Object.fromEntries(new Headers(init?.headers))
        const body = typeof init?.body === 'string' ? init.body : undefined
        const headers: JsonObject = {
          ...others,
          [HOPS_HEADER]: String(hops),
          ...(type !== undefined && { 'content-type': type }),
        }
        const prepared = await prepareRequest(
          { connection, url, method, headers, query: undefined, body },
          context,
        )
        const left = Math.max(0.001, (end - context.now()) / 1000)
        const sending = sendingIn(
          { timeout: left, attempts: 1, back_off: undefined },
          { retries: 0 },
          context,
        )
        const answer = await sendPrepared(prepared, sending, (one, limits) =>
          sendRequest(one, prepared.agent, { ...limits, maxSize: MOST_REPLY, isFixed: true }),
        )
        await runCooperatively(countParts(answer))
        seen.refused = answer.code >= 400 ? answer : undefined
        return responseOf(answer)
      } catch (error) {
        seen.failure = error
        throw error
      }
    },
  }
  return seen
}

/** What the client has read of JSON, without what is not there. Its texts are not copied. */
function jsonOf(value: unknown, depth: number): JsonValue {
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return value
  if (typeof value !== 'object' || value === null) return null
  if (depth === MAX_DEPTH)
    throw new QuoinError('UNAVAILABLE', `the result of the tool is nested deeper than ${MAX_DEPTH} levels`)
  if (Array.isArray(value)) return value.map((item) => jsonOf(item, depth + 1))
  const members = Object.entries(value).filter(([, item]) => item !== undefined)
  return Object.fromEntries(members.map(([name, item]) => [name, jsonOf(item, depth + 1)]))
}

const [COMMA, OPEN, OPEN_LIST, LINE_FEED] = Buffer.from(',{[\n')
const RETURN = 0x0d

function isEvents({ headers }: Answer): boolean {
  return String(headers['content-type'] ?? '').includes('event-stream')
}

/**
 * The client of the protocol reads and checks a reply in one turn, and it becomes a value of the flow in that turn: what takes long is the
 * number of its values, and of its events.
 */
function* countParts(answer: Answer): Steps<void> {
  const { bytes } = answer
  let [values, lines] = [0, 0]
  for (let from = 0; from < bytes.length; from += STEP) {
    const counted = partsIn(bytes.subarray(from, from + STEP))
    values += counted.values
    lines += counted.lines
    if (values > MOST_VALUES) throw tooMany(MOST_VALUES, 'values')
    if (lines > MOST_LINES && isEvents(answer)) throw tooMany(MOST_LINES, 'lines')
    yield
  }
}

function partsIn(bytes: Uint8Array): { readonly values: number; readonly lines: number } {
  let [values, lines] = [0, 0]
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at]
    if (byte === COMMA || byte === OPEN || byte === OPEN_LIST) values += 1
    else if (byte === LINE_FEED || byte === RETURN) lines += 1
  }
  return { values, lines }
}

function tooMany(most: number, what: string): QuoinError {
  const count = most.toLocaleString('en')
  return new QuoinError('UNAVAILABLE', `the reply of the other server holds more than ${count} ${what}`)
}

function responseOf(answer: Answer): Response {
  const { code, headers, bytes } = answer
  const sent = new Headers()
  for (const [name, value] of Object.entries(headers))
    for (const one of [value ?? []].flat()) sent.append(name, one)
  // The reader of events looks for a line feed from each carriage return on, to the end of all.
  const isOld = isEvents(answer) && bytes.includes(RETURN)
  const body = isOld ? Buffer.from(bytes).toString().replaceAll(/\r\n?/g, '\n') : Buffer.from(bytes)
  return new Response(WITHOUT_BODY.has(code) ? null : body, { status: code, headers: sent })
}
