import { Agent, fetch } from 'undici'
import { bodyOf, type Management, Refused } from './management.ts'
import { UsageError } from './read-words.ts'

/**
 * No limit on the answer: activating a blueprint whose storages are full makes indexes and free text, which may take an
 * hour. A server that is gone is noticed by its connection; `activate-blueprint.ts` shows how far it is.
 */
const PATIENT = { headersTimeout: 0, bodyTimeout: 0, connect: { timeout: 10_000 } }

/** A running server. `url` is its address, with or without /api/v1. Throws UsageError for an invalid address. */
export function remoteManagement(url: string, token: string): Management {
  const base = baseOf(url)
  const agent = new Agent(PATIENT)
  return {
    async call(method, path, body) {
      const response = await send(`${base}${path}`, {
        method,
        headers: {
          authorization: `Bearer ${token}`,
          ...(body !== undefined && { 'content-type': 'application/json' }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
        // A redirect could send the request, with its token, to another server.
        redirect: 'error',
        dispatcher: agent,
      })
      return bodyOf(response.status, response.text)
    },
    close: () => agent.close(),
  }
}

function baseOf(url: string): string {
  if (!URL.canParse(url) || !/^https?:\/\//i.test(url))
    throw new UsageError('--url takes an address such as http://127.0.0.1:8080.')
  const parsed = new URL(url)
  if (parsed.username !== '' || parsed.password !== '')
    throw new UsageError(
      '--url must not contain a password: other users of this machine can read a command line. Set QUOIN_TOKEN.',
    )
  return `${parsed.origin}${parsed.pathname.replace(/\/+$/, '').replace(/\/api\/v1$/, '')}/api/v1`
}

async function send(
  url: string,
  request: Parameters<typeof fetch>[1],
): Promise<{ status: number; text: string }> {
  try {
    const response = await fetch(url, request)
    return { status: response.status, text: await response.text() }
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new Refused(`No answer from ${new URL(url).origin}: ${reason}.`, 0)
  }
}
