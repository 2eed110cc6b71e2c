/** What was done to documents in the grid, and the requests that undo it and do it again: not what another user has changed since. */

import type { PutBackReply } from '../../../../shared/api/data/documents.ts'
import { documentsTexts } from '../../../texts/documents.ts'

/** Values of one document by name of field. */
export interface DocumentChange {
  readonly guid: string
  readonly before: ReadonlyMap<string, unknown>
  readonly after: ReadonlyMap<string, unknown>
}

export type UndoStep =
  | { readonly kind: 'changed'; readonly changes: readonly DocumentChange[] }
  | { readonly kind: 'removed'; readonly guids: readonly string[] }

/** In one request, which is one transaction. */
const MOST_AT_ONCE = 1_000
/** Characters of a request, so that it fits into the smallest limit of bodies. */
const LARGEST = 256 * 1024

export function sizeOf(step: UndoStep): number {
  return step.kind === 'changed' ? step.changes.length : step.guids.length
}

/** Finishes “Undo the …”. */
export function wordsFor(step: UndoStep): string {
  const count = sizeOf(step)
  const documents = documentsTexts.documentCount(count, count.toLocaleString())
  return step.kind === 'changed' ? documentsTexts.changeOf(documents) : documentsTexts.removalOf(documents)
}

export interface UndoRequest {
  readonly path: 'put-back' | 'remove-many'
  readonly body: object
}

/** Sent one after the other: one for up to 1,000 documents, more where they are many or long. */
export function requestsOf(step: UndoStep, way: 'undo' | 'redo'): readonly UndoRequest[] {
  if (step.kind === 'removed') {
    const pieces = inPieces(step.guids)
    return way === 'undo'
      ? pieces.map((restore) => ({ path: 'put-back', body: { restore } }))
      : pieces.map((guids) => ({ path: 'remove-many', body: { guids } }))
  }
  const changes = merged(step.changes).map(({ guid, before, after }) => {
    const [from, to] = way === 'undo' ? [after, before] : [before, after]
    const values = (of: ReadonlyMap<string, unknown>) =>
      Object.fromEntries([...before.keys()].map((name) => [name, of.get(name) ?? null]))
    return { guid, from: values(from), to: values(to) }
  })
  return inPieces(changes).map((piece) => ({ path: 'put-back', body: { changes: piece } }))
}

/** A request names each document once: of two writes to a field the first says what it was, the last what it is. */
function merged(changes: readonly DocumentChange[]): readonly DocumentChange[] {
  const byGuid = new Map<string, DocumentChange>()
  for (const { guid, before, after } of changes) {
    const first = byGuid.get(guid)
    byGuid.set(guid, {
      guid,
      before: new Map([...before, ...(first?.before ?? [])]),
      after: new Map([...(first?.after ?? []), ...after]),
    })
  }
  return [...byGuid.values()]
}

function inPieces<T>(all: readonly T[]): readonly (readonly T[])[] {
  const pieces: T[][] = []
  let left = 0
  for (const one of all) {
    const size = JSON.stringify(one).length
    const last = pieces.at(-1)
    if (last && size <= left && last.length < MOST_AT_ONCE) {
      last.push(one)
      left -= size
    } else {
      pieces.push([one])
      left = LARGEST - size
    }
  }
  return pieces
}

/** A sentence for each document that stays as it is. */
export function conflictsIn({ left = [] }: Partial<PutBackReply>): readonly string[] {
  return left.map(({ guid, message }) => documentsTexts.undoLeft(guid, message))
}

/**
 * Does what is asked one by one: what is pressed while the one before still goes is done behind it, never dropped. At most
 * `most` wait (a key that is kept down asks again 30 times a second). One that fails ends those that wait behind it.
 */
export function oneByOne<T>(most: number, run: (one: T) => Promise<void>): (one: T) => Promise<void> {
  const waiting: T[] = []
  let isRunning = false
  return async (one) => {
    if (waiting.length < most) waiting.push(one)
    if (isRunning) return
    isRunning = true
    try {
      for (let next = waiting[0]; next !== undefined; next = waiting[0]) {
        waiting.shift()
        await run(next)
      }
    } finally {
      waiting.length = 0
      isRunning = false
    }
  }
}
