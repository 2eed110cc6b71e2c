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

/** One for each storage: tabs write and delete their own, and not those of each other. */
interface StoredImport {
  /** Guid of the user whose it is. */
  readonly user: string
  readonly saved: SavedImport
}

const [DATABASE, STORE] = ['quoin', 'imports'] as const
/** In the first one, all were in one record. */
const VERSION = 2
/** Of one file. Refused lines of a larger one last as long as the tab. */
const MOST_BYTES = 50 * 1024 * 1024

/** Those of the user, who is asked for only where there are some. What another user has left is deleted. */
export async function storedImports(user: () => Promise<string>): Promise<Imports> {
  const stored: readonly unknown[] = await inStore('readonly', (store) => store.getAll())
  if (stored.length === 0) return {}
  const present = await user()
  if (!stored.every((one) => isStored(one) && one.user === present)) {
    await deleteImports()
    return {}
  }
  return Object.fromEntries(stored.filter(isStored).map(({ saved }) => [saved.draft.storage, saved]))
}

/** undefined: it is over. */
export async function storeImport(
  user: string,
  storage: string,
  saved: SavedImport | undefined,
): Promise<void> {
  const isWorth =
    saved !== undefined &&
    (saved.lines.length > 0 || saved.isPending) &&
    (!saved.isPending || saved.draft.file.size <= MOST_BYTES)
  const stored: StoredImport | undefined = isWorth ? { user, saved } : undefined
  if (stored) await inStore('readwrite', (store) => store.put(stored, storage))
  else await inStore('readwrite', (store) => store.delete(storage))
}

export async function deleteImports(): Promise<void> {
  await inStore('readwrite', (store) => store.clear())
}

function isStored(value: unknown): value is StoredImport {
  return isFields(value) && typeof value.user === 'string' && isFields(value.saved)
}

async function inStore<T>(
  mode: IDBTransactionMode,
  work: (store: IDBObjectStore) => IDBRequest<T>,
): Promise<T> {
  const opening = indexedDB.open(DATABASE, VERSION)
  opening.onupgradeneeded = () => {
    const { result } = opening
    if (result.objectStoreNames.contains(STORE)) result.deleteObjectStore(STORE)
    result.createObjectStore(STORE)
  }
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
