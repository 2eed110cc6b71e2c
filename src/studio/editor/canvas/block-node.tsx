import { type NodeProps, useStore } from '@xyflow/react'
import { memo } from 'react'
import { Icon } from '../../controls/icon.tsx'
import { methodOf, subjectOf } from '../model/block-names.ts'
import { pinY } from '../model/node-geometry.ts'
import classes from './block-node.module.css'
import { Pins } from './block-pins.tsx'
import { BreakpointMark, TraceMark, TraceMessage } from './block-trace.tsx'
import { type BlockData, type BlockNodeType, HANDLE } from './canvas-nodes.ts'

/** Below this zoom pins are too small to read, and drawing them is expensive. */
const FAR = 0.45

/** A block on the canvas. Its size is worked out by `node-geometry.ts`; the style sheet keeps to the same numbers. */
export const BlockNode = memo(function BlockNode({ id, data, selected }: NodeProps<BlockNodeType>) {
  const isFar = useStore((state) => state.transform[2] < FAR)
  const { content, description, staging, problems, trace, breakpoint } = data
  const errors = problems.filter(({ level }) => level === 'error').length
  const kind = description?.kind ?? 'unknown'
  const subject = content.title || subjectOf(content)
  return (
    <div
      className={classes.block}
      data-kind={kind}
      data-selected={selected || undefined}
      data-staged={staging?.change}
      data-broken={errors > 0 || undefined}
      data-far={isFar || undefined}
      data-trace={trace?.state}
      data-current={trace?.current || undefined}
    >
      {trace ? <TraceMark trace={trace} isFar={isFar} /> : null}
      <BreakpointMark breakpoint={breakpoint} isPaused={data.isPaused && trace?.state !== 'paused'} />
      {trace && !isFar ? <TraceMessage trace={trace} /> : null}
      <div className={classes.header}>
        <span className={classes.badge} data-kind={kind}>
          {methodOf(content.type) ?? badges[kind]}
        </span>
        <span className={classes.names}>
          <span className={classes.name}>{subject || description?.title || content.type}</span>
          {subject === '' ? null : <span className={classes.kind}>{description?.title ?? content.type}</span>}
        </span>
        {problems.length > 0 && !isFar ? (
          <span
            className={classes.problem}
            data-level={errors > 0 ? 'error' : 'warn'}
            title={problems.map(({ message }) => message).join('\n')}
          >
            <Icon name="warning" size={14} />
            {problems.length}
          </span>
        ) : null}
        {staging && !isFar ? (
          <span
            className={classes.staged}
            title={`${stagedWords[staging.change]} by ${staging.by.username}, not saved yet`}
          >
            {initials(staging.by.username)}
          </span>
        ) : null}
      </div>
      {content.description === '' || isFar ? null : (
        <div className={classes.comment}>{content.description}</div>
      )}
      {isFar ? <FarPins data={data} /> : <Pins id={id} data={data} />}
    </div>
  )
})

const badges: Readonly<Record<string, string>> = {
  trigger: 'start',
  flow: 'step',
  value: 'value',
  unknown: '?',
}
const stagedWords = { created: 'Added', updated: 'Changed', removed: 'Removed' }

function initials(name: string): string {
  return name.slice(0, 2).toUpperCase()
}

/** Only where wires end: the canvas measures these when a block comes into sight. */
function FarPins({ data }: { readonly data: BlockData }) {
  const place = (row: number) => ({ top: pinY(data.content, row) - HANDLE / 2 })
  return (
    <>
      {[...data.pins.in.keys()].map((pin, row) => (
        <i
          key={pin}
          className={`target ${classes.end}`}
          data-handleid={pin}
          data-handlepos="left"
          style={place(row)}
        />
      ))}
      {[...data.pins.out.keys()].map((pin, row) => (
        <i
          key={pin}
          className={`source ${classes.end}`}
          data-handleid={pin}
          data-handlepos="right"
          style={place(row)}
        />
      ))}
    </>
  )
}
