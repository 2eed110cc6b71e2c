import { isJsonObject } from '../src/shared/json.ts'
import type { Candidate } from './candidates.ts'
import { lines, post } from './large-bodies.ts'
import { storageGuid } from './management-api.ts'

/** Lines in one import: each is one journal, tried and then written. */
const PART = 100_000

/** Puts so many documents into a storage that is there. Rejects unless all of them are in. */
export async function importDocuments(
  { base, token }: Candidate,
  storage: string,
  count: number,
  document: (number: number) => string,
): Promise<void> {
  const guid = await storageGuid({ base, token }, storage)
  const url = `${base}/api/v1/_system/storages/${guid}/documents/import`
  for (let first = 0; first < count; first += PART) {
    const part = Math.min(PART, count - first)
    const answered = await post(
      url,
      token,
      lines(part, (number) => document(first + number)),
    )
    const reply: unknown = answered.status === 200 ? JSON.parse(answered.text) : undefined
    if (!isJsonObject(reply) || reply.imported !== part)
      throw new Error(`An import into ${storage} was answered with ${answered.status}: ${answered.text}`)
  }
}
