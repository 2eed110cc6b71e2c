import { Handle, type NodeProps, Position, useConnection, useStore } from '@xyflow/react'
import { memo } from 'react'
import type { SavedInPin } from '../../../shared/blueprint.ts'
import { Icon } from '../../controls/icon.tsx'
import type { InPin, OutPin } from '../model/block-description.ts'
import { methodOf, subjectOf } from '../model/block-names.ts'
import { type DanglingWire, wireTo } from '../model/fitting-blocks.ts'
import { pinY } from '../model/node-geometry.ts'
import { wireProblem } from '../model/wire-check.ts'
import { short } from '../model/words.ts'
import { PinMark } from '../pins/pin-mark.tsx'
import { useEditor } from '../state/editor-context.ts'
import classes from './block-node.module.css'
import { type BlockData, type BlockNodeType, HANDLE } from './canvas-nodes.ts'

/** Below this zoom nobody can read pins, and drawing them is what costs. */
const FAR = 0.45

/** A block on the canvas. Its size is worked out by `node-geometry.ts`; the style sheet keeps to the same numbers. */
export const BlockNode = memo(function BlockNode({ id, data, selected }: NodeProps<BlockNodeType>) {
  const isFar = useStore((state) => state.transform[2] < FAR)
  const { content, description, staging, problems } = data
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
    >
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

function Pins({ id, data }: { readonly id: string; readonly data: BlockData }) {
  const { store } = useEditor()
  const held = useConnection((connection): string =>
    connection.inProgress && connection.fromHandle
      ? `${connection.fromHandle.type}|${connection.fromHandle.nodeId}|${connection.fromHandle.id}`
      : '',
  )
  const wire = danglingWire(held)
  const { flow } = store.getState().drawing
  const { catalogue } = store.getState()
  const fits = (side: 'from' | 'to', pin: string) =>
    wire === undefined
      ? undefined
      : wire.side === side && wireProblem(flow, catalogue, wireTo(wire, { block: id, pin })) === undefined
        ? 'yes'
        : 'no'
  const saved = new Map(data.content.in_pins.map((pin) => [pin.id, pin]))
  const broken = new Map(data.problems.map(({ pin, message }) => [pin, message]))
  return (
    <div className={classes.pins}>
      <div className={classes.column}>
        {[...data.pins.in].map(([pin, kind]) => (
          <InRow
            key={pin}
            pin={pin}
            kind={kind}
            saved={saved.get(pin)}
            problem={broken.get(pin)}
            fits={fits('from', pin)}
          />
        ))}
      </div>
      <div className={classes.column}>
        {[...data.pins.out].map(([pin, kind]) => (
          <OutRow
            key={pin}
            pin={pin}
            kind={kind}
            wired={data.wiredOut.includes(`|${pin}|`)}
            fits={fits('to', pin)}
          />
        ))}
      </div>
    </div>
  )
}

function danglingWire(held: string): DanglingWire | undefined {
  const [type, block, ...pin] = held.split('|')
  if (block === undefined || pin.length === 0) return undefined
  return { side: type === 'source' ? 'from' : 'to', place: { block, pin: pin.join('|') } }
}

interface InRowProps {
  readonly pin: string
  readonly kind: InPin
  readonly saved: SavedInPin | undefined
  readonly problem: string | undefined
  readonly fits: 'yes' | 'no' | undefined
}

const InRow = memo(function InRow({ pin, kind, saved, problem, fits }: InRowProps) {
  const wired = (saved?.from?.length ?? 0) > 0
  const value = wired ? undefined : saved?.value
  return (
    <div
      className={classes.in}
      data-fits={fits}
      data-broken={problem ? true : undefined}
      data-required={(kind.required && !wired && value === undefined) || undefined}
      title={problem ?? `${pin} · ${kind.type}${kind.required ? ', needed' : ''}\n${kind.help}`}
    >
      <Handle type="target" position={Position.Left} id={pin} className={classes.handle}>
        <PinMark type={kind.type} full={wired || value !== undefined} />
      </Handle>
      <span className={classes.pin}>{pin}</span>
      {value === undefined ? null : <span className={classes.value}>{short(value, 22)}</span>}
    </div>
  )
})

interface OutRowProps {
  readonly pin: string
  readonly kind: OutPin
  readonly wired: boolean
  readonly fits: 'yes' | 'no' | undefined
}

const OutRow = memo(function OutRow({ pin, kind, wired, fits }: OutRowProps) {
  return (
    <div className={classes.out} data-fits={fits} title={`${pin} · ${kind.type}\n${kind.help}`}>
      <span className={classes.pin}>{pin}</span>
      <Handle type="source" position={Position.Right} id={pin} className={classes.handle}>
        <PinMark type={kind.type} full={wired} />
      </Handle>
    </div>
  )
})
