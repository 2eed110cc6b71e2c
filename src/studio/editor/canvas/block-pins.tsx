import { useQuery } from '@tanstack/react-query'
import { Handle, Position, useConnection } from '@xyflow/react'
import { memo, useState } from 'react'
import type { InPin, OutPin } from '../../../shared/api/blocks/blocks.ts'
import type { SavedInPin } from '../../../shared/blueprint.ts'
import { storageNamesQuery } from '../../api/storages.ts'
import { canvasTexts } from '../../texts/canvas.ts'
import { setLiteral } from '../model/changes/flow-changes.ts'
import { wireId } from '../model/flow.ts'
import { type DanglingWire, wireTo } from '../model/pins/fitting-blocks.ts'
import { wireProblem } from '../model/pins/wire-check.ts'
import { cut, short } from '../model/words/block-names.ts'
import { pinLooks } from '../pins/pin-look.ts'
import { PinMark } from '../pins/pin-mark.tsx'
import { unfold } from '../state/editor-commands.ts'
import { useEditor, useEditorState } from '../state/editor-context.ts'
import { crossWires } from '../stubs/cross-wires.ts'
import choiceClasses from '../stubs/storage-choice.module.css'
import { StubChip } from '../stubs/stub-chip.tsx'
import classes from './block-node.module.css'
import type { BlockData } from './canvas-nodes.ts'
import { PinValue } from './pin-value.tsx'

/** The pins of a block with their handles; those that fit the wire in the hand stand out. */
export function Pins({ id, data }: { readonly id: string; readonly data: BlockData }) {
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
  const broken = brokenPins(data)
  const step = data.trace?.step ?? data.last?.step
  const stubs = useEditorState(({ drawing, catalogue: present }) =>
    crossWires(drawing.flow, present).ofBlock.get(id),
  )
  return (
    <div className={classes.pins}>
      <div className={classes.column}>
        {shownOf(data.shown.in, data.pins.in).map(([pin, kind]) => (
          <InRow
            key={pin}
            block={id}
            pin={pin}
            kind={kind}
            stub={stubs?.in.get(pin)?.join(' ')}
            saved={saved.get(pin)}
            problem={broken.get(pin)}
            wireId={wireInto(id, saved.get(pin))}
            got={step?.in[pin]}
            fits={fits('from', pin)}
          />
        ))}
      </div>
      <div className={classes.column}>
        {shownOf(data.shown.out, data.pins.out).map(([pin, kind]) => (
          <OutRow
            key={pin}
            pin={pin}
            kind={kind}
            wired={data.wiredOut.includes(`|${pin}|`)}
            stub={stubs?.out.get(pin)?.join(' ')}
            gave={step?.out[pin]}
            fits={fits('to', pin)}
          />
        ))}
      </div>
      {data.shown.folded > 0 || data.shown.isUnfolded ? <FoldedPins id={id} shown={data.shown} /> : null}
    </div>
  )
}

/** Shows the pins that are folded, or folds them again. */
function FoldedPins({ id, shown }: { readonly id: string } & Pick<BlockData, 'shown'>) {
  const editor = useEditor()
  return (
    <button
      type="button"
      className={`${classes.fold} nodrag`}
      aria-expanded={shown.isUnfolded}
      onClick={(event) => {
        event.stopPropagation()
        unfold(editor, id, !shown.isUnfolded)
      }}
    >
      {shown.isUnfolded ? canvasTexts.fewerPins : canvasTexts.morePins(shown.folded)}
    </button>
  )
}

function brokenPins({ problems }: BlockData): ReadonlyMap<string | undefined, string> {
  const found = problems.filter(({ level }) => level !== 'needed')
  return new Map(found.map(({ pin, message }) => [pin, message]))
}

function shownOf<Pin>(shown: readonly string[], pins: ReadonlyMap<string, Pin>): [string, Pin][] {
  return shown.flatMap((id): [string, Pin][] => {
    const pin = pins.get(id)
    return pin ? [[id, pin]] : []
  })
}

function wireInto(block: string, saved: SavedInPin | undefined): string {
  const from = saved?.from?.at(-1)
  return from && saved ? wireId({ from, to: { block, pin: saved.id } }) : ''
}

function danglingWire(held: string): DanglingWire | undefined {
  const [type, block, ...pin] = held.split('|')
  if (block === undefined || pin.length === 0) return undefined
  return { side: type === 'source' ? 'from' : 'to', place: { block, pin: pin.join('|') } }
}

interface InRowProps {
  readonly block: string
  readonly pin: string
  readonly kind: InPin
  /** Blocks at the other ends of wires that are not drawn. */
  readonly stub: string | undefined
  readonly saved: SavedInPin | undefined
  readonly problem: string | undefined
  /** The wire that ends here; of several the last. */
  readonly wireId: string
  /** What came in the run that is shown, or in the last one; undefined: nothing. */
  readonly got: unknown
  readonly fits: 'yes' | 'no' | undefined
}

