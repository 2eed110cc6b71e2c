import type { JsonValue } from '../../shared/json.ts'
import {
  type PlacedField,
  pinTypeOfField,
  type RequestPlace,
  requestFields,
} from '../../shared/request-field.ts'
import { type AcceptedBody, defineTrigger, type Listening, PinError } from '../block.ts'
import { endpointUri } from '../endpoint-uri.ts'
import { builderStorage, toolName } from '../names.ts'
import type { InPins, OutPins } from '../pin.ts'

type Method = Listening['http']['method']

const titles = {
  GET: 'API: register GET',
  POST: 'API: register POST',
  PUT: 'API: register PUT',
  PATCH: 'API: register PATCH',
  DELETE: 'API: register DELETE',
  ANY: 'API: register any method',
} as const

const uri = {
  type: 'value',
  required: true,
  help: 'What follows /api/v1/ in the address, such as tasks, tasks/{guid} or files/{path...}.',
} as const

const connectionOut = {
  connection: { type: 'connection', help: 'The request: read its parameters from it and reply to it.' },
} as const satisfies OutPins

const bodyOut = {
  ...connectionOut,
  body: {
    type: 'any',
    help: 'The body: an object or an array of JSON, or the text of another body. Empty without a body.',
  },
} as const satisfies OutPins

const common = {
  rate_limit: {
    kind: 'number',
    min: 0.1,
    max: 100_000,
    help: 'Requests a second from one address; 0.5 means one every two seconds. Empty: the limit of the cluster.',
  },
  summary: { kind: 'text', default: '', help: 'One line about the endpoint, for the API documentation.' },
  description: { kind: 'text', default: '', help: 'More about the endpoint, for the API documentation.' },
  tool: {
    kind: 'text',
    default: '',
    help: 'Offers the endpoint to agents that may call it: its name among the tools of /mcp, such as list_orders. Summary and description tell them what it does. Empty: no tool.',
  },
  schema: {
    kind: 'fields',
    help: 'Fields of the request, checked before the flow starts: a list of { name, type, required, default, in, min, max, min_length, max_length, pattern, choices }. Types: text, line (text without line breaks), number, whole number, condition, date (an instant), day (2026-01-31), list, object, any. in: path, query or body. Each field is an out-pin; a request that does not fit is 400 and lists every bad field. Other fields are passed on unchecked.',
  },
} as const

/** Most seconds that a client may keep a reply: a year. */
const MAX_CACHE = 31_536_000

/** The address, and where the fields of the request are. */
function addressed(method: Method, written: string, fields: readonly JsonValue[]) {
  const address = endpointUri(written)
  const schema = placedFields(method, address, fields)
  return { uri: address, ...(schema.length > 0 && { schema }) }
}

/** A trigger that reads: its replies may be kept by the client, and it gets no body. */
export function defineReadTrigger(identifier: string) {
  return defineTrigger({
    identifier,
    title: titles.GET,
    words: 'GET /{uri}',
    summary: 'Registers an endpoint of your API: each GET request to it starts the flow.',
    on: 'http',
    in: { uri },
    out: connectionOut,
    settings: {
      ...common,
      cache_seconds: {
        kind: 'number',
        default: 0,
        min: 0,
        max: MAX_CACHE,
        help: 'How long a client may cache the reply. 0: it sends a request each time. Shared caches may store only replies that are the same for all callers: of a public endpoint whose flow does not read the caller.',
      },
    },
    moreOut: ({ schema }) => requestPins('GET', schema),
    listen: (inputs, settings) => ({
      method: 'GET',
      ...addressed('GET', inputs.uri, settings.schema),
      rateLimit: settings.rate_limit,
      cacheSeconds: settings.cache_seconds,
      idempotent: false,
      summary: settings.summary,
      description: settings.description,
      ...offeredAs(settings.tool),
    }),
    start: ({ request }) => ({ connection: request }),
  })
}

interface BodySettings {
  readonly accepts: string
  readonly xml_lists: readonly string[]
  readonly max_files: number
  readonly max_file_size: number
}

function acceptedBody(settings: BodySettings): { readonly accepts?: AcceptedBody } {
  switch (settings.accepts) {
    case 'text':
      return { accepts: { kind: 'text' } }
    case 'xml':
      return { accepts: { kind: 'xml', lists: new Set(settings.xml_lists) } }
    case 'multipart': {
      const files = Math.floor(settings.max_files)
      return { accepts: { kind: 'multipart', files, fileBytes: Math.floor(settings.max_file_size) } }
    }
    default:
      return {}
  }
}

const writeIn = {
  uri,
  idempotency_key: {
    type: 'value',
    help: "What makes two requests the same, such as body.id or headers['x-github-delivery']: an expression over headers, body and params. A request with the key of a former one gets its reply for 24 hours, and the flow does not run again. A reply with a status of 400 or more is not stored.",
  },
  one_at_a_time: {
    type: 'value',
    help: 'Requests with the same value wait for each other, in order of arrival and on all nodes, such as body.room: an expression over headers, body and params. Each holds its place until its first commit, so it never begins again because of another one; a block that asks another server commits before it does. A fixed text: all requests of this endpoint wait for each other. Empty: this request waits for none. One that waits for longer than a run may last is 503.',
  },
} as const satisfies InPins

