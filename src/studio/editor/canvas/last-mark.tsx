import { Icon } from '../../controls/icon.tsx'
import { Time } from '../../controls/time.tsx'
import { canvasTexts } from '../../texts/canvas.ts'
import { useEditor } from '../state/editor-context.ts'
import { goToStep, showRun } from '../state/shown-run.ts'
import { type BlockLast, lastWords } from '../values/last-values.ts'
import classes from './block-trace.module.css'

/** On the upper edge of a block: which run its values are of, and that it was changed since. Opens the run. */
export function LastMark({ last: { step, run, isChanged } }: { readonly last: BlockLast }) {
  const editor = useEditor()
  const failed = step.error !== null
  return (
    <button
      type="button"
      className={`${classes.mark} ${classes.last} nodrag nopan`}
      data-state={failed ? 'failed' : undefined}
      title={[
        canvasTexts.lastValuesOf(run.label),
        ...(isChanged ? [canvasTexts.changedSinceThen] : []),
        ...(step.error === null ? [] : [step.error]),
      ].join('\n')}
      onClick={(event) => {
        event.stopPropagation()
        showRun(editor, run.guid)
        goToStep(editor, step.at)
      }}
    >
      {failed ? <Icon name="warning" size={12} /> : null}
      <span>
        {lastWords[run.recorded_as]}, <Time at={Date.parse(run.started) / 1_000} />
      </span>
      {isChanged ? <b>{canvasTexts.changedSinceText}</b> : null}
    </button>
  )
}
