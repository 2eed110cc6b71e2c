import { createHash } from 'node:crypto'
import { QuoinError } from '../../shared/errors.ts'
import { type FieldPath, fieldNameProblem, parseFieldPath, valueAt } from '../../shared/field-path.ts'
import type { JsonValue } from '../../shared/json.ts'
import { defineFlow, PinError } from '../block.ts'
import type { OpenedConnection } from '../http-connection.ts'
import { isBelow } from './connection-request.ts'
import {
  type PreparedRequest,
  prepareRequest,
  type Sending,
  sendingIn,
  sendPrepared,
} from './prepared-request.ts'
import { longNumberSetting, readBody, refusedReply } from './read-answer.ts'
import { headerParameters, headerParts } from './reply-headers.ts'
import { addressPins, headPins, requestAttemptPins, retrySettings } from './request-pins.ts'
import { type Answer, type AnswerHead, outgoingUrl, sendRequest } from './send-request.ts'

const MIB = 1024 * 1024

/** Where the next page of a list is, as the reply before it says, or by its number. */
const pageWays = ['link', 'field', 'number'] as const

/** Gives the address of the page after this one; undefined after the last one. */
type NextPage = (page: {
  readonly head: AnswerHead
  readonly body: JsonValue | undefined
  readonly items: readonly JsonValue[]
  /** The address that was asked for. */
  readonly asked: URL
}) => URL | undefined

/** As the settings of the block say. Throws PinError. */
function nextPageBy(
  way: string,
  { field, parameter, first }: { readonly field: string; readonly parameter: string; readonly first: number },
): NextPage {
  if (way === 'link') return ({ head }) => linked(head)
  if (way === 'field') {
    const path = pathOf('next_field', field)
    return ({ head, body, asked }) => {
      const next = valueAt(body, path)
      if (next === undefined || next === null || next === '' || next === false) return undefined
      if (typeof next !== 'string' && typeof next !== 'number')
        throw new QuoinError('INTERNAL', `the reply of the other server has no text or number at ${field}`)
      return parameter === '' ? addressed(String(next), head.url) : withParameter(asked, parameter, next)
    }
  }
  if (parameter === '') throw new PinError('next_parameter', 'must name the query parameter of the number')
  let number = first
  return ({ items, asked }) => {
    if (items.length === 0) return undefined
    number += 1
    return withParameter(asked, parameter, number)
  }
}

/** Throws PinError for what is no path of field names, such as `data.items`. */
function pathOf(pin: string, field: string): FieldPath {
  const problem = fieldNameProblem(field)
  if (problem) throw new PinError(pin, problem)
  return parseFieldPath(field)
}

function withParameter(url: URL, parameter: string, value: string | number): URL {
  const next = new URL(url)
  next.searchParams.set(parameter, String(value))
  return next
}

/** Throws INTERNAL for an address to which the headers and the sign-in of the first page must not go. */
function checkSamePlace(next: URL, first: URL, opened: OpenedConnection | undefined): void {
  if (next.origin === first.origin && (!opened || isBelow(next, opened.baseUrl))) return
  const place = opened ? 'out of the base address of the connection' : 'to another server'
  throw new QuoinError('INTERNAL', `the next page leads ${place}, where no request is sent`)
}

/** RFC 8288: the first link whose `rel` holds `next`. */
function linked({ headers, url }: AnswerHead): URL | undefined {
  for (const header of [headers.link ?? []].flat())
    for (const link of headerParts(header, ',')) {
      const [target = '', ...rest] = headerParts(link, ';')
      const relations = headerParameters(rest).get('rel')?.toLowerCase().split(/\s+/) ?? []
      if (relations.includes('next') && target.startsWith('<') && target.endsWith('>'))
        return addressed(target.slice(1, -1), url)
    }
  return undefined
}

function addressed(text: string, base: URL): URL {
  try {
    return outgoingUrl(text, base)
  } catch (error) {
    // It is the other server that sent it: not a fault of the pin.
    if (!(error instanceof PinError)) throw error
    throw new QuoinError('INTERNAL', 'the address of the next page, which the other server sent, is invalid')
  }
}