const writeSettings = {
  ...common,
  schema_storage: {
    kind: 'storage',
    help: 'Checks the body by the field rules of this storage before the flow starts: 400 lists every bad field. PUT and PATCH check only what is sent. A deploy compares expressions that read the body with these fields.',
  },
  accepts: {
    kind: 'choice',
    options: ['json', 'text', 'xml', 'multipart'],
    default: 'json',
    help: 'Content types of the body. json: JSON and forms. text: these, and text/* and XML, whose body is the text as it was sent. xml: these, and XML as an object: elements and @attributes by name, #text beside them. multipart: these, and forms with files: a file is stored as a private asset, and the body has { guid, name, type, size } in its place.',
  },
  xml_lists: {
    kind: 'names',
    help: 'xml: names of elements that are a list also when the document has one of them, such as item.',
  },
  max_files: {
    kind: 'number',
    default: 10,
    min: 1,
    max: 20,
    help: 'multipart: maximum number of files of one request.',
  },
  max_file_size: {
    kind: 'number',
    default: 10_485_760,
    min: 1,
    max: 524_288_000,
    help: 'multipart: maximum bytes of one file. 10 MiB if not set, 500 MiB at most.',
  },
  idempotent: {
    kind: 'switch',
    default: false,
    help: 'A request repeated with the same idempotency-key header gets the first reply for 24 hours; the flow does not run again.',
  },
} as const

/** A trigger that changes something: it gets the body, and can answer a repeated request without running twice. */
export function defineWriteTrigger(identifier: string, method: Exclude<Method, 'GET'>) {
  return defineTrigger({
    identifier,
    title: titles[method],
    words: `${method} /{uri}`,
    summary:
      method === 'ANY'
        ? 'Registers an endpoint of your API for all methods: each request starts the flow, unless another endpoint has its method at this address.'
        : `Registers an endpoint of your API: each ${method} request to it starts the flow.`,
    on: 'http',
    in: writeIn,
    out: bodyOut,
    settings: writeSettings,
    evaluatedLater: ['idempotency_key', 'one_at_a_time'],
    check({ idempotency_key: key }, { tool }) {
      if (method === 'ANY' && tool.trim() !== '')
        throw new PinError('tool', 'is for endpoints of one method. Register that method by itself')
      if (key !== undefined)
        throw new PinError(
          'idempotency_key',
          'is the same for all requests: the second one would get the reply of the first. Calculate it from the request',
        )
    },
    moreOut: ({ schema }) => requestPins(method, schema),
    listen: (inputs, settings) => ({
      method,
      ...addressed(method, inputs.uri, settings.schema),
      rateLimit: settings.rate_limit,
      cacheSeconds: 0,
      idempotent: settings.idempotent,
      ...(inputs.idempotency_key !== undefined && { calculatesKey: true as const }),
      ...(inputs.one_at_a_time !== undefined && { oneAtATime: true as const }),
      ...acceptedBody(settings),
      ...(settings.schema_storage !== undefined && {
        schemaStorage: builderStorage(settings.schema_storage, 'schema_storage'),
      }),
      summary: settings.summary,
      description: settings.description,
      ...offeredAs(settings.tool),
    }),
    start: ({ request }) => ({ connection: request, body: request.body }),
  })
}

function offeredAs(written: string): { readonly tool?: string } {
  const tool = toolName(written)
  return tool === undefined ? {} : { tool }
}

/** One typed out-pin for each field. */
function requestPins(method: Method, schema: readonly JsonValue[]): OutPins {
  return Object.fromEntries(
    requestFields(schema).map((field) => {
      const pin = { type: pinTypeOfField(field), help: `The field ${field.name} of the request.` }
      // A request by GET has no body, so all of its fields are in its address.
      return [field.name, method === 'GET' ? { ...pin, ofAddress: true } : pin]
    }),
  )
}

/** Each field with its place. Throws PinError('schema', …) for one that can be nowhere. */
function placedFields(method: Method, uri: string, schema: readonly JsonValue[]): readonly PlacedField[] {
  const inPath = new Set([...uri.matchAll(/\{([^{}.]+)(?:\.\.\.)?\}/g)].map(([, name = '']) => name))
  const usual: RequestPlace = method === 'GET' || method === 'DELETE' ? 'query' : 'body'
  return requestFields(schema).map((field) => {
    const place = field.in ?? (inPath.has(field.name) ? 'path' : usual)
    const called = JSON.stringify(field.name)
    if (place === 'body' && method === 'GET')
      throw new PinError('schema', `has ${called} in the body, which a GET request does not have`)
    if (place === 'path' && !inPath.has(field.name))
      throw new PinError('schema', `has ${called} in the path, where the uri has no {${field.name}}`)
    if (place !== 'body' && field.type === 'object')
      throw new PinError('schema', `has the object ${called} outside the body: path and query hold text`)
    return { ...field, in: place }
  })
}