const InRow = memo(function InRow(props: InRowProps) {
  const { block, pin, kind, stub, saved, problem, wireId, got, fits } = props
  const isPointed = useEditorState(
    ({ pointedWire, selectedWires }) =>
      wireId !== '' && (pointedWire === wireId || (selectedWires.size === 1 && selectedWires.has(wireId))),
  )
  const wired = (saved?.from?.length ?? 0) > 0
  const value = wired ? undefined : saved?.value
  const expression = wired ? undefined : saved?.expression
  const held = expression === undefined ? value !== undefined && short(value, 22) : `= ${cut(expression, 24)}`
  return (
    <div
      className={classes.in}
      data-fits={fits}
      data-broken={problem ? true : undefined}
      data-required={(kind.required && !wired && held === false) || undefined}
      title={problem ?? titleOf(pin, kind, expression)}
    >
      <Handle type="target" position={Position.Left} id={pin} className={classes.handle}>
        <PinMark type={kind.type} full={wired || held !== false} />
      </Handle>
      <span className={classes.pin}>{pin}</span>
      {kind.type === 'storage' && !wired ? (
        <StorageChoice block={block} pin={pin} value={typeof value === 'string' ? value : ''} />
      ) : held === false || (expression !== undefined && got !== undefined) ? null : (
        <span className={classes.value}>{held}</span>
      )}
      {stub === undefined || got !== undefined ? null : <StubChip pin={pin} side="in" others={stub} />}
      {(wired || expression !== undefined) && got !== undefined ? (
        <PinValue pin={pin} verb="got" value={got} color={pinLooks[kind.type].color} isPointed={isPointed} />
      ) : null}
    </div>
  )
})

function titleOf(pin: string, { type, required, help }: InPin, expression: string | undefined): string {
  const lines = [
    `${pin} · ${type}${required ? canvasTexts.needed : ''}`,
    ...(expression === undefined ? [] : [`= ${expression}`]),
    help,
  ]
  return lines.join('\n')
}

interface OutRowProps {
  readonly pin: string
  readonly kind: OutPin
  readonly wired: boolean
  /** Blocks at the other ends of wires that are not drawn. */
  readonly stub: string | undefined
  /** What it gave in the run that is shown, or in the last one; undefined: nothing. */
  readonly gave: unknown
  readonly fits: 'yes' | 'no' | undefined
}

const OutRow = memo(function OutRow({ pin, kind, wired, stub, gave, fits }: OutRowProps) {
  return (
    <div className={classes.out} data-fits={fits} title={`${pin} · ${kind.type}\n${kind.help}`}>
      {gave === undefined ? null : (
        <PinValue pin={pin} verb="gave" value={gave} color={pinLooks[kind.type].color} isPointed={false} />
      )}
      <span className={classes.pin}>{pin}</span>
      <Handle type="source" position={Position.Right} id={pin} className={classes.handle}>
        <PinMark type={kind.type} full={wired} />
      </Handle>
      {stub === undefined ? null : <StubChip pin={pin} side="out" others={stub} />}
    </div>
  )
})

interface StorageChoiceProps {
  readonly block: string
  readonly pin: string
  /** Its name; empty: none yet. */
  readonly value: string
}

/** The storage of a block, chosen in its row on the canvas. Another name is written in the panel. */
function StorageChoice({ block, pin, value }: StorageChoiceProps) {
  const editor = useEditor()
  // Hundreds of blocks with hundreds of names each are not kept in the page: a list is made when it is about to be opened.
  const [isOpening, setOpening] = useState(false)
  const { data = [] } = useQuery({ ...storageNamesQuery, enabled: isOpening, retry: false })
  const names = new Set([
    ...(value === '' ? [] : [value]),
    ...(isOpening ? data.map(({ name }) => name) : []),
  ])
  return (
    <select
      className={`${choiceClasses.choice} nodrag nopan`}
      aria-label={canvasTexts.storageOf(pin)}
      value={value}
      onPointerEnter={() => setOpening(true)}
      onFocus={() => setOpening(true)}
      onChange={(event) => {
        const name = event.currentTarget.value
        editor.run(canvasTexts.set(pin), (flow) =>
          setLiteral(flow, block, pin, name === '' ? undefined : name),
        )
      }}
    >
      <option value="">{value === '' ? canvasTexts.choose : canvasTexts.none}</option>
      {[...names].map((name) => (
        <option key={name} value={name}>
          {name}
        </option>
      ))}
    </select>
  )
}
