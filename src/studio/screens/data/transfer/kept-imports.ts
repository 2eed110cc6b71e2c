/** What imports have brought so far, and the lines that are wrong yet: they stay when the dialog is closed, until they are dismissed. */
import { useStore } from 'zustand'
import { createStore } from 'zustand/vanilla'
import type { Imported } from '../../../../shared/api/data/documents.ts'
import { ApiError } from '../../../api/api-error.ts'
import { session } from '../../../api/session.ts'
import { type ImportDraft, importFile, importLines } from './import-file.ts'
import { afterSent, mendedText, problemsIn, type WrongLines, wrongLinesOf } from './wrong-lines.ts'

/** So many wrong lines are listed; there may be more. */
export const MOST_LISTED = 1_000

export interface KeptImport extends WrongLines {
  readonly draft: ImportDraft
  /** None of the file was imported yet, since it has wrong lines. */
  readonly isPending: boolean
  /** Documents that were made. */
  readonly imported: number
  /** Guids of the imports that can be undone. */
  readonly undo: readonly string[]
  /** Lines that were left out, and their numbers where not all of them are listed. */
  readonly refused: number
  readonly refusedLines: string | undefined
}

/** By the guid of the storage. */
const imports = createStore<Readonly<Record<string, KeptImport>>>(() => ({}))
// They hold documents, which the next user of this browser may not see.
session.subscribe(({ token }) => {
  if (token === '') imports.setState({}, true)
})

export function useKeptImport(storage: string): KeptImport | undefined {
  return useStore(imports, (all) => all[storage])
}

function keepImport(kept: KeptImport): void {
  imports.setState({ [kept.draft.storage]: kept })
}

export function dismissImport(storage: string): void {
  const { [storage]: _dismissed, ...others } = imports.getState()
  imports.setState(others, true)
}

/** The wrong lines with other texts in their cells. */
export function changeLines(kept: KeptImport, lines: WrongLines): void {
  keepImport({ ...kept, ...lines })
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
function withReply(kept: KeptImport, reply: Imported): KeptImport {
  return {
    ...withCount(kept, reply),
    ...wrongLinesOf(problemsIn(reply.problems), kept.columns, kept.lines),
    isPending: false,
    refused: reply.refused ?? 0,
    refusedLines: reply.refused_lines,
  }
}

function withCount(kept: KeptImport, { imported, undo }: Imported): KeptImport {
  return {
    ...kept,
    imported: kept.imported + imported,
    undo: undo === undefined ? kept.undo : [...kept.undo, undo],
  }
}

/** Imports the lines of the file that are right, if that was not done yet, and then those that were mended: they alone are sent. */
export async function continueImport(begun: KeptImport, sending: Sending): Promise<void> {
  let kept = begun
  if (kept.isPending) {
    kept = withReply(kept, await importFile(kept.draft, true, sending))
    keepImport(kept)
  }
  const mended = mendedText(kept)
  if (mended.lines.length === 0) return
  const reply = await importLines(kept.draft, mended.text, sending)
  keepImport({ ...withCount(kept, reply), ...afterSent(kept, mended, problemsIn(reply.problems)) })
}
