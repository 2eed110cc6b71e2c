import { count } from '../model/words.ts'
import { useEditor, useEditorState } from '../state/editor-context.ts'
import { type CanvasShows, keepShows } from './canvas-shows.ts'
import { useBlockTimes } from './use-block-times.ts'
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
      <fieldset className={`${classes.buttons} surface`} aria-label="Shown on the blocks">
        <button
          type="button"
          aria-pressed={shows.values}
          title="Values of the last run of each block"
          onClick={() => set({ values: !shows.values })}
        >
          Values
        </button>
        <button
          type="button"
          aria-pressed={shows.times}
          title="Count and time of each block in sampled runs of the deployed version"
          onClick={() => set({ times: !shows.times })}
        >
          Times
        </button>
      </fieldset>
      {data || error ? (
        <p className={`${classes.legend} surface`} role="status">
          {data ? legendOf(data) : 'The times could not be loaded.'}
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
  if (deployment === 0) return 'Never deployed: runs of deployed blocks are sampled.'
  const version = `version ${deployment}`
  if (runs === 0 && blocks.length === 0) return `No run of ${version} was sampled yet.`
  return `${count(runs, 'sampled run')} of ${version} in a day: passes, median, 95 %`
}
