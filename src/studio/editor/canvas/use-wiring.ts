import { notifications } from '@mantine/notifications'
import { type Connection, type Edge, type FinalConnectionState, useReactFlow } from '@xyflow/react'
import { useCallback } from 'react'
import { canvasTexts } from '../../texts/canvas.ts'
import { placeAt } from '../folds/folds.ts'
import { connect, disconnect } from '../model/changes/flow-changes.ts'
import { type Wire, wireId } from '../model/flow.ts'
import { type DanglingWire, fittingPins, wireTo } from '../model/pins/fitting-blocks.ts'
import { wireProblem } from '../model/pins/wire-check.ts'
import { drawWire } from '../state/editor-commands.ts'
import { useEditor } from '../state/editor-context.ts'
import { crossWires } from '../stubs/cross-wires.ts'
import { canvasWire, wireOfConnection, wireOfEdge } from './canvas-wires.ts'

/** Drawing wires by hand: to a pin, onto a block (its best pin), or into the empty (the blocks that fit). */
export function useWiring() {
  const editor = useEditor()
  const { screenToFlowPosition } = useReactFlow()

  const draw = useCallback(
    (wire: Wire) => {
      drawWire(editor, wire)
      const { drawing, catalogue } = editor.store.getState()
      // One that is only named at its ends is seen once after it was drawn.
      if (crossWires(drawing.flow, catalogue).ids.has(wireId(wire))) editor.select([], [wireId(wire)])
    },
    [editor],
  )
  const onConnect = useCallback((connection: Connection) => draw(wireOfConnection(connection)), [draw])

  const end = useCallback(
    (event: globalThis.MouseEvent | TouchEvent, state: FinalConnectionState) => {
      const { fromHandle, toHandle, toNode, isValid } = state
      if (!fromHandle || isValid) return
      const { drawing, catalogue } = editor.store.getState()
      if (toHandle) {
        const wire = canvasWire(fromHandle, toHandle)
        if (wire) tellRefused(wireProblem(drawing.flow, catalogue, wire) ?? canvasTexts.pinsDoNotFit)
        else tellRefused(canvasTexts.wireDirection)
        return
      }
      const held: DanglingWire = {
        side: fromHandle.type === 'source' ? 'from' : 'to',
        place: placeAt(fromHandle.nodeId, fromHandle.id ?? ''),
      }
      const screen = pointOf(event)
      const block = toNode?.id ?? blockUnder(screen)
      if (block !== undefined && drawing.flow.has(block)) {
        if (block === held.place.block) return
        const pins = fittingPins(drawing.flow, catalogue, held, block)
        const wires = pins.map((pin) => wireTo(held, { block, pin }))
        const free = wires.find((wire) => wireProblem(drawing.flow, catalogue, wire) === undefined)
        if (free) draw(free)
        else tellRefused(canvasTexts.noPinAccepts)
        return
      }
      if (toNode?.type === 'box') {
        tellRefused(canvasTexts.droppedWhatCollapsedDrop)
        return
      }
      editor.set({ dialog: { kind: 'add', at: screenToFlowPosition(screen), wire: held } })
    },
    [editor, draw, screenToFlowPosition],
  )

  const reconnect = useCallback(
    (old: Edge, connection: Connection) => {
      const { catalogue } = editor.store.getState()
      editor.run(canvasTexts.moveWire, (flow) => {
        const before = wireOfEdge(old.id, flow)
        if (!before) return flow
        const without = disconnect(flow, before)
        const wire = wireOfConnection(connection)
        return wireProblem(without, catalogue, wire) === undefined ? connect(without, catalogue, wire) : flow
      })
    },
    [editor],
  )

  return { connect: onConnect, end, reconnect }
}

function pointOf(event: globalThis.MouseEvent | TouchEvent): { x: number; y: number } {
  if ('clientX' in event) return { x: event.clientX, y: event.clientY }
  const touch = event.changedTouches[0]
  return { x: touch?.clientX ?? 0, y: touch?.clientY ?? 0 }
}

function blockUnder({ x, y }: { x: number; y: number }): string | undefined {
  const node = document.elementFromPoint(x, y)?.closest('.react-flow__node-block')
  return node?.getAttribute('data-id') ?? undefined
}

/** Says why a wire was not drawn. It goes by itself: nothing is broken. */
function tellRefused(why: string): void {
  notifications.show({
    title: canvasTexts.wireRefused,
    message: why,
    color: 'sand',
    autoClose: 6_000,
    role: 'alert',
  })
}
