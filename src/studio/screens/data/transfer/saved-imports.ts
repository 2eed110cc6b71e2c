/** What imports have brought so far, and the lines that are wrong yet: they stay when the dialog is closed or the tab is reloaded, until they are dismissed. */
import { useStore } from 'zustand'
import { createStore } from 'zustand/vanilla'
import type { Imported } from '../../../../shared/api/data/documents.ts'
import { meQuery } from '../../../api/account.ts'
import { ApiError } from '../../../api/api-error.ts'
import { queryClient } from '../../../api/query-client.ts'
import { session } from '../../../api/session.ts'
import { type ImportDraft, importFile, importLines } from './import-file.ts'
import {
  deleteImports,
  type Imports,
  type SavedImport,
  storedImports,
  storeImports,
} from './stored-imports.ts'
import { afterSent, mendedText, problemsIn, type WrongLines, wrongLinesOf } from './wrong-lines.ts'

/** So many wrong lines are listed; there may be more. */
export const MOST_LISTED = 1_000

/** Milliseconds after a change, such as a typed letter. */
const STORE_AFTER = 300

/** By the guid of the storage. */
const imports = createStore<Imports>(() => ({}))
// Where the browser forbids it, they last as long as the tab.
const ignored = () => undefined

async function store(all: Imports): Promise<void> {
  const { _meta } = await queryClient.fetchQuery(meQuery)
  await storeImports(_meta.guid, all)
}

async function restore(): Promise<void> {
  const stored = await storedImports(async () => {
    const { _meta } = await queryClient.fetchQuery({ ...meQuery, staleTime: 0 })
    return _meta.guid
  })
  if (session.getState().token !== '') imports.setState((now) => ({ ...stored, ...now }))
}

let storing: ReturnType<typeof setTimeout> | undefined
imports.subscribe((all, before) => {
  clearTimeout(storing)
  // What was dismissed or undone must not come back with a reload that follows at once.
  const isGone = Object.keys(before).some((storage) => !(storage in all))
  storing = setTimeout(() => void store(all).catch(ignored), isGone ? 0 : STORE_AFTER)
})

// They hold documents, which the next user of this browser may not see. Where the session has expired, its user may come back.
session.subscribe(({ token, expired }, before) => {
  if (token !== '' && before.token === '') void restore().catch(ignored)
  if (token !== '') return
  imports.setState({}, true)
  clearTimeout(storing)
  if (!expired) void deleteImports().catch(ignored)
})
if (session.getState().token !== '') void restore().catch(ignored)

export function useSavedImport(storage: string): SavedImport | undefined {
  return useStore(imports, (all) => all[storage])
}

function keepImport(saved: SavedImport): void {
  imports.setState({ [saved.draft.storage]: saved })
}

export function dismissImport(storage: string): void {
  const { [storage]: _dismissed, ...others } = imports.getState()
  imports.setState(others, true)
}

/** The wrong lines with other texts in their cells. */
export function changeLines(saved: SavedImport, lines: WrongLines): void {
  keepImport({ ...saved, ...lines })
}

interface Sending {
  readonly onProgress: (share: number) => void
  readonly signal: AbortSignal
}

/** Imports a file. Keeps its wrong lines also where they refuse all of it; throws what has other causes. */
export async function beginImport(draft: ImportDraft, skip: boolean, sending: Sending): Promise<void> {
  const { columns } = draft.preview
  const none = { draft, columns, imported: 0, undo: [], refused: 0, refusedLines: undefined }
  try {
    const reply = await importFile(draft, skip, sending)
    keepImport(withReply({ ...none, lines: [], isPending: false }, reply))
  } catch (error) {
    const problems = error instanceof ApiError ? problemsIn(error.details.lines) : []
    if (problems.length === 0) throw error
    keepImport({ ...none, ...wrongLinesOf(problems, columns), isPending: true })
  }
}

/** What the import of the file itself has brought. */
function withReply(saved: SavedImport, reply: Imported): SavedImport {
  return {
    ...withCount(saved, reply),
    ...wrongLinesOf(problemsIn(reply.problems), saved.columns, saved.lines),
    isPending: false,
    refused: reply.refused ?? 0,
    refusedLines: reply.refused_lines,
  }
}

function withCount(saved: SavedImport, { imported, undo }: Imported): SavedImport {
  return {
    ...saved,
    imported: saved.imported + imported,
    undo: undo === undefined ? saved.undo : [...saved.undo, undo],
  }
}

/** Imports the lines of the file that are right, if that was not done yet, and then those that were mended: they alone are sent. */
export async function continueImport(begun: SavedImport, sending: Sending): Promise<void> {
  let saved = begun
  if (saved.isPending) {
    saved = withReply(saved, await importFile(saved.draft, true, sending))
    keepImport(saved)
  }
  const mended = mendedText(saved)
  if (mended.lines.length === 0) return
  const reply = await importLines(saved.draft, mended.text, sending)
  keepImport({ ...withCount(saved, reply), ...afterSent(saved, mended, problemsIn(reply.problems)) })
}
