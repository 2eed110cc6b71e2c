/** What was done to documents in the grid, and how it is undone: not what another user has changed since. */

import type { Document } from '../../../../shared/api/data/documents.ts'
import { ApiError, messageOf } from '../../../api/api-error.ts'
import { call } from '../../../api/request.ts'
import { documentPath } from '../../../api/storages.ts'
import { documentsTexts } from '../../../texts/documents.ts'
import { valueAt } from '../documents/document-shape.ts'

/** Values of one document by name of field. */
export interface DocumentChange {
  readonly guid: string
  readonly before: ReadonlyMap<string, unknown>
  readonly after: ReadonlyMap<string, unknown>
}

export type UndoStep =
  | { readonly kind: 'changed'; readonly changes: readonly DocumentChange[] }
  | { readonly kind: 'removed'; readonly guids: readonly string[] }

/** How often a write is sent again because others change the same document. */
const MOST_TRIES = 5

export function sizeOf(step: UndoStep): number {
  return step.kind === 'changed' ? step.changes.length : step.guids.length
}

/** Finishes “Undo the …”. */
export function wordsFor(step: UndoStep): string {
  const count = sizeOf(step)
  const documents = documentsTexts.documentCount(count, count.toLocaleString())
  return step.kind === 'changed' ? documentsTexts.changeOf(documents) : documentsTexts.removalOf(documents)
}

/** The pieces of the work: each gives why it was not done, or nothing. What throws has not been answered by the server. */
export function piecesOf(storage: string, step: UndoStep): readonly (() => Promise<readonly string[]>)[] {
  if (step.kind === 'removed') return step.guids.map((guid) => () => restored(storage, guid))
  return step.changes.map((change) => () => putBack(storage, change))
}

async function restored(storage: string, guid: string): Promise<readonly string[]> {
  try {
    await call('POST', `${documentPath(storage, guid)}/restore`)
    return []
  } catch (error) {
    return [reasonOf(error, guid)]
  }
}

/** Fields that hold something else by now stay as they are; the others get what they held before. */
async function putBack(storage: string, { guid, before, after }: DocumentChange): Promise<readonly string[]> {
  const path = documentPath(storage, guid)
  for (let tries = 1; ; tries += 1) {
    try {
      const now = await call<Document>('GET', path)
      const { fields, conflicts } = compared(now, before, after)
      if (Object.keys(fields).length > 0)
        await call('PUT', path, { body: fields, query: { update_hash: now._meta.update_hash } })
      return conflicts
    } catch (error) {
      const isStale = error instanceof ApiError && error.code === 'CONFLICT' && error.fields.length === 0
      if (!isStale || tries === MOST_TRIES) return [reasonOf(error, guid)]
    }
  }
}

/** What to write to a document, and why the rest of it is not written. */
export function compared(
  now: Document,
  before: ReadonlyMap<string, unknown>,
  after: ReadonlyMap<string, unknown>,
): { readonly fields: Readonly<Record<string, unknown>>; readonly conflicts: readonly string[] } {
  const fields: Record<string, unknown> = {}
  const conflicts: string[] = []
  for (const [name, value] of before) {
    const present = valueAt(now, name)
    if (isSame(present, value)) continue
    if (isSame(present, after.get(name))) fields[name] = value ?? null
    else conflicts.push(documentsTexts.undoChanged(name, now._meta.guid, JSON.stringify(present ?? null)))
  }
  return { fields, conflicts }
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one ?? null) === JSON.stringify(other ?? null)
}

/** Throws what is no answer of the server: the step can be tried again then. */
function reasonOf(error: unknown, guid: string): string {
  const isAnswer =
    error instanceof ApiError && error.status >= 400 && error.status < 500 && error.status !== 401
  if (!isAnswer) throw error
  return documentsTexts.undoRemoved(error.status, guid, messageOf(error))
}
