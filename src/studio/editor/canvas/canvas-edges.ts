import type { Edge } from '@xyflow/react'
import type { PinType } from '../../../shared/pin-type.ts'
import { canvasTexts } from '../../texts/canvas.ts'
import { referencesOf } from '../expressions/references.ts'
import { drawnEnd, type Folds } from '../folds/folds.ts'
import type { Catalogue } from '../model/block-description.ts'
import { type Flow, wireId, wiresOf } from '../model/flow.ts'
import { carriedType, pinsOf } from '../model/pins/pins.ts'
import { glance } from '../model/runs/glance.ts'
import type { RunView } from '../model/runs/run-view.ts'
import { pinLooks } from '../pins/pin-look.ts'
import { crossWires } from '../stubs/cross-wires.ts'

interface NodeContext {
  readonly flow: Flow
  readonly catalogue: Catalogue
  /** The shown run. */
  readonly view: RunView | undefined
  /** References from and to selected blocks are drawn in full. */
  readonly selection: ReadonlySet<string>
  /** Wires from and to what is collapsed lead to its box; those inside of one are not drawn. */
  readonly folds: Folds
}

/** The wires as the canvas draws them; one that is as before is the same object. */
export function edgeMaker(): (input: NodeContext, selected: ReadonlySet<string>) => Edge[] {
  let before = new Map<string, Edge>()
  return ({ flow, catalogue, view, selection, folds }, selected) => {
    const next = new Map<string, Edge>()
    const references = new Set(referencesOf(flow))
    const stubs = crossWires(flow, catalogue).ids
    for (const wire of [...wiresOf(flow), ...references]) {
      const source = flow.get(wire.from.block)
      const target = flow.get(wire.to.block)
      const out = source && pinsOf(source, catalogue).out.get(wire.from.pin)
      const into = target && pinsOf(target, catalogue).in.get(wire.to.pin)
      if (!out || !into) continue
      const start = drawnEnd(folds, 'out', wire.from)
      const end = drawnEnd(folds, 'in', wire.to)
      if (start.node === end.node && start.node !== wire.from.block) continue
      const id = wireId(wire)
      const times = view?.wires.get(id)
      const isReference = references.has(wire)
      const isSelected = selected.has(id)
      // What expressions read, and where long wires to other lanes lead, is told in the blocks; lines for it are drawn for
      // what is selected and for what the shown run took.
      const isReported = isReference || (stubs.has(id) && !times && !isSelected)
      if (isReported && !selection.has(start.node) && !selection.has(end.node)) continue
      const look = edgeClass(carriedType(out, into.type), view && (times ?? 0) > 0)
      const className = isReference ? `${look} wire-reference` : look
      const carried = view && times ? view.blocks.get(wire.to.block)?.step?.in[wire.to.pin] : undefined
      const ariaLabel = canvasTexts.wireName(
        isReference ? canvasTexts.reference : canvasTexts.wire,
        wire.from.pin,
        wire.to.pin,
        carriedWords(view, times, carried),
      )
      const old = before.get(id)
      const isSamePlace =
        old?.source === start.node &&
        old.target === end.node &&
        old.sourceHandle === start.handle &&
        old.targetHandle === end.handle
      if (
        isSamePlace &&
        old.selected === isSelected &&
        old.className === className &&
        old.ariaLabel === ariaLabel
      ) {
        next.set(id, old)
        continue
      }
      next.set(id, {
        id,
        type: isReference ? 'default' : 'wire',
        source: start.node,
        sourceHandle: start.handle,
        target: end.node,
        targetHandle: end.handle,
        selected: isSelected,
        className,
        data: { wire },
        ariaLabel,
        // It is changed where the expression is written.
        ...(isReference && {
          selectable: false,
          focusable: false,
          reconnectable: false,
          deletable: false,
          interactionWidth: 0,
        }),
      })
    }
    before = next
    return [...next.values()]
  }
}

/** `lit`: whether it carried something in the run that is shown; undefined while none is. */
function edgeClass(type: PinType, lit: boolean | undefined): string {
  const look = `wire wire-${pinLooks[type].color}`
  return lit === undefined ? look : `${look} ${lit ? 'wire-lit' : 'wire-idle'}`
}

function carriedWords(view: RunView | undefined, times: number | undefined, carried: unknown): string {
  if (!view) return ''
  if (times === undefined) return canvasTexts.carriedNoValue
  return carried === undefined ? canvasTexts.taken : canvasTexts.carried(glance(carried, 60))
}
