import { countsTexts } from '../../texts/editor.ts'
import { runsTexts } from '../../texts/runs.ts'
import { useEditor, useEditorState } from '../state/editor-context.ts'
import { useBlockTimes } from './block-time.ts'
import { type CanvasShows, keepShows } from './canvas-shows.ts'
import classes from './values.module.css'

/** What the canvas shows beside the drawing, to be switched, and which runs the times are of. */
export function CanvasSwitches() {
  const editor = useEditor()
  const shows = useEditorState((state) => state.shows)
  const { data, error } = useBlockTimes()
  const set = (change: Partial<CanvasShows>) => {
    const next = { ...shows, ...change }
    keepShows(next)
    editor.set({ shows: next })
  }
  return (
    <div className={classes.switches}>
      <fieldset className={`${classes.buttons} surface`} aria-label={runsTexts.shownOnTheBlocks}>
        <button
          type="button"
          aria-pressed={shows.values}
          title={runsTexts.valuesHelp}
          onClick={() => set({ values: !shows.values })}
        >
          {runsTexts.values}
        </button>
        <button
          type="button"
          aria-pressed={shows.times}
          title={runsTexts.timesHelp}
          onClick={() => set({ times: !shows.times })}
        >
          {runsTexts.times}
        </button>
      </fieldset>
      {data || error ? (
        <p className={`${classes.legend} surface`} role="status">
          {data ? legendOf(data) : runsTexts.timesFailed}
        </p>
      ) : null}
    </div>
  )
}

function legendOf({
  deployment,
  runs,
  blocks,
}: {
  deployment: number
  runs: number
  blocks: readonly unknown[]
}) {
  if (deployment === 0) return runsTexts.timesNever
  const version = runsTexts.version(deployment)
  if (runs === 0 && blocks.length === 0) return runsTexts.timesNone(version)
  return runsTexts.timesOf(countsTexts.sampledRuns(runs), version)
}
