/** Where the next page of a list is, as the reply before it says, or by its number. */
import { QuoinError } from '../../shared/errors.ts'
import { type FieldPath, fieldNameProblem, parseFieldPath, valueAt } from '../../shared/field-path.ts'
import type { JsonValue } from '../../shared/json.ts'
import { PinError } from '../block.ts'
import type { OpenedConnection } from '../http-connection.ts'
import { headerParameters, headerParts } from './check-headers.ts'
import { isBelow } from './connection-request.ts'
import { type AnswerHead, outgoingUrl } from './send-request.ts'

export const pageWays = ['link', 'field', 'number'] as const

/** Gives the address of the page after this one; undefined after the last one. */
export type NextPage = (page: {
  readonly head: AnswerHead
  readonly body: JsonValue | undefined
  readonly items: readonly JsonValue[]
  /** The address that was asked for. */
  readonly asked: URL
}) => URL | undefined

/** As the settings of the block say. Throws PinError. */
export function nextPageBy(
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
export function pathOf(pin: string, field: string): FieldPath {
  const problem = fieldNameProblem(field)
  if (problem) throw new PinError(pin, problem)
  return parseFieldPath(field)
}

export function withParameter(url: URL, parameter: string, value: string | number): URL {
  const next = new URL(url)
  next.searchParams.set(parameter, String(value))
  return next
}

/** Throws INTERNAL for an address to which the headers and the sign-in of the first page must not go. */
export function checkSamePlace(next: URL, first: URL, opened: OpenedConnection | undefined): void {
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
