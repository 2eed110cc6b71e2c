import { isJsonObject } from '../../src/shared/json.ts'
import type { Candidate } from '../candidates.ts'
import { guidIn } from '../management-api.ts'

/** The guids of the documents that a GET lists. */
export async function guidsOf({ base }: Candidate, path: string): Promise<string[]> {
  const reply = await fetch(`${base}/api/v1/${path}`)
  const documents: unknown = await reply.json()
  if (!reply.ok || !Array.isArray(documents))
    throw new Error(`GET ${path} was answered with ${reply.status}.`)
  return documents.filter(isJsonObject).map(guidIn)
}
