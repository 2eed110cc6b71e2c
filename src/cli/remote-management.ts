import { Agent, fetch, type Response } from 'undici'
import { bodyOf, type Management, Refused } from './management.ts'

/**
 * No limit on the answer: activating a blueprint whose storages are full makes indexes and free text, which may take an
 * hour. A server that is gone is noticed by its connection; `activate-blueprint.ts` shows how far it is.
 */
const PATIENT = { headersTimeout: 0, bodyTimeout: 0, connect: { timeout: 10_000 } }

/** A running server by its address, as `serverAddress` gives it. Without a token it is only asked for one. */
export function remoteManagement(address: string, token?: string): Management {
  const base = `${address}/api/v1`
  const agent = new Agent(PATIENT)
  const closing = new AbortController()
  return {
    async call(method, path, body) {
      const response = await send(`${base}${path}`, {
        method,
        headers: {
          ...(token !== undefined && { authorization: `Bearer ${token}` }),
          ...(body !== undefined && { 'content-type': 'application/json' }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
        // A redirect could send the request, with its token, to another server.
        redirect: 'error',
        dispatcher: agent,
      })
      return bodyOf(response.status, response.text)
    },
    async upload(path, { type, body }) {
      const response = await send(`${base}${path}`, {
        method: 'POST',
        headers: {
          ...(token !== undefined && { authorization: `Bearer ${token}` }),
          'content-type': type,
        },
        body,
        duplex: 'half',
        redirect: 'error',
        dispatcher: agent,
      })
      return bodyOf(response.status, response.text)
    },
    async download(path) {
      const url = `${base}${path}`
      const response = await fetch(url, {
        headers: { ...(token !== undefined && { authorization: `Bearer ${token}` }) },
        redirect: 'error',
        dispatcher: agent,
        signal: closing.signal,
      }).catch((error: unknown) => noAnswer(url, error))
      if (!response.ok) bodyOf(response.status, await response.text())
      return piecesOf(url, response)
    },
    close() {
      // The agent waits for replies that are not read to their ends.
      closing.abort()
      return agent.close()
    },
  }
}

async function send(
  url: string,
  request: Parameters<typeof fetch>[1],
): Promise<{ status: number; text: string }> {
  try {
    const response = await fetch(url, request)
    return { status: response.status, text: await response.text() }
  } catch (error) {
    return noAnswer(url, error)
  }
}

async function* piecesOf(url: string, { body }: Response): AsyncGenerator<Buffer> {
  try {
    for await (const piece of body ?? []) yield Buffer.from(piece)
  } catch (error) {
    noAnswer(url, error)
  }
}

function noAnswer(url: string, error: unknown): never {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  const reason = cause instanceof Error ? cause.message : String(cause)
  throw new Refused(`No answer from ${new URL(url).origin}: ${reason}.`, 0)
}
