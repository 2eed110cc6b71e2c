import { UsageError } from './command.ts'
import { bodyOf, type Management, Refused } from './management.ts'

/** Longer than any management request takes; activating a large blueprint makes indexes. */
const TIMEOUT_MS = 120_000

/** A running server. `url` is its address, with or without /api/v1. Throws UsageError for what is no address. */
export function remoteManagement(url: string, token: string): Management {
  const base = baseOf(url)
  return {
    async call(method, path, body) {
      const response = await send(`${base}${path}`, {
        method,
        headers: {
          authorization: `Bearer ${token}`,
          ...(body !== undefined && { 'content-type': 'application/json' }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
        // A redirect would carry the request, and perhaps the token, to somebody who was not named.
        redirect: 'error',
        signal: AbortSignal.timeout(TIMEOUT_MS),
      })
      return bodyOf(response.status, response.text)
    },
    close: async () => undefined,
  }
}

function baseOf(url: string): string {
  if (!URL.canParse(url) || !/^https?:\/\//i.test(url))
    throw new UsageError('--url takes an address such as http://127.0.0.1:8080.')
  const parsed = new URL(url)
  if (parsed.username !== '' || parsed.password !== '')
    throw new UsageError('--url must not hold a password: others can read what is typed. Set QUOIN_TOKEN.')
  return `${parsed.origin}${parsed.pathname.replace(/\/+$/, '').replace(/\/api\/v1$/, '')}/api/v1`
}

async function send(url: string, request: RequestInit): Promise<{ status: number; text: string }> {
  try {
    const response = await fetch(url, request)
    return { status: response.status, text: await response.text() }
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new Refused(`No answer from ${new URL(url).origin}: ${reason}.`, 0)
  }
}
