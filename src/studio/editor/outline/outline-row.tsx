import { memo } from 'react'
import type { BlockContent } from '../../../shared/blueprint.ts'
import { duration } from '../../controls/amounts.ts'
import { Icon } from '../../controls/icon.tsx'
import { outlineTexts } from '../../texts/editor.ts'
import type { Catalogue } from '../model/block-description.ts'
import type { Staging } from '../model/changes/staged-blocks.ts'
import type { OutlineItem } from '../model/outline.ts'
import { pinsOf } from '../model/pins/pins.ts'
import { glance } from '../model/runs/glance.ts'
import type { BlockTrace } from '../model/runs/run-view.ts'
import { methodOf } from '../model/words/block-names.ts'
import { PinMark } from '../pins/pin-mark.tsx'
import classes from './outline.module.css'

interface OutlineRowProps {
  readonly item: OutlineItem
  readonly level: number
  readonly at: number
  readonly of: number
  /** undefined: nothing is in it. */
  readonly open: boolean | undefined
  readonly current: boolean
  readonly selected: boolean
  readonly problem: string
  readonly staging: Staging | null
  /** What its block did in the run that is shown; undefined while none is. */
  readonly trace: BlockTrace | undefined
  /** Runs pause before the block; `waits`: they would, were they traced. */
  readonly breakpoint: 'holds' | 'waits' | undefined
  readonly content: BlockContent | undefined
  readonly catalogue: Catalogue
  readonly onGo: () => void
  readonly onEdit: () => void
  readonly onToggle: () => void
}

export const OutlineRow = memo(function OutlineRow(props: OutlineRowProps) {
  const { item, level, at, of, open, current, selected, problem, staging, content, catalogue } = props
  const { trace, breakpoint } = props
  const pin = item.kind === 'pin' && content ? pinsOf(content, catalogue).in.get(item.pin) : undefined
  const kind = content ? catalogue.get(content.type)?.kind : undefined
  const missing = pin?.required === true && item.detail === ''
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the tree around it has the keys
    <div
      role="treeitem"
      tabIndex={current ? 0 : -1}
      data-id={item.id}
      aria-level={level}
      aria-posinset={at}
      aria-setsize={of}
      aria-expanded={open}
      aria-selected={selected}
      className={classes.row}
      data-kind={item.kind}
      data-broken={problem !== '' || undefined}
      data-trace={item.kind === 'block' || item.kind === 'pin' ? trace?.state : undefined}
      data-current={(item.kind === 'block' && trace?.current) || undefined}
      style={{ paddingLeft: 10 + (level - 1) * 20 }}
      onClick={props.onGo}
      onDoubleClick={props.onEdit}
    >
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: arrows open and close */}
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the same */}
      <span
        className={classes.chevron}
        data-open={open}
        onClick={(event) => {
          if (open === undefined) return
          event.stopPropagation()
          props.onToggle()
        }}
      >
        {open === undefined ? null : <Icon name="chevron" size={13} />}
      </span>
      {item.kind === 'block' && breakpoint ? (
        <span className={classes.breakpoint} data-waits={breakpoint === 'waits' || undefined}>
          <span className={classes.spoken}>
            {breakpoint === 'holds' ? outlineTexts.breakpoint : outlineTexts.breakpointInactive}
          </span>
        </span>
      ) : null}
      {pin ? <PinMark type={pin.type} full={item.detail !== ''} size={11} /> : null}
      {item.kind === 'block' ? (
        <span className={classes.badge} data-kind={kind}>
          {(content && methodOf(content.type)) ??
            (kind === 'value'
              ? outlineTexts.value
              : kind === 'trigger'
                ? outlineTexts.start
                : outlineTexts.step)}
        </span>
      ) : null}
      <span className={classes.label}>
        {item.kind === 'pin' ? <span className={classes.spoken}>{outlineTexts.pin} </span> : null}
        {item.label}
      </span>
      {item.detail === '' || item.detail === item.label ? null : (
        <span className={classes.detail}>{item.detail}</span>
      )}
      {trace ? <OutlineTrace item={item} trace={trace} /> : null}
      {missing ? <span className={classes.missing}>{outlineTexts.needed}</span> : null}
      {problem !== '' && item.kind === 'pin' ? <span className={classes.problem}>{problem}</span> : null}
      {problem !== '' && item.kind === 'block' ? (
        <span className={classes.problem}>
          <Icon name="warning" size={13} />
          <span className={classes.spoken}>{outlineTexts.problem(problem)}</span>
        </span>
      ) : null}
      {staging ? <span className={classes.staged}>{outlineTexts.stagedBy(staging.by.username)}</span> : null}
    </div>
  )
})

interface OutlineTraceProps {
  readonly item: OutlineItem
  readonly trace: BlockTrace
}

/** In words what a block did in the run that is shown, or what came in at a pin. */
function OutlineTrace({ item, trace }: OutlineTraceProps) {
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
