/** What the server knows of the runs of the open blueprint. */
import { infiniteQueryOptions, queryOptions, useQuery } from '@tanstack/react-query'
import type { Run } from '../../../shared/api/blueprints/runs.ts'
import { readTracing } from '../../api/operate.ts'
import { listRuns, pausedRuns, readRun } from '../../api/runs.ts'
import type { Catalogue } from '../model/block-description.ts'
import type { Flow } from '../model/flow.ts'
import { nextOffset } from '../model/runs/run-list.ts'
import { type RunView, runView } from '../model/runs/run-view.ts'
import { useEditorState } from '../state/editor-context.ts'

/** Tracing ends by itself, and others turn it on: asked for that often, in milliseconds. */
const TRACING_MS = 5_000
const UNDER_WAY_MS = 1_000

/** So many runs are read at once; the server takes 200. */
const AT_ONCE = 100

/** Everything about the list of runs begins with it. */
export const runsKey = (blueprint: string) => ['runs', blueprint] as const

/** The traced runs part by part, the newest first. `failed`: only those that went wrong. */
export const runsQuery = (blueprint: string, failed: boolean) =>
  infiniteQueryOptions({
    queryKey: [...runsKey(blueprint), { failed }],
    queryFn: ({ pageParam, signal }) =>
      listRuns(blueprint, { failed, limit: AT_ONCE, offset: pageParam }, signal),
    initialPageParam: 0,
    getNextPageParam: (_last, parts) => nextOffset(parts),
  })

/** How many runs there are, and how many of them went wrong. */
export const runCountsQuery = (blueprint: string) =>
  queryOptions({
    queryKey: [...runsKey(blueprint), 'counts'],
    queryFn: async ({ signal }) => {
      const ask = (failed: boolean) => listRuns(blueprint, { failed, limit: 0 }, signal)
      const [all, failed] = await Promise.all([ask(false), ask(true)])
      return { all: all.total, failed: failed.total }
    },
    refetchInterval: TRACING_MS,
  })

export const pausedQuery = (blueprint: string) =>
  queryOptions({
    queryKey: ['paused-runs', blueprint],
    queryFn: ({ signal }) => pausedRuns(blueprint, signal),
  })

export const tracingQuery = (blueprint: string) =>
  queryOptions({
    queryKey: ['tracing', blueprint],
    queryFn: ({ signal }) => readTracing(blueprint, signal),
    refetchInterval: TRACING_MS,
  })

/** A run that has ended never changes. */
export const runQuery = (guid: string) =>
  queryOptions({
    queryKey: ['run', guid],
    queryFn: ({ signal }) => readRun(guid, signal),
    staleTime: ({ state }) => (isUnderWay(state.data?.status) ? 0 : Number.POSITIVE_INFINITY),
    refetchInterval: ({ state }) => (isUnderWay(state.data?.status) ? UNDER_WAY_MS : false),
  })

function isUnderWay(status: string | undefined): boolean {
  return status === 'running' || status === 'paused'
}

export function useTracing() {
  const blueprint = useEditorState((state) => state.guid)
  return useQuery(tracingQuery(blueprint))
}

/** Nothing pauses while nothing is traced. */
export function usePausedRuns() {
  const blueprint = useEditorState((state) => state.guid)
  const isOn = useTracing().data?.on === true
  return useQuery({ ...pausedQuery(blueprint), enabled: isOn, refetchInterval: isOn ? TRACING_MS : false })
}

interface Viewed {
  readonly at: number | undefined
  readonly flow: Flow
  readonly catalogue: Catalogue
  readonly view: RunView
}

const views = new WeakMap<Run, Viewed>()

/** Canvas, bar, outline and panel look at the same run: its view is worked out once for all of them. */
function viewOnce(run: Run, at: number | undefined, flow: Flow, catalogue: Catalogue): RunView {
  const before = views.get(run)
  if (before?.at === at && before?.flow === flow && before.catalogue === catalogue) return before.view
  const view = runView(run, at, flow, catalogue)
  views.set(run, { at, flow, catalogue, view })
  return view
}

/** The run that is drawn, the step that is looked at, and how both look on the blocks and wires. */
export function useShownRun() {
  const shown = useEditorState((state) => state.shownRun)
  const flow = useEditorState(({ drawing }) => drawing.flow)
  const catalogue = useEditorState((state) => state.catalogue)
  const { data, error, refetch } = useQuery({
    ...runQuery(shown?.guid ?? ''),
    enabled: shown !== undefined,
  })
  const run = shown && data?.guid === shown.guid ? data : undefined
  const at = run && shown?.at !== undefined ? Math.min(shown.at, run.steps.length - 1) : undefined
  const view = run && viewOnce(run, at, flow, catalogue)
  return { shown, run, at, view, error: shown ? error : null, refetch }
}
