import { Handle, type NodeProps, Position } from '@xyflow/react'
import { memo, useContext } from 'react'
import { Icon } from '../../controls/icon.tsx'
import { canvasTexts } from '../../texts/canvas.ts'
import { runsTexts } from '../../texts/runs.ts'
import { pinY } from '../model/places/node-geometry.ts'
import { methodOf } from '../model/words/block-names.ts'
import { PinMark } from '../pins/pin-mark.tsx'
import { PinnedMark } from '../runs/pin-reply.tsx'
import { type BlockTime, timeWords } from '../values/block-time.ts'
import timeClasses from '../values/values.module.css'
import classes from './block-node.module.css'
import { Pins } from './block-pins.tsx'
import { BreakpointMark, CoveredMark, LastMark, TraceMark, TraceMessage } from './block-trace.tsx'
import { type BlockData, type BlockNodeType, HANDLE } from './canvas-nodes.ts'
import { DistanceContext } from './distance.ts'

/** Pixels of the canvas: rows are 24 high. */
const FAR_MARK = 24

/** A block on the canvas. Its size is worked out by `node-geometry.ts`; the style sheet keeps to the same numbers. */
export const BlockNode = memo(function BlockNode({ id, data, selected }: NodeProps<BlockNodeType>) {
  const distance = useContext(DistanceContext)
  const isFar = distance !== 'near'
  const { content, description, words, staging, drafted, trace, last, time, breakpoint, covered } = data
  const problems = data.problems.filter(({ level }) => level !== 'needed')
  const errors = problems.filter(({ level }) => level === 'error').length
  const kind = description?.kind ?? 'unknown'
  return (
    <div
      className={classes.block}
      data-kind={kind}
      data-selected={selected || undefined}
      data-staged={staging?.change}
      data-broken={errors > 0 || undefined}
      data-far={isFar || undefined}
      data-trace={trace?.state}
      data-covered={covered}
      data-current={trace?.current || undefined}
    >
      {trace ? <TraceMark trace={trace} isFar={isFar} /> : null}
      {covered && !isFar ? <CoveredMark covered={covered} /> : null}
      {last && !trace && !isFar ? <LastMark last={last} /> : null}
      <BreakpointMark breakpoint={breakpoint} isPaused={data.isPaused && trace?.state !== 'paused'} />
      {time && !isFar && !trace?.message ? <TimeMark time={time} /> : null}
      {trace && !isFar ? <TraceMessage trace={trace} /> : null}
      {isFar ? null : <PinnedMark block={id} />}
      <div className={classes.header}>
        <span className={classes.badge} data-kind={kind}>
          {methodOf(content.type) ?? badges[kind]}
        </span>
        <Names words={words} />
        {problems.length > 0 && !isFar ? <ProblemMark problems={problems} /> : null}
        {drafted !== undefined && !isFar ? (
          <span className={classes.drafted} title={drafted}>
            <Icon name="edit" size={12} />
          </span>
        ) : null}
        {staging && !isFar ? (
          <span
            className={classes.staged}
            title={canvasTexts.stagedBy(stagedWords[staging.change], staging.by.username)}
          >
            {initials(staging.by.username)}
          </span>
        ) : null}
      </div>
      {content.description === '' || isFar ? null : (
        <div className={classes.comment}>{content.description}</div>
      )}
      {distance === 'farthest' ? (
        <Ends data={data} />
      ) : isFar ? (
        <FarPins data={data} />
      ) : (
        <Pins id={id} data={data} />
      )}
    </div>
  )
})

function Names({ words }: Pick<BlockData, 'words'>) {
  return (
    <span className={classes.names}>
      <span className={classes.name} title={words.title}>
        {words.title}
      </span>
      <span className={classes.kind} title={words.kind}>
        <span className={classes.type}>{words.kind.slice(0, -words.name.length || undefined)}</span>
        <span className={classes.own}>{words.name}</span>
      </span>
    </span>
  )
}

function ProblemMark({ problems }: Pick<BlockData, 'problems'>) {
  const isError = problems.some(({ level }) => level === 'error')
  return (
    <span
      className={classes.problem}
      data-level={isError ? 'error' : 'warn'}
      title={problems.map(({ message }) => message).join('\n')}
    >
      <Icon name="warning" size={14} />
      {problems.length}
    </span>
  )
}

const badges: Readonly<Record<string, string>> = {
  trigger: 'start',
  flow: 'step',
  value: 'value',
  unknown: '?',
}
const stagedWords = { created: canvasTexts.added, updated: canvasTexts.changed, removed: canvasTexts.removed }

function initials(name: string): string {
  return name.slice(0, 2).toUpperCase()
}

/** Without words, and large enough to be taken hold of from afar. */
function FarPins({ data: { content, pins, shown, wiredOut } }: { readonly data: BlockData }) {
  const place = (row: number) => ({ top: pinY(content, row) })
  return (
    <>
      {shown.in.map((pin, row) => {
        const type = pins.in.get(pin)?.type ?? 'any'
        const isFull = content.in_pins.some(({ id }) => id === pin)
        return (
          <Handle
            key={pin}
            type="target"
            position={Position.Left}
            id={pin}
            className={classes.handle}
            style={place(row)}
          >
            <PinMark type={type} full={isFull} size={FAR_MARK} />
          </Handle>
        )
      })}
      {shown.out.map((pin, row) => (
        <Handle
          key={pin}
          type="source"
          position={Position.Right}
          id={pin}
          className={classes.handle}
          style={place(row)}
        >
          <PinMark
            type={pins.out.get(pin)?.type ?? 'any'}
            full={wiredOut.includes(`|${pin}|`)}
            size={FAR_MARK}
          />
        </Handle>
      ))}
    </>
  )
}

/** Only where wires end: the canvas measures these when a block comes into sight. */
function Ends({ data: { content, shown } }: { readonly data: BlockData }) {
  const end = (pin: string, row: number, side: 'left' | 'right') => (
    <i
      key={`${side} ${pin}`}
      className={`${side === 'left' ? 'target' : 'source'} ${classes.end}`}
      data-handleid={pin}
      data-handlepos={side}
      style={{ top: pinY(content, row) - HANDLE / 2 }}
    />
  )
  return (
    <>
      {shown.in.map((pin, row) => end(pin, row, 'left'))}
      {shown.out.map((pin, row) => end(pin, row, 'right'))}
    </>
  )
}

/** On the lower edge of a block: how often sampled runs executed it, and how long it took. */
function TimeMark({ time }: { readonly time: BlockTime }) {
  const { passes, median, most, used, spoken } = timeWords(time)
  return (
    <span className={`${timeClasses.time} numbers`} title={runsTexts.sampledRuns(spoken)}>
      <span>{passes}</span>
      <b>{median}</b>
      <span>95 % {most}</span>
      {used === '' ? null : <span>{used}</span>}
    </span>
  )
}
