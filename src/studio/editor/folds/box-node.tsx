import { Handle, type NodeProps, Position } from '@xyflow/react'
import { memo, useContext } from 'react'
import { Icon } from '../../controls/icon.tsx'
import { countsTexts, editorTexts } from '../../texts/editor.ts'
import { DistanceContext } from '../canvas/distance.ts'
import { PinMark } from '../pins/pin-mark.tsx'
import { useEditor, useEditorState } from '../state/editor-context.ts'
import { type BlockStubs, crossWires } from '../stubs/cross-wires.ts'
import { StubChip } from '../stubs/stub-chip.tsx'
import classes from './box-node.module.css'
import { unfoldBox } from './fold-commands.ts'
import { type BoxNodeType, runLabels } from './fold-node.ts'
import { type FoldPin, OTHER, otherY, ownRows, rowY } from './folds.ts'

/** A frame or lane that is collapsed: its name, how much it holds, its ways in and out. A double click expands it. */
export const BoxNode = memo(function BoxNode({ data, selected }: NodeProps<BoxNodeType>) {
  const editor = useEditor()
  const distance = useContext(DistanceContext)
  const { box, title, errors, warnings, state, isPaused } = data
  const { note, blocks } = box
  const isFar = distance !== 'near'
  const kind = note.collapsed?.lane ? editorTexts.lane : editorTexts.frame
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the button inside, and the key C, do the same
    <div
      className={classes.box}
      data-color={note.color}
      data-selected={selected || undefined}
      data-broken={errors > 0 || undefined}
      data-far={isFar || undefined}
      data-state={data.isLast ? undefined : state}
      onDoubleClick={(event) => {
        event.stopPropagation()
        unfoldBox(editor, note.id)
      }}
    >
      {state === undefined || state === 'idle' || isFar ? null : (
        <span
          className={classes.run}
          data-state={state}
          data-last={data.isLast || undefined}
          title={data.message || undefined}
        >
          {state === 'failed' ? <Icon name="warning" size={12} /> : null}
          {state === 'paused' ? <Icon name="pause" size={11} /> : null}
          {runLabels({ ...data, message: editorTexts.inside })}
        </span>
      )}
      <div className={classes.header}>
        <button
          type="button"
          className={`${classes.expand} nodrag nopan`}
          aria-label={editorTexts.expand(title)}
          aria-expanded={false}
          title={editorTexts.expandC}
          onClick={(event) => {
            event.stopPropagation()
            unfoldBox(editor, note.id)
          }}
        >
          <Icon name="chevron" size={14} />
        </button>
        <span className={classes.names}>
          <span className={classes.name} title={title}>
            {title}
          </span>
          <span className={classes.kind}>
            {kind}, {countsTexts.blocks(blocks.length)}
            {isPaused ? editorTexts.runStandsStillInside : ''}
          </span>
        </span>
        {errors + warnings > 0 && !isFar ? (
          <span
            className={classes.problem}
            data-level={errors > 0 ? 'error' : 'warn'}
            title={editorTexts.andInside(countsTexts.problems(errors), countsTexts.warnings(warnings))}
          >
            <Icon name="warning" size={14} />
            {errors > 0 ? errors : warnings}
          </span>
        ) : null}
      </div>
      <Ends pins={box.in} side="in" isFar={isFar} />
      <Ends pins={box.out} side="out" isFar={isFar} />
    </div>
  )
})

interface EndsProps {
  readonly pins: readonly FoldPin[]
  readonly side: 'in' | 'out'
  readonly isFar: boolean
}

function Ends({ pins, side, isFar }: EndsProps) {
  const stubs = useEditorState(({ drawing, catalogue }) => crossWires(drawing.flow, catalogue).ofBlock)
  const inside = useEditorState(({ drawing }) => drawing.flow)
  const own = ownRows(pins)
  const rest = pins.length - own
  const [type, position] =
    side === 'in' ? (['target', Position.Left] as const) : (['source', Position.Right] as const)
  return (
    <>
      {pins.slice(0, own).map((pin, row) => (
        <div
          key={pin.id}
          className={classes.row}
          data-side={side}
          style={{ top: rowY(row) - 12 }}
          title={editorTexts.of(pin.pin, pin.title)}
        >
          <Handle type={type} position={position} id={pin.id} className={classes.handle}>
            <PinMark type={pin.type} size={isFar ? 20 : 12} />
          </Handle>
          {isFar ? null : (
            <span className={classes.pin}>
              {inside.get(pin.block)?.name ?? pin.title}.{pin.pin}
            </span>
          )}
          {isFar ? null : <Stub pin={pin} side={side} stubs={stubs.get(pin.block)} />}
        </div>
      ))}
      <div
        className={classes.row}
        data-side={side}
        style={{ top: otherY(pins) - 12 }}
        title={pins
          .slice(own)
          .map(({ pin, title }) => editorTexts.of(pin, title))
          .join('\n')}
      >
        <Handle type={type} position={position} id={OTHER} isConnectable={false} className={classes.handle} />
        {rest > 0 && !isFar ? <span className={classes.pin}>{editorTexts.more(rest)}</span> : null}
      </div>
    </>
  )
}

/** The name of the other end of a wire that is too long to be drawn. */
function Stub({
  pin,
  side,
  stubs,
}: {
  readonly pin: FoldPin
  readonly side: 'in' | 'out'
  readonly stubs: BlockStubs | undefined
}) {
  const others = stubs?.[side].get(pin.pin)
  return others ? <StubChip pin={pin.pin} side={side} others={others.join(' ')} /> : null
}