export default defineFlow({
  identifier: 'each_page',
  title: 'For each page',
  words: 'For each page of {url}',
  summary:
    'Requests a list of another server page by page and runs the flow at each once for each page, one after the other. What the flow at each has written is stored before the next page is requested. A failure names the page and ends the loop.',
  effects: { calls: 'external' },
  body: 'each',
  in: {
    ...addressPins,
    ...headPins,
    items_field: {
      type: 'value',
      help: 'Field of the reply that holds the list, such as data.items. Empty: the reply is the list.',
    },
    next_field: {
      type: 'value',
      default: 'next',
      help: 'With next_by field: the field of the reply that says the next page, such as paging.next. Empty in the reply of the last page.',
    },
    next_parameter: {
      type: 'value',
      help: 'Query parameter of the next page. With next_by field it takes what next_field holds; empty: next_field holds an address. With next_by number it takes the number; empty: page.',
    },
    first_number: {
      type: 'number',
      default: 1,
      min: 0,
      max: 1_000_000,
      integer: true,
      help: 'With next_by number: number of the first page.',
    },
    max_pages: {
      type: 'number',
      default: 100,
      min: 1,
      max: 10_000,
      integer: true,
      help: 'Maximum pages. If there are more, the loop ends there and more is true.',
    },
    timeout: {
      type: 'number',
      default: 10,
      min: 0.1,
      max: 600,
      help: 'Maximum seconds until a page is complete, over all attempts.',
    },
    max_size: {
      type: 'number',
      default: 4 * MIB,
      min: 0,
      max: 16 * MIB,
      integer: true,
      help: 'Maximum bytes of a page; a larger one is an error. 4 MiB if not set, 16 MiB at most.',
    },
    max_total: {
      type: 'number',
      default: 256 * MIB,
      min: 0,
      max: 4096 * MIB,
      integer: true,
      help: 'Maximum bytes of all pages; more are an error. 256 MiB if not set, 4 GiB at most.',
    },
    ...requestAttemptPins,
  },
  out: {
    each: {
      type: 'flow',
      help: 'Runs for each page. A "Return" in it ends the loop and the flow. The time limit of the run bounds the loop.',
    },
    items: { type: 'array', help: 'The list of the current page, for the flow at each.' },
    body: {
      type: 'any',
      help: 'The whole reply of the current page, for the flow at each; at failed that reply.',
    },
    page: {
      type: 'number',
      help: 'Number of the current page, from 1, for the flow at each; at failed of that one.',
    },
    count: { type: 'number', help: 'Number of items of all pages, after all.' },
    pages: { type: 'number', help: 'Number of pages, after all.' },
    more: { type: 'condition', help: 'Whether max_pages has ended the loop before the last page.' },
    code: { type: 'number', help: 'Status code of the last reply.' },
    failed: {
      type: 'flow',
      help: 'Taken for a status code outside of 200 to 299. An error of the block if it is not wired.',
    },
  },
  settings: {
    next_by: {
      kind: 'choice',
      options: pageWays,
      default: 'link',
      help: 'link: the header Link with rel="next". field: a field of the reply, with an address or a cursor. number: a query parameter that counts up, until a page is empty.',
    },
    ...retrySettings,
    ...longNumberSetting,
  },
  async run(inputs, context) {
    const { settings, signal, wired } = context
    const items = inputs.items_field?.trim()
    const path = items ? pathOf('items_field', items) : []
    const parameter = inputs.next_parameter?.trim() || (settings.next_by === 'number' ? 'page' : '')
    const [field, first] = [inputs.next_field.trim(), inputs.first_number]
    const nextPage = nextPageBy(settings.next_by, { field, parameter, first })
    const prepared = await prepareRequest({ ...inputs, method: 'GET' }, context)
    const begin = prepared.request.url
    const pages = openPages(prepared, inputs, sendingIn(inputs, settings, context))
    let url: URL | undefined = settings.next_by === 'number' ? withParameter(begin, parameter, first) : begin
    let [page, count, code] = [0, 0, 0]
    while (url !== undefined && page < inputs.max_pages) {
      signal.throwIfAborted()
      // What the pass before has written is not left open while the other server is waited for.
      if (page > 0) await context.commit()
      page += 1
      const answer: Answer = await pages(url, page)
      code = answer.code
      const body = await readBody(answer, settings.long_numbers)
      if (code < 200 || code > 299) {
        if (wired('failed')) return { code, body, page, count, pages: page - 1, next: 'failed' }
        throw refusedReply(answer, ` for page ${page}`)
      }
      const list = listAt(body, path, page)
      const next = nextPage({ head: answer, body, items: list, asked: url })
      if (next) checkSamePlace(next, begin, prepared.opened)
      const isEnd = settings.next_by === 'number' && list.length === 0
      if (isEnd) page -= 1
      else if (!(await context.runBody('each', page - 1, { items: list, body, page }))) return { next: null }
      count += list.length
      url = next
    }
    return { count, pages: page, more: url !== undefined, code }
  },
})

interface Bounds {
  readonly max_size: number
  readonly max_total: number
}

/** Requests one page after the other. Refuses an address that it had before, and more bytes than all pages may have. */
function openPages(
  prepared: PreparedRequest,
  { max_size: maxSize, max_total: maxTotal }: Bounds,
  sending: Sending,
): (url: URL, page: number) => Promise<Answer> {
  const { agent } = prepared
  /** Hashes: an address may have 8 KB, and there may be 10,000. */
  const seen = new Set<string>()
  let total = 0
  return async (url, page) => {
    const hash = createHash('sha256').update(url.href).digest('base64url')
    if (seen.has(hash))
      throw new QuoinError(
        'INTERNAL',
        `the pages of the other server go in a circle: page ${page} was requested before`,
      )
    seen.add(hash)
    const one = { ...prepared, request: { ...prepared.request, url } }
    const answer = await sendPrepared(one, sending, (request, time) =>
      sendRequest(request, agent, { ...time, maxSize }),
    )
    total += answer.bytes.byteLength
    if (total > maxTotal)
      throw new QuoinError(
        'INTERNAL',
        `the pages of the other server are larger than ${maxTotal} bytes, which is max_total`,
      )
    return answer
  }
}

function listAt(body: JsonValue | undefined, path: FieldPath, page: number): readonly JsonValue[] {
  const list = valueAt(body, path)
  if (Array.isArray(list)) return list
  const place = path.length === 0 ? 'is no list' : `has no list at ${path.join('.')}`
  throw new PinError('items_field', `must name a list: the reply of page ${page} ${place}`)
}
