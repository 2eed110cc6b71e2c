import type { JsonValue } from '../../shared/json.ts'
import {
  failurePin,
  type Operation,
  operationInPins,
  operationOutPins,
} from '../../shared/operations/operation.ts'
import { defineFlow, PinError } from '../block.ts'
import type { OutPins } from '../pin.ts'
import { isOperation } from '../pins/operation-problem.ts'
import { writtenRequest } from './operation-request.ts'
import { prepareRequest, sendingIn, sendPrepared } from './prepared-request.ts'
import { headersOf, longNumberSetting, readBody, refuseCompressed, refusedReply } from './read-answer.ts'
import { addressPins, headPins, repeatSettings, replyLimitPins, requestAttemptPins } from './request-pins.ts'
import { type Answer, sendRequest } from './send-request.ts'

/** What each such block gives; its document adds headers, and ways for status codes. */
const ownPins = {
  code: { type: 'number', help: 'Status code of the reply.' },
  body: {
    type: 'any',
    repliesOf: 'operation',
    help: 'Body of the reply: parsed if it is JSON, else text; Base64 where the document says that it is a file. Empty without a body.',
  },
  reply_headers: {
    type: 'object',
    help: 'Headers of the reply, in lower case. A repeated header is a list.',
  },
  failed: {
    type: 'flow',
    help: 'If it is wired, taken for a status code outside of 200 to 299 whose own way is not wired. Else the block fails.',
  },
} as const satisfies OutPins
const out: typeof ownPins &
  Readonly<Record<`status_${string}`, { readonly type: 'flow'; readonly help: string }>> &
  Readonly<Record<`header_${string}`, { readonly type: 'value'; readonly help: string }>> = ownPins

export default defineFlow({
  identifier: 'call_operation',
  title: 'Call an operation',
  words: '{operation}',
  summary:
    'Sends a request to another server as its OpenAPI document says: each parameter and field of the operation has a pin of its type, and each status code that the document names a way. Blocks of an API are added from the palette once a connection has its document.',
  effects: { calls: 'external', callerIndependent: true },
  in: {
    connection: {
      ...addressPins.connection,
      help: 'Name of the connection to the server of the API: its base address, headers and sign-in.',
    },
    server: {
      type: 'value',
      orPin: 'connection',
      help: 'Address of the server where the API needs no connection, such as https://api.example.com/v1.',
    },
    headers: {
      ...headPins.headers,
      help: 'Headers that the document does not name, such as idempotency-key.',
    },
    ...replyLimitPins,
    ...requestAttemptPins,
  },
  out,
  settings: {
    operation: {
      kind: 'operation',
      required: true,
      help: 'The operation as its document had it when the block was added: id, hash, method, path and pins. The studio, `quoin connection operation` and the tool read give it.',
    },
    ...repeatSettings,
    ...longNumberSetting,
  },
  moreIn: ({ operation }) => operationInPins(operation),
  moreOut: ({ operation }) => operationOutPins(operation),
  async run(inputs, context) {
    const operation = operationIn(context.settings.operation)
    const { url, ...written } = writtenRequest(operation, context.more)
    const { connection } = inputs
    const prepared = await prepareRequest(
      {
        connection,
        url: connection ? url : `${serverIn(inputs.server)}/${url}`,
        method: operation.method,
        headers: { ...written.headers, ...inputs.headers },
        query: undefined,
        body: written.body,
        bodyAs: written.bodyAs,
      },
      context,
    )
    const sending = sendingIn(inputs, { retries: 0, repeat: context.settings.repeat }, context)
    const answer = await sendPrepared(prepared, sending, (one, limits) =>
      sendRequest(one, prepared.agent, { ...limits, maxSize: inputs.max_size }),
    )
    const gives = {
      code: answer.code,
      body: await bodyIn(answer, operation, context.settings.long_numbers),
      reply_headers: headersOf(answer),
      ...namedHeaders(answer, operation),
    }
    const way = wayFor(answer.code, operation, context.wired)
    if (way === undefined) throw refusedReply(answer)
    return { ...gives, next: way }
  },
})

function operationIn(setting: unknown): Operation {
  if (isOperation(setting)) return setting
  throw new TypeError('The setting operation was checked when the blueprint was compiled.')
}

function serverIn(server: string | undefined): string {
  if (server === undefined || server.trim() === '') throw new PinError('connection', 'is empty')
  let base = server.trim()
  while (base.endsWith('/')) base = base.slice(0, -1)
  return base
}

async function bodyIn(
  answer: Answer,
  { gives }: Operation,
  longNumbers: string,
): Promise<JsonValue | undefined> {
  const isGood = answer.code >= 200 && answer.code <= 299
  if (!gives?.bytes || !isGood || answer.bytes.byteLength === 0) return readBody(answer, longNumbers)
  refuseCompressed(answer.headers)
  return Buffer.from(answer.bytes).toString('base64')
}

function namedHeaders(answer: Answer, { headers = [] }: Operation): Record<`header_${string}`, string> {
  return Object.fromEntries(
    headers.flatMap(({ pin, name }) => {
      const value = Object.hasOwn(answer.headers, name) ? answer.headers[name] : undefined
      return value === undefined ? [] : [[pin, [value].flat().join(', ')]]
    }),
  )
}

/** The most exact one that is wired; undefined where the block fails. */
function wayFor(
  code: number,
  { failures = [] }: Operation,
  wired: (pin: string) => boolean,
): 'flow' | 'failed' | `status_${string}` | undefined {
  if (code >= 200 && code <= 299) return 'flow'
  const fitting = [String(code), `${Math.floor(code / 100)}xx`, 'default']
  const named = fitting.flatMap((one) => failures.filter(({ status }) => status.toLowerCase() === one))
  const way = named.map(({ status }) => failurePin(status)).find(wired)
  return way ?? (wired('failed') ? 'failed' : undefined)
}
