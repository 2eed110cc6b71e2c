import { duration } from '../../controls/amounts.ts'
import { Icon } from '../../controls/icon.tsx'
import { Time } from '../../controls/time.tsx'
import { canvasTexts } from '../../texts/canvas.ts'
import type { BlockTrace } from '../model/runs/run-view.ts'
import { useEditor } from '../state/editor-context.ts'
import { goToStep, showRun } from '../state/shown-run.ts'
import { type BlockLast, lastWords } from '../values/last-values.ts'
import classes from './block-trace.module.css'
import type { BlockData } from './canvas-nodes.ts'

/** On the upper edge of a block: the place of its step in the run, how often it ran and how long it took. */
export function TraceMark({ trace, isFar }: { readonly trace: BlockTrace; readonly isFar: boolean }) {
  const { state, order, times, us } = trace
  if (state === 'idle') return null
  if (isFar)
    return order === 0 ? null : (
      <span className={classes.mark} data-far data-state={state}>
        {order}
      </span>
    )
  if (state === 'fixed')
    return (
      <span className={classes.mark} data-state={state} title={canvasTexts.fixedHelp}>
        {canvasTexts.fixed}
      </span>
    )
  return (
    <span className={`${classes.mark} numbers`} data-state={state}>
      {state === 'failed' ? <Icon name="warning" size={12} /> : null}
      {state === 'paused' ? <Icon name="pause" size={11} /> : null}
      <b>{order}</b>
      {times > 1 ? <span>×{times}</span> : null}
      {state === 'paused' ? canvasTexts.paused : <span className={classes.time}>{duration(us / 1_000)}</span>}
    </span>
  )
}

/** On the upper edge of a block: whether a test ran it. */
export function CoveredMark({ covered }: { readonly covered: NonNullable<BlockData['covered']> }) {
  return (
    <span className={classes.mark} data-state={covered}>
      {canvasTexts.coveredMark[covered]}
    </span>
  )
}

/** Below a block: why it failed, or what else there is to say about its step. */
export function TraceMessage({ trace }: { readonly trace: BlockTrace }) {
  if (trace.message === '') return null
  return (
    <div className={classes.message} data-state={trace.state} title={trace.message}>
      {trace.message}
    </div>
  )
}

interface BreakpointMarkProps {
  readonly breakpoint: 'holds' | 'waits' | undefined
  /** A run other than the shown one. */
  readonly isPaused: boolean
}

/** On the left edge of a block: that runs pause there, and that one does. */
export function BreakpointMark({ breakpoint, isPaused }: BreakpointMarkProps) {
  if (isPaused)
    return (
      <span className={classes.paused} title={canvasTexts.pausedHelp}>
        <Icon name="pause" size={12} />
      </span>
    )
  if (!breakpoint) return null
  return (
    <span
      className={classes.breakpoint}
      data-waits={breakpoint === 'waits' || undefined}
      title={breakpoint === 'holds' ? canvasTexts.breakpoint : canvasTexts.breakpointInactive}
    />
  )
}

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
