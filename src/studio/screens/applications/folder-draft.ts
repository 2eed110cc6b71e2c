/** A folder of this computer as changes of a draft. Pure. */
import { type Files, isBesideApplication } from '../../../shared/application/application-files.ts'
import { isJsonObject } from '../../../shared/json.ts'
import { applicationsTexts } from '../../texts/applications.ts'

/** As the API takes it: see `shared/api/blueprints/drafts.ts`. */
const PATH = /^[A-Za-z0-9_.-]{1,120}(?:\/[A-Za-z0-9_.-]{1,120})?$/
const MOST_OF_FILE = 1024 * 1024
const MOST_FILES = 5_000
const MOST_CHANGES = 200
/** Of one request, which may have 4 MiB: a line end of a text takes two characters of it. */
const MOST_BYTES = 3 * 1024 * 1024

export interface FolderFile {
  /** With the name of the folder first: `crm/blueprints/deals.json`. */
  readonly path: string
  readonly size: number
  text(): Promise<string>
}

export type FileChange =
  | { readonly path: string; readonly text: string }
  | { readonly path: string; readonly remove: true }

/** The files of an application by their paths inside the folder. Throws an Error that names what cannot be part of one. */
export async function readFolderFiles(files: readonly FolderFile[]): Promise<Files> {
  const found = files
    .map((file) => ({ ...inside(file), file }))
    .filter(({ path, top }) => path !== '' && !isBesideApplication(top))
  if (found.length > MOST_FILES) throw new Error(applicationsTexts.tooMany(MOST_FILES))
  const texts = new Map<string, string>()
  for (const { path, file } of found) {
    if (!PATH.test(path)) throw new Error(applicationsTexts.badPath(path))
    if (file.size > MOST_OF_FILE) throw new Error(applicationsTexts.tooLarge(path))
    texts.set(path, await file.text())
  }
  return texts
}

function inside({ path }: FolderFile): { readonly path: string; readonly top: string } {
  const [, ...parts] = path.split('/')
  return { path: parts.join('/'), top: parts[0] ?? '' }
}

/** The `name` of quoin.json. */
export function nameInFolder(files: Files): string {
  try {
    const about: unknown = JSON.parse(files.get('quoin.json') ?? '')
    if (isJsonObject(about) && typeof about.name === 'string' && about.name !== '') return about.name
  } catch {
    // Said below, as for a folder without the file.
  }
  throw new Error(applicationsTexts.noQuoinFile)
}

/** What makes the draft the folder. `present`: as the cluster has the application; `drafted`: paths that the draft has changed before. */
export function folderChanges(
  folder: Files,
  present: Files,
  drafted: readonly string[],
): readonly FileChange[] {
  const before = new Set([...present.keys(), ...drafted])
  const isSame = (path: string) => !drafted.includes(path) && folder.get(path) === present.get(path)
  return [
    ...[...folder].filter(([path]) => !isSame(path)).map(([path, text]) => ({ path, text })),
    ...[...before].filter((path) => !folder.has(path)).map((path) => ({ path, remove: true as const })),
  ]
}

/** As many requests as they need: each has at most 200 changes and 3 MiB. */
export function inRequests(changes: readonly FileChange[]): readonly (readonly FileChange[])[] {
  const requests: FileChange[][] = []
  let bytes = MOST_BYTES
  for (const change of changes) {
    const size = new TextEncoder().encode(JSON.stringify(change)).length
    const last = requests.at(-1)
    if (last === undefined || last.length >= MOST_CHANGES || bytes + size > MOST_BYTES) {
      requests.push([change])
      bytes = size
    } else {
      last.push(change)
      bytes += size
    }
  }
  return requests
}
