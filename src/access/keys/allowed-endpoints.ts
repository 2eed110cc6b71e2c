/**
 * The endpoints that an API key may call: a list of `GET /api/v1/tasks`, or a path alone for every method. A segment
 * `{name}` stands for any one segment, and `/*` at the end for everything below. An empty list allows every endpoint.
 *
 * The path is compared as it was sent, not decoded: where a router would read another path out of it, the list refuses it.
 */
import { QuoinError } from '../../shared/errors.ts'
import type { Identity } from '../identity-cache.ts'

/** Entries of one list; each request of the key compares up to this many. */
export const MAX_ENDPOINTS = 50
const MAX_LENGTH = 300
const ENTRY = /^(?:(GET|POST|PUT|PATCH|DELETE) )?(\/[^\s?#]*)$/

export type MayCall = (method: string, url: string) => boolean

/** What is wrong with an entry, in words that finish "the endpoint … ", or undefined. */
export function endpointProblem(entry: string): string | undefined {
  if (entry.length > MAX_LENGTH) return `is longer than ${MAX_LENGTH} characters`
  const [, , path] = ENTRY.exec(entry) ?? []
  if (path === undefined)
    return 'must be a path such as /api/v1/tasks, with or without a method: GET /api/v1/tasks'
  const segments = path.split('/').slice(1)
  const star = segments.findIndex((segment) => segment.includes('*'))
  if (star >= 0 && (star < segments.length - 1 || segments[star] !== '*'))
    return 'may have * only as its last segment: /api/v1/tasks/*'
  return undefined
}

export function allowedEndpoints(entries: readonly string[]): MayCall {
  if (entries.length === 0) return () => true
  const allowed = entries.flatMap((entry) => {
    const [, method, path = ''] = ENTRY.exec(entry) ?? []
    return path === '' ? [] : [{ method, segments: segmentsOf(path) }]
  })
  return (method, url) => {
    const asked = method === 'HEAD' ? 'GET' : method
    const segments = segmentsOf(url.split(/[?#]/, 1)[0] ?? '')
    return allowed.some(
      (entry) => (entry.method === undefined || entry.method === asked) && fits(entry.segments, segments),
    )
  }
}

function segmentsOf(path: string): readonly string[] {
  const segments = path.split('/').slice(1)
  // The router ignores one slash at the end.
  return segments.length > 1 && segments.at(-1) === '' ? segments.slice(0, -1) : segments
}

function fits(pattern: readonly string[], segments: readonly string[]): boolean {
  const isOpen = pattern.at(-1) === '*'
  if (isOpen ? segments.length < pattern.length : segments.length !== pattern.length) return false
  const named = isOpen ? pattern.slice(0, -1) : pattern
  return named.every((segment, place) => isParameter(segment) || segment === segments[place])
}

function isParameter(segment: string): boolean {
  return segment.startsWith('{') && segment.endsWith('}')
}

/**
 * INSUFFICIENT_PERMISSIONS for an API key: a key that leaks must not become a second key, a new password or more scopes,
 * which would outlive it.
 */
export function requirePerson(by: Identity): void {
  if (by.key === undefined) return
  throw new QuoinError(
    'INSUFFICIENT_PERMISSIONS',
    'API keys cannot create or change users, groups, API keys or sessions. Sign in and use an access token.',
  )
}
