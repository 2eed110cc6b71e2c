/** The list of runs as it was read: part by part, and what happened since put in between. */
import type { InfiniteData } from '@tanstack/react-query'
import type { RunSummary } from '../../../../shared/api/blueprints/runs.ts'
import type { RecordPage } from '../../../../shared/record-page.ts'

type Part = RecordPage<RunSummary>
type Parts = InfiniteData<Part>

/** A blueprint keeps 200 at most. What is told beyond that, while one looks, is read again when it is asked for. */
const MOST = 400

/** Did it fail, for the run itself or for its caller? As the server's filter has it. */
export function isFailed({ status, reply }: RunSummary): boolean {
  return status === 'failed' || (reply !== null && reply.status >= 400)
}

/** The runs of all parts. Where one came in while they were read, the last of a part is the first of the next too. */
export function runsOf(parts: readonly Part[]): readonly RunSummary[] {
  const runs = new Map<string, RunSummary>()
  for (const run of parts.flatMap(({ records }) => records)) if (!runs.has(run.guid)) runs.set(run.guid, run)
  return [...runs.values()]
}

/** Where the next part begins; undefined: there is none. */
export function nextOffset(parts: readonly Part[]): number | undefined {
  const last = parts.at(-1)
  if (!last || last.records.length === 0) return undefined
  const read = runsOf(parts).length
  return read < last.total ? read : undefined
}

/** The list with a run as it is now: in its place if it is in it, else by when it began, the newest first. */
export function withRun({ pages, pageParams }: Parts, run: RunSummary): Parts {
  const isIn = pages.some(({ records }) => records.some(({ guid }) => guid === run.guid))
  if (isIn)
    return { pages: pages.map((part) => ({ ...part, records: replaced(part.records, run) })), pageParams }
  const all = runsOf(pages)
  const behind = all.findIndex(({ started }) => started <= run.started)
  const records = all.toSpliced(behind < 0 ? all.length : behind, 0, run).slice(0, MOST)
  const total = (pages.at(-1)?.total ?? 0) + 1
  return { pages: [{ records, total, next: undefined }], pageParams: [0] }
}

function replaced(records: readonly RunSummary[], run: RunSummary): readonly RunSummary[] {
  return records.map((one) => (one.guid === run.guid ? run : one))
}
