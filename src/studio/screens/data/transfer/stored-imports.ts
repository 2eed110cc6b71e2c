/** Imports with refused lines over a reload of the tab, in the IndexedDB of the browser: their files are among them. */
import { isFields } from '../documents/document-shape.ts'
import type { ImportDraft } from './import-file.ts'
import type { ImportedLines, SentLines } from './wrong-lines.ts'

export interface SavedImport extends ImportedLines {
  readonly draft: ImportDraft
  /** Sent, and not answered: it is sent again as it was before anything else is. */
  readonly unanswered?: Unanswered | undefined
}

interface Unanswered {
  readonly id: string
  /** undefined: the file. */
  readonly sent: SentLines | undefined
}

/** By the guid of the storage. */
export type Imports = Readonly<Record<string, SavedImport>>

interface StoredImports {
  /** Guid of the user whose they are. */
  readonly user: string
  readonly imports: Imports
}

const [DATABASE, STORE, KEY] = ['quoin', 'imports', 'refused'] as const
/** Of one file. Refused lines of a larger one last as long as the tab. */
const MOST_BYTES = 50 * 1024 * 1024

/** Those of the user, who is asked for only where there are some. What another user has left is deleted. */
export async function storedImports(user: () => Promise<string>): Promise<Imports> {
  const stored: unknown = await inStore('readonly', (store) => store.get(KEY))
  if (stored === undefined) return {}
  if (isStored(stored) && stored.user === (await user())) return stored.imports
  await deleteImports()
  return {}
}

export async function storeImports(user: string, imports: Imports): Promise<void> {
  const some = Object.entries(imports).filter(
    ([, { lines, isPending, draft }]) =>
      (lines.length > 0 || isPending) && (!isPending || draft.file.size <= MOST_BYTES),
  )
  if (some.length === 0) return deleteImports()
  const stored: StoredImports = { user, imports: Object.fromEntries(some) }
  await inStore('readwrite', (store) => store.put(stored, KEY))
}

export async function deleteImports(): Promise<void> {
  await inStore('readwrite', (store) => store.delete(KEY))
}

function isStored(value: unknown): value is StoredImports {
  return isFields(value) && typeof value.user === 'string' && isFields(value.imports)
}

async function inStore<T>(
  mode: IDBTransactionMode,
  work: (store: IDBObjectStore) => IDBRequest<T>,
): Promise<T> {
  const opening = indexedDB.open(DATABASE, 1)
  opening.onupgradeneeded = () => opening.result.createObjectStore(STORE)
  const database = await done(opening)
  try {
    return await done(work(database.transaction(STORE, mode).objectStore(STORE)))
  } finally {
    database.close()
  }
}

function done<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => reject(request.error)
  })
}
