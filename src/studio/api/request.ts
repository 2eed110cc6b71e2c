import type { DocumentSearch } from '../../shared/api/data/documents.ts'
import type { RecordPage } from '../../shared/record-page.ts'
import { ApiError, errorFromReply, unreachable } from './api-error.ts'
import { confirmed, session, signedOut, untilSignedIn } from './session.ts'

const BASE = '/api/v1'

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'

export interface CallOptions {
  /** Sent as JSON; a Blob as it is. */
  readonly body?: unknown
  /** Undefined values are left out. */
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>
  readonly signal?: AbortSignal | undefined
  /** Of the sign-in itself: it does not wait for one. */
  readonly atOnce?: true
}

/**
 * Calls the management API and gives its JSON. Throws {@link ApiError}. The caller says which type of `shared/api` the
 * endpoint answers with.
 */
export async function call<T>(method: Method, path: string, options: CallOptions = {}): Promise<T> {
  const response = await send(method, path, options)
  return (await response.json()) as T
}

/** A search by POST. */
export async function search<T>(
  path: string,
  body: DocumentSearch,
  signal?: AbortSignal,
): Promise<RecordPage<T>> {
  return page<T>(await send('POST', path, { body, signal }))
}

/** A search by GET, as the logs of users and the schedules have it. */
export async function searchByGet<T>(
  path: string,
  { filters, sort, ...rest }: DocumentSearch,
  signal?: AbortSignal,
): Promise<RecordPage<T>> {
  const query = {
    ...rest,
    filters: filters === undefined ? undefined : JSON.stringify(filters),
    sort: sort === undefined ? undefined : JSON.stringify(sort),
  }
  return page<T>(await send('GET', path, { query, signal }))
}

/** A list by GET that has filters of its own, as runs have. */
export async function readPage<T>(
  path: string,
  query: NonNullable<CallOptions['query']>,
  signal?: AbortSignal,
): Promise<RecordPage<T>> {
  return page<T>(await send('GET', path, { query, signal }))
}

/** The reply itself: for files, streams and headers. Throws {@link ApiError} unless it is good. */
export async function send(method: Method, path: string, options: CallOptions = {}): Promise<Response> {
  const { body, query, signal, atOnce } = options
  const attempt = async () => {
    const sent = typeof body === 'object' && body instanceof Blob ? body : undefined
    const type = sent?.type ?? (body === undefined ? '' : 'application/json')
    const response = await reached(address(path, query), {
      method,
      ...(signal ? { signal } : {}),
      headers: { ...studioHeaders(), ...(type === '' ? {} : { 'content-type': type }) },
      ...(body === undefined ? {} : { body: sent ?? JSON.stringify(body) }),
    })
    if (!response.ok) throw errorFromReply(response.status, await response.text())
    return response
  }
  return atOnce ? attempt() : whileSignedIn(attempt)
}

/**
 * Where the session has expired it is sent again when the user has signed in again, and where the session is too old for it, when its user
 * has confirmed it. It was refused, so nothing of it was done.
 */
export async function whileSignedIn<T>(attempt: () => Promise<T>): Promise<T> {
  for (;;) {
    await untilSignedIn()
    const { token } = session.getState()
    try {
      return await attempt()
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      if (error.code === 'CONFIRMATION_REQUIRED' && (await confirmed())) continue
      if (error.code !== 'INVALID_ACCESS_TOKEN') throw error
      if (session.getState().token === token && token !== '') signedOut(true)
      if (!session.getState().expired) throw error
    }
  }
}

/** Of requests of the studio itself: charts do not count them, and the user log shows them on request. */
export function studioHeaders(): Record<string, string> {
  return { ...tokenHeader(), 'x-quoin-studio': '1' }
}

/** The header with the access token; empty without a sign-in. */
export function tokenHeader(): Record<string, string> {
  const { token } = session.getState()
  return token === '' ? {} : { authorization: `Bearer ${token}` }
}

export function address(path: string, query: CallOptions['query'] = {}): string {
  const words = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) if (value !== undefined) words.set(name, String(value))
  return `${path.startsWith('/metrics') ? '' : BASE}${path}${words.size > 0 ? `?${words}` : ''}`
}

/** As `fetch`. Throws {@link ApiError} in plain words where no reply came, and not what each browser calls it. */
export async function reached(url: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, init)
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error
    throw unreachable()
  }
}

async function page<T>(response: Response): Promise<RecordPage<T>> {
  const records = (await response.json()) as T[]
  const total = Number(response.headers.get('x-total-count') ?? records.length)
  return { records, total, next: response.headers.get('x-next-cursor') ?? undefined }
}
