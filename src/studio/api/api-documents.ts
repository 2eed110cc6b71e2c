/** OpenAPI documents of connections, and the operations in them. */
import type {
  ApiDocumentRecord,
  ListedOperation,
  ReplacedDocumentReply,
  WholeOperation,
} from '../../shared/api/operate/operations.ts'
import { ApiError, errorFromReply } from './api-error.ts'
import { queryClient } from './query-client.ts'
import { address, call, reached, search, studioHeaders } from './request.ts'

const pathOf = (connection: string) => `/_system/connections/${connection}/document`

/** Undefined where the connection has none. */
export async function apiDocument(
  connection: string,
  signal: AbortSignal,
): Promise<ApiDocumentRecord | null> {
  try {
    return await call<ApiDocumentRecord>('GET', pathOf(connection), { signal })
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return null
    throw error
  }
}

async function replaced(reply: ReplacedDocumentReply): Promise<ReplacedDocumentReply> {
  await queryClient.invalidateQueries({ queryKey: ['api-document'] })
  return reply
}

export async function fetchApiDocument(connection: string, url: string): Promise<ReplacedDocumentReply> {
  const body = url === '' ? {} : { url }
  return replaced(await call<ReplacedDocumentReply>('POST', `${pathOf(connection)}/fetch`, { body }))
}

/** The file as it is: a large one is not read here. */
export async function sendApiDocument(connection: string, file: File): Promise<ReplacedDocumentReply> {
  const headers = { ...studioHeaders(), 'content-type': 'application/octet-stream' }
  const response = await reached(address(pathOf(connection)), { method: 'PUT', headers, body: file })
  if (!response.ok) throw errorFromReply(response.status, await response.text())
  return replaced(await response.json())
}

/** Those that have the words, at most so many. */
export async function findOperations(
  words: string,
  limit: number,
  signal: AbortSignal,
): Promise<readonly ListedOperation[]> {
  return (await search<ListedOperation>('/_system/operations/search', { query: words, limit }, signal))
    .records
}

export function wholeOperation(guid: string): Promise<WholeOperation> {
  return call<WholeOperation>('GET', `/_system/operations/${guid}`)
}
