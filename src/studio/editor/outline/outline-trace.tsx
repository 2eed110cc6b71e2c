import { duration } from '../../controls/amounts.ts'
import { outlineTexts } from '../../texts/outline.ts'
import type { OutlineItem } from '../model/outline.ts'
import { glance } from '../model/runs/glance.ts'
import type { BlockTrace } from '../model/runs/run-view.ts'
import classes from './outline.module.css'

interface OutlineTraceProps {
  readonly item: OutlineItem
  readonly trace: BlockTrace
}

/** In words what a block did in the run that is shown, or what came in at a pin. */
export function OutlineTrace({ item, trace }: OutlineTraceProps) {
  if (item.kind === 'pin') {
    const got = trace.step?.in[item.pin]
    return got === undefined ? null : (
      <span className={classes.got}>
        <span className={classes.spoken}>{outlineTexts.got} </span>
        {glance(got, 48)}
      </span>
    )
  }
  if (item.kind !== 'block') return null
  return (
    <>
      <span className={`${classes.trace} numbers`} data-state={trace.state}>
        <span className={classes.spoken}>, </span>
        {wordsOf(trace)}
      </span>
      {trace.message === '' ? null : <span className={classes.problem}>{trace.message}</span>}
    </>
  )
}

function wordsOf({ state, order, times, us }: BlockTrace): string {
  if (state === 'idle') return outlineTexts.didNotRun
  if (state === 'fixed') return outlineTexts.fixed
  const place = outlineTexts.stepText(order, times)
  if (state === 'paused') return outlineTexts.pausedBeforeIt(place)
  return `${place}, ${state === 'failed' ? outlineTexts.failedAfter : ''}${duration(us / 1_000)}`
}
