import type { RunSummary } from '../../api/runs.ts'

/** As many as the server gives at once. */
const MOST = 100

/** The list with a run as it is now: in its place if it is in it, else by when it began, the newest first. */
export function withRun(list: readonly RunSummary[], run: RunSummary): readonly RunSummary[] {
  const at = list.findIndex(({ guid }) => guid === run.guid)
  if (at >= 0) return list.with(at, run)
  const behind = list.findIndex(({ started }) => started <= run.started)
  return list.toSpliced(behind < 0 ? list.length : behind, 0, run).slice(0, MOST)
}
