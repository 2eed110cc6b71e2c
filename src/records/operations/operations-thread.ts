import { Worker } from 'node:worker_threads'
import { boundedQueue } from '../../shared/cooperative.ts'
import { invalidField, type QuoinError } from '../../shared/errors.ts'
import type { FoundOperations } from './read-operations.ts'

/** An operation as it is stored. `content`: JSON of the operation, its types and its sign-in, as Base64 of gzip. */
export interface PackedOperation {
  readonly operation: string
  readonly hash: string
  readonly title: string
  readonly method: string
  readonly path: string
  readonly group: string
  readonly content: string
}

interface WholeDocument extends Omit<FoundOperations, 'operations'> {
  readonly hash: string
  /** Base64 of gzip. */
  readonly text: string
}

export type ThreadAnswer =
  | { readonly operations: readonly PackedOperation[] }
  | { readonly whole: WholeDocument }
  | { readonly problem: string }

export interface PackedDocument extends WholeDocument {
  readonly operations: readonly PackedOperation[]
}

export const MOST_DOCUMENT_BYTES = 32 * 1024 * 1024
const LONGEST_MS = 30_000
const MOST_MEMORY_MB = 768

/** Of the process, whatever spaces it has: the memory is its own. */
const turn = boundedQueue({
  ...{ atOnce: 1, waiting: 4, retryAfter: 5 },
  refusal: 'Too many OpenAPI documents are being read right now. Try again soon.',
})

/**
 * Reads an OpenAPI document in a thread of its own, one at a time: one of 13 MB takes 1.5 s. Throws INVALID_BODY for one that cannot
 * be used, which says why, and UNAVAILABLE where too many wait. With the signal the thread ends.
 */
export function packedDocument(bytes: Uint8Array, signal?: AbortSignal): Promise<PackedDocument> {
  return turn(async () => {
    if (signal?.aborted) throw left()
    return inThread(bytes, signal)
  })
}

/** No fault: it is logged as what a client did. */
function left(): QuoinError {
  return invalidField('document', 'This document is no longer asked for.')
}

function inThread(bytes: Uint8Array, signal: AbortSignal | undefined): Promise<PackedDocument> {
  const worker = new Worker(new URL('./operations-thread-program.ts', import.meta.url), {
    workerData: bytes,
    resourceLimits: { maxOldGenerationSizeMb: MOST_MEMORY_MB },
  })
  const operations: PackedOperation[] = []
  const ended = new AbortController()
  return new Promise<PackedDocument>((resolve, reject) => {
    const refuse = (message: string) => reject(invalidField('document', message))
    const timer = setTimeout(
      () => refuse(`The document could not be read within ${LONGEST_MS / 1000} s.`),
      LONGEST_MS,
    )
    signal?.addEventListener('abort', () => reject(left()), { signal: ended.signal })
    worker.on('message', (answer: ThreadAnswer) => {
      if ('operations' in answer) operations.push(...answer.operations)
      else if ('problem' in answer) refuse(answer.problem)
      else resolve({ ...answer.whole, operations })
    })
    worker.once('error', (error: NodeJS.ErrnoException) =>
      error.code === 'ERR_WORKER_OUT_OF_MEMORY'
        ? refuse('The document takes too much memory to be read.')
        : reject(error),
    )
    worker.once('exit', () => {
      clearTimeout(timer)
      reject(new Error('The thread that reads a document ended without a word.'))
    })
  }).finally(() => {
    ended.abort()
    return worker.terminate()
  })
}
