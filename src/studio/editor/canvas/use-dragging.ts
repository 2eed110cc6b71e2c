import { applyNodeChanges, type NodePositionChange } from '@xyflow/react'
import {
  type Dispatch,
  type MouseEvent as ReactMouseEvent,
  type SetStateAction,
  useCallback,
  useRef,
} from 'react'
import { canvasTexts } from '../../texts/canvas.ts'
import { countsTexts } from '../../texts/editor.ts'
import { presentFolds } from '../folds/fold-commands.ts'
import { movedDrawing } from '../folds/folds.ts'
import { onGrid } from '../model/places/node-geometry.ts'
import { useEditor } from '../state/editor-context.ts'
import { dropOnWire } from '../state/editor-gestures.ts'
import type { CanvasNode } from './canvas-nodes.ts'
import { wireAt } from './canvas-wires.ts'

/**
 * Moving blocks. While they are in the hand only the canvas knows; put down, it is one step of undo. What stands inside a
 * group goes along with it. Arrow keys move without a hand: each press counts at once.
 */
export function useDragging(nodes: readonly CanvasNode[], setNodes: Dispatch<SetStateAction<CanvasNode[]>>) {
  const editor = useEditor()
  const held = useRef(new Map<string, { x: number; y: number }>())
  const inHand = useRef(false)
  /** Blocks that go along with a group, and from where. */
  const along = useRef(new Map<string, { group: string; x: number; y: number }>())
  const latest = useRef(nodes)
  latest.current = nodes

  const start = useCallback(() => {
    inHand.current = true
    along.current = contentsOfGroups(latest.current)
  }, [])

  const putDown = useCallback(() => {
    inHand.current = false
    along.current = new Map()
    const places = new Map([...held.current].map(([id, place]) => [id, onGrid(place)]))
    held.current = new Map()
    if (places.size === 0) return
    setNodes((now) => now.map((node) => (node.dragging ? { ...node, dragging: false } : node)))
    const label = canvasTexts.move(countsTexts.blocks(places.size))
    const folds = presentFolds(editor.store.getState())
    editor.runOnAll(
      label,
      (drawing) => movedDrawing(drawing, folds, places),
      `move ${[...places.keys()].join()}`,
    )
  }, [editor, setNodes])

  const moved = useCallback(
    (changes: readonly NodePositionChange[]) => {
      const moves = [...changes]
      const origins = new Map(latest.current.map((node) => [node.id, node.position]))
      for (const { id, position } of changes) if (position) held.current.set(id, position)
      for (const [id, { group, x, y }] of along.current) {
        const change = changes.find((one) => one.id === group)
        if (!change?.position || changes.some((one) => one.id === id)) continue
        const from = groupOrigin(group)
        const position = { x: x + change.position.x - from.x, y: y + change.position.y - from.y }
        held.current.set(id, position)
        moves.push({ type: 'position', id, position, dragging: change.dragging ?? false })
      }
      setNodes((now) => applyNodeChanges(moves, now))
      if (!inHand.current) putDown()

      function groupOrigin(group: string) {
        const note = editor.store.getState().drawing.notes.find(({ id }) => `note:${id}` === group)
        return note?.position ?? origins.get(group) ?? { x: 0, y: 0 }
      }
    },
    [editor, setNodes, putDown],
  )

  /** A single block that hangs on nothing and is put down on a wire goes into it. */
  const stop = useCallback(
    (event: ReactMouseEvent | MouseEvent | TouchEvent) => {
      const [only, ...more] = [...held.current.keys()]
      putDown()
      if (only === undefined || more.length > 0 || !('clientX' in event)) return
      const wire = wireAt({ x: event.clientX, y: event.clientY }, editor.store.getState().drawing.flow)
      if (wire) dropOnWire(editor, only, wire)
    },
    [editor, putDown],
  )

  return { start, moved, stop }
}

/** Blocks that stand wholly inside a selected group. */
function contentsOfGroups(
  nodes: readonly CanvasNode[],
): Map<string, { group: string; x: number; y: number }> {
  const found = new Map<string, { group: string; x: number; y: number }>()
  for (const group of nodes) {
    if (group.type !== 'note' || group.data.note.kind !== 'group' || !group.selected) continue
    const { position, width = 0, height = 0 } = group
    for (const node of nodes) {
      if (node.id === group.id || node.selected) continue
      const { x, y } = node.position
      const inside =
        x >= position.x &&
        y >= position.y &&
        x + (node.width ?? 0) <= position.x + width &&
        y + (node.height ?? 0) <= position.y + height
      if (inside) found.set(node.id, { group: group.id, x, y })
    }
  }
  return found
}
