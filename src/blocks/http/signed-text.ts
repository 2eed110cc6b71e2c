/** The text that a sender signs, as a template over the request: `{timestamp}.{body}`, `{body.token}`, `{headers.webhook-id}`. */
import { parseFieldPath, valueAt } from '../../shared/field-path.ts'
import { isJsonObject } from '../../shared/json.ts'
import type { RunRequest } from '../run-request.ts'

/** Stands for the body as it was sent. */
export const BODY = Symbol('body')
export type SignedPart = string | typeof BODY

const BRACES = /\{[^{}]*\}/g
const PLACE = /^[a-z]+(?:\.\S+)?$/i
const known: ReadonlySet<string> = new Set(['body', 'timestamp', 'method', 'path', 'url'])
const areas = ['body.', 'headers.', 'query.'] as const
/** Are the same in requests of anyone. */
const alike: ReadonlySet<string> = new Set(['timestamp', 'method', 'path', 'url'])

/** What is wrong with a template, in words that finish "signed …". */
export function templateProblem(template: string): string | undefined {
  const places = placesOf(template)
  const unknown = places.find((place) => !known.has(place) && !areas.some((area) => place.startsWith(area)))
  if (unknown !== undefined)
    return `has {${unknown}}; known are {body}, {body.field}, {timestamp}, {headers.name}, {query.name}, {method}, {path} and {url}`
  if (places.filter((place) => place === 'body').length > 1) return 'must have {body} once'
  if (places.every((place) => alike.has(place)))
    return 'must have {body}, or a part of the request such as {body.token}: a signature that leaves it out proves nothing'
  return undefined
}

function placesOf(template: string): readonly string[] {
  return placesIn(template).map(({ place }) => place)
}

/** Other braces are text. */
function placesIn(template: string): readonly { readonly place: string; readonly index: number }[] {
  return [...template.matchAll(BRACES)].flatMap((match) => {
    const place = match[0].slice(1, -1)
    return PLACE.test(place) ? [{ place, index: match.index }] : []
  })
}

interface Filling {
  readonly request: RunRequest
  readonly timestamp: string
  /** Of the server, without a slash at its end. */
  readonly publicUrl: string
}

/** The parts of a filled template; undefined where the request lacks one. */
export function signedParts(template: string, filling: Filling): readonly SignedPart[] | undefined {
  const parts: SignedPart[] = []
  let at = 0
  for (const { place, index } of placesIn(template)) {
    const value = place === 'body' ? BODY : placeValue(place, filling)
    if (value === undefined) return undefined
    parts.push(template.slice(at, index), value)
    at = index + place.length + 2
  }
  return [...parts, template.slice(at)]
}

function placeValue(place: string, { request, timestamp, publicUrl }: Filling): string | undefined {
  switch (place) {
    case 'timestamp':
      return timestamp
    case 'method':
      return request.method
    case 'path':
      return request.url
    case 'url':
      return `${publicUrl}${request.url}`
    default:
      return placedText(place, request)
  }
}

/** What a place such as `body.signature`, `query.sign`, `headers.x-sign`, or a header by its name, holds. */
export function placedText(place: string, { body, headers, query }: RunRequest): string | undefined {
  if (place.startsWith('body.')) {
    const value = isJsonObject(body) ? valueAt(body, parseFieldPath(place.slice(5))) : undefined
    return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
      ? String(value)
      : undefined
  }
  const [from, name] = place.startsWith('query.')
    ? [query, place.slice(6)]
    : [headers, place.replace(/^headers\./, '').toLowerCase()]
  const value = Object.hasOwn(from, name) ? from[name] : undefined
  // A name that is sent twice says two things.
  return typeof value === 'string' ? value.trim() : undefined
}

const HEADER = /^[a-z0-9!#$%&'*+.^_`|~-]{1,100}$/i

/** What is wrong with a place, in words that finish "header …". */
export function placeProblem(place: string): string | undefined {
  const [area, ...path] = place.split('.')
  const isField = path.length > 0 && path.every((part) => part !== '' && part !== '__proto__')
  if (area === 'body') return isField ? undefined : 'must name a field, such as body.signature'
  return HEADER.test(place)
    ? undefined
    : 'must be the name of a header, or body. or query. and a name, such as body.signature'
}
