/** What imports have brought so far, and the lines that are wrong yet: they stay when the dialog is closed or the tab is reloaded, until they are dismissed. */
import { useStore } from 'zustand'
import { createStore } from 'zustand/vanilla'
import { sameJson } from '../../../../shared/json.ts'
import { meQuery } from '../../../api/account.ts'
import { ApiError } from '../../../api/api-error.ts'
import { queryClient } from '../../../api/query-client.ts'
import { session, untilSignedIn } from '../../../api/session.ts'
import { type ImportDraft, importFile, importLines, newImport } from './import-file.ts'
import {
  deleteImports,
  type Imports,
  type SavedImport,
  storedImports,
  storeImport,
} from './stored-imports.ts'
import {
  mendedText,
  problemsIn,
  type SentLines,
  type WrongLines,
  withLines,
  withReply,
  wrongLinesOf,
} from './wrong-lines.ts'

/** So many wrong lines are listed; there may be more. */
export const MOST_LISTED = 1_000

/** Milliseconds after a change, such as a typed letter. */
const STORE_AFTER = 300

/** By the guid of the storage. */
const imports = createStore<Imports>(() => ({}))
// Where the browser forbids it, they last as long as the tab.
const ignored = () => undefined

/** As the browser's store has them. */
let stored: Imports = {}

/** Those that have changed since: another tab has others, and may have ended some of these. */
async function store(): Promise<void> {
  const { _meta } = await queryClient.fetchQuery(meQuery)
  const [all, before] = [imports.getState(), stored]
  stored = all
  for (const storage of new Set([...Object.keys(before), ...Object.keys(all)]))
    if (all[storage] !== before[storage]) await storeImport(_meta.guid, storage, all[storage])
}

async function restore(): Promise<void> {
  const found = await storedImports(async () => {
    const { _meta } = await queryClient.fetchQuery({ ...meQuery, staleTime: 0 })
    return _meta.guid
  })
  if (session.getState().token === '') return
  stored = { ...found, ...stored }
  imports.setState((now) => ({ ...found, ...now }))
}

let storing: ReturnType<typeof setTimeout> | undefined
imports.subscribe((all, before) => {
  clearTimeout(storing)
  // What was dismissed or undone must not come back with a reload that follows at once.
  const isGone = Object.keys(before).some((storage) => !(storage in all))
  storing = setTimeout(() => void store().catch(ignored), isGone ? 0 : STORE_AFTER)
})

// They hold documents, which the next user of this browser may not see. Where the session has expired, its user may come back.
session.subscribe(({ token, expired }, before) => {
  if (token !== '' && before.token === '') void restore().catch(ignored)
  if (token !== '') return
  imports.setState({}, true)
  clearTimeout(storing)
  stored = {}
  begun.clear()
  if (!expired) {
    leaving.abort()
    leaving = new AbortController()
  }
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

/** Ends what is sent when its user signs out. */
let leaving = new AbortController()

interface Sender {
  readonly token: string
  readonly user: string
}

async function sender(): Promise<Sender> {
  return { token: session.getState().token, user: (await queryClient.ensureQueryData(meQuery))._meta.guid }
}

/** Whether the user who began is the one who is signed in: what an import has brought is not shown to another one. */
async function isStill({ token, user }: Sender): Promise<boolean> {
  if (session.getState().token === token) return true
  await untilSignedIn()
  if (session.getState().token === '') return false
  return (await queryClient.fetchQuery({ ...meQuery, staleTime: 0 }))._meta.guid === user
}

/** By the guid of the storage: what was sent last, so that it has the same name when it is sent again. */
const begun = new Map<string, { readonly draft: ImportDraft; readonly skip: boolean; readonly id: string }>()

function idOf(draft: ImportDraft, skip: boolean): string {
  const last = begun.get(draft.storage)
  const isSame =
    last?.draft.file === draft.file && last.skip === skip && sameJson(last.draft.reading, draft.reading)
  const id = isSame ? last.id : newImport()
  begun.set(draft.storage, { draft, skip, id })
  return id
}

/** Whether the file may have been imported all the same. */
export function isUnknown(error: unknown): boolean {
  return !(error instanceof ApiError) || error.status === 0 || error.status >= 500
}

/** Imports a file. Keeps its wrong lines also where they refuse all of it; throws what has other causes. */
export async function beginImport(draft: ImportDraft, skip: boolean, sending: Sending): Promise<void> {
  const { columns } = draft.preview
  const none = { draft, columns, imported: 0, undo: [], refused: 0, refusedLines: undefined }
  const by = await sender()
  try {
    const reply = await importFile(draft, { skip, id: idOf(draft, skip) }, untilLeft(sending))
    begun.delete(draft.storage)
    if (await isStill(by)) keepImport(withReply({ ...none, lines: [], isPending: false }, reply))
  } catch (error) {
    const problems = error instanceof ApiError ? problemsIn(error.details.lines) : []
    if (problems.length === 0) throw error
    if (await isStill(by)) keepImport({ ...none, ...wrongLinesOf(problems, columns), isPending: true })
  }
}

function untilLeft({ onProgress, signal }: Sending): Sending {
  return { onProgress, signal: AbortSignal.any([signal, leaving.signal]) }
}

/** Imports the lines of the file that are right, if that was not done yet, and then those that were mended: they alone are sent. */
export async function continueImport({ draft }: SavedImport, sending: Sending): Promise<void> {
  const by = await sender()
  const present = () => {
    const saved = imports.getState()[draft.storage]
    return saved?.draft === draft ? saved : undefined
  }
  /** Nothing where it was dismissed meanwhile. What was mended meanwhile stays. */
  const change = async (next: (saved: SavedImport) => SavedImport) => {
    if (!(await isStill(by))) return
    const saved = present()
    if (saved) keepImport(next(saved))
  }
  for (let saved = present(); saved; saved = present()) {
    const { id, sent } = saved.unanswered ?? { id: newImport(), sent: toSend(saved) }
    if (sent?.lines.length === 0) return
    const wasUnanswered = saved.unanswered !== undefined
    await change((now) => ({ ...now, unanswered: { id, sent } }))
    const request = sent
      ? importLines(draft, { text: sent.text, id }, untilLeft(sending))
      : importFile(draft, { skip: true, id }, untilLeft(sending))
    const reply = await request.catch(async (error: unknown) => {
      const isOpen = isUnknown(error) || (error instanceof ApiError && error.status === 409)
      if (!isOpen) await change((now) => ({ ...now, unanswered: undefined }))
      throw error
    })
    await change((now) => ({
      ...(sent ? withLines(now, sent, reply) : withReply(now, reply)),
      unanswered: undefined,
    }))
    // Lines that were refused wait for a person.
    if (sent && !wasUnanswered) return
  }
}

/** undefined: the file. */
function toSend(saved: SavedImport): SentLines | undefined {
  return saved.isPending ? undefined : mendedText(saved)
}
