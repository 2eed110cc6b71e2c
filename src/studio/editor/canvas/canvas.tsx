import '@xyflow/react/dist/base.css'
import {
  applyNodeChanges,
  Background,
  BackgroundVariant,
  Controls,
  type Edge,
  type EdgeChange,
  MiniMap,
  type NodeChange,
  type NodeTypes,
  ReactFlow,
  ReactFlowProvider,
  useReactFlow,
  useStoreApi,
} from '@xyflow/react'
import { type MouseEvent, useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { sizeOf } from '../model/node-geometry.ts'
import { wireProblem } from '../model/wire-check.ts'
import { useEditor, useEditorState } from '../state/editor-context.ts'
import { BlockNode } from './block-node.tsx'
import classes from './canvas.module.css'
import { type CanvasNode, edgeMaker, nodeMaker } from './canvas-nodes.ts'
import { wireOfConnection } from './canvas-wires.ts'
import { ConnectionLine } from './connection-line.tsx'
import { EmptyCanvas } from './empty-canvas.tsx'
import { NoteNode } from './note-node.tsx'
import { useCanvasShortcuts } from './use-canvas-shortcuts.ts'
import { useDragging } from './use-dragging.ts'
import { usePaletteDrop } from './use-palette-drop.ts'
import { useWiring } from './use-wiring.ts'

const nodeTypes: NodeTypes = { block: BlockNode, note: NoteNode }

export function Canvas() {
  return (
    <ReactFlowProvider>
      <CanvasInside />
    </ReactFlowProvider>
  )
}

function CanvasInside() {
  const editor = useEditor()
  const { screenToFlowPosition } = useReactFlow()
  const [nodes, setNodes] = useCanvasNodes()
  const edges = useCanvasEdges()
  const isEmpty = useEditorState(({ drawing }) => drawing.flow.size === 0 && drawing.notes.length === 0)
  const canvas = useRef<HTMLDivElement>(null)
  const wiring = useWiring()
  const dragging = useDragging(nodes, setNodes)
  const drop = usePaletteDrop()
  useCanvasShortcuts()
  useShowSelected()

  const onNodesChange = useCallback(
    (changes: NodeChange<CanvasNode>[]) => {
      const chosen = changes.filter((change) => change.type === 'select')
      if (chosen.length > 0) {
        const { selection, selectedWires } = editor.store.getState()
        const next = new Set(selection)
        for (const { id, selected } of chosen) {
          if (selected) next.add(id)
          else next.delete(id)
        }
        editor.select(next, selectedWires)
      }
      const moves = changes.filter((change) => change.type === 'position')
      if (moves.length > 0) dragging.moved(moves)
      // Sizes are worked out, never measured; while a remark is resized it follows the hand.
      const sizes = changes.filter((change) => change.type === 'dimensions' && change.resizing !== undefined)
      if (sizes.length > 0) setNodes((now) => applyNodeChanges(sizes, now))
    },
    [editor, dragging.moved, setNodes],
  )

  const onEdgesChange = useCallback(
    (changes: EdgeChange[]) => {
      const chosen = changes.filter((change) => change.type === 'select')
      if (chosen.length === 0) return
      const { selection, selectedWires } = editor.store.getState()
      const next = new Set(selectedWires)
      for (const { id, selected } of chosen) {
        if (selected) next.add(id)
        else next.delete(id)
      }
      editor.select(selection, next)
    },
    [editor],
  )

  const onDoubleClick = (event: MouseEvent) => {
    if (!(event.target instanceof Element) || !event.target.classList.contains('react-flow__pane')) return
    const screen = { x: event.clientX, y: event.clientY }
    editor.set({ dialog: { kind: 'add', at: screenToFlowPosition(screen) } })
  }

  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: a double click adds a block; the key for it is A
    <div ref={canvas} className={classes.canvas} onDoubleClick={onDoubleClick} {...drop}>
      <ReactFlow<CanvasNode, Edge>
        nodes={nodes}
        edges={edges}
        nodeTypes={nodeTypes}
        onNodesChange={onNodesChange}
        onEdgesChange={onEdgesChange}
        onNodeDragStart={dragging.start}
        onNodeDragStop={dragging.stop}
        onSelectionDragStart={dragging.start}
        onSelectionDragStop={dragging.stop}
        isValidConnection={(connection) => {
          const { drawing, catalogue } = editor.store.getState()
          return wireProblem(drawing.flow, catalogue, wireOfConnection(connection)) === undefined
        }}
        onConnect={wiring.connect}
        onConnectEnd={wiring.end}
        onReconnect={wiring.reconnect}
        onMoveStart={() => canvas.current?.setAttribute('data-moving', '')}
        onMoveEnd={() => canvas.current?.removeAttribute('data-moving')}
        connectionLineComponent={ConnectionLine}
        connectionRadius={22}
        onlyRenderVisibleElements
        elevateNodesOnSelect={false}
        deleteKeyCode={null}
        zoomOnDoubleClick={false}
        selectionOnDrag={false}
        multiSelectionKeyCode={['Shift', 'Meta', 'Control']}
        snapToGrid
        snapGrid={[10, 10]}
        minZoom={0.05}
        maxZoom={2}
        fitView
        fitViewOptions={{ maxZoom: 1, padding: 0.15 }}
        aria-label="Canvas. The outline shows the same blueprint as a list."
      >
        <Background variant={BackgroundVariant.Dots} gap={20} size={1.2} />
        <MiniMap
          style={{ width: 150, height: 100 }}
          pannable
          zoomable
          ariaLabel="Small map of the canvas"
          nodeColor={mapColor}
          nodeBorderRadius={8}
        />
        <Controls showInteractive={false} />
      </ReactFlow>
      {isEmpty ? <EmptyCanvas /> : null}
    </div>
  )
}

function mapColor(node: CanvasNode): string {
  if (node.type === 'note') return 'light-dark(rgba(201, 138, 61, 0.18), rgba(201, 138, 61, 0.22))'
  if (node.data.problems.some(({ level }) => level === 'error')) return 'var(--mantine-color-error)'
  if (node.data.description?.kind === 'trigger') return 'light-dark(#2f8a8f, #459fa3)'
  return node.data.description?.kind === 'value'
    ? 'light-dark(#e0c79b, #6b5330)'
    : 'light-dark(#aab4b9, #55606b)'
}

/** The nodes as the state has them, and as they are while something is being dragged. */
function useCanvasNodes() {
  const given = {
    flow: useEditorState(({ drawing }) => drawing.flow),
    notes: useEditorState(({ drawing }) => drawing.notes),
    catalogue: useEditorState(({ catalogue }) => catalogue),
    known: useEditorState(({ known }) => known),
    checked: useEditorState(({ checked }) => checked),
    selection: useEditorState(({ selection }) => selection),
  }
  const make = useRef(nodeMaker())
  const { flow, notes, catalogue, known, checked, selection } = given
  const made = useMemo(
    () => make.current({ flow, notes, catalogue, known, checked, selection }),
    [flow, notes, catalogue, known, checked, selection],
  )
  const [nodes, setNodes] = useState<CanvasNode[]>(made)
  useEffect(() => {
    // What is in the hand stays there.
    setNodes((now) => {
      const held = new Map(now.filter(({ dragging }) => dragging).map((node) => [node.id, node.position]))
      if (held.size === 0) return made
      return made.map((node) => {
        const position = held.get(node.id)
        return position ? { ...node, position, dragging: true } : node
      })
    })
  }, [made])
  return [nodes, setNodes] as const
}

function useCanvasEdges(): Edge[] {
  const flow = useEditorState(({ drawing }) => drawing.flow)
  const catalogue = useEditorState((state) => state.catalogue)
  const selected = useEditorState(({ selectedWires }) => selectedWires)
  const make = useRef(edgeMaker())
  return useMemo(() => make.current(flow, catalogue, selected), [flow, catalogue, selected])
}

/** Brings a block into sight that was added, or chosen elsewhere: in the outline, from a problem, by a link. */
function useShowSelected(): void {
  const { setViewport, getViewport } = useReactFlow()
  const canvas = useStoreApi()
  const focus = useEditorState((state) => state.focus)
  const { store } = useEditor()
  useEffect(() => {
    if (focus.count === 0) return
    const { selection, drawing, catalogue } = store.getState()
    const [guid] = selection
    const content = drawing.flow.get(guid ?? '')
    if (!content) return
    const { width, height } = canvas.getState()
    const { x, y, zoom } = getViewport()
    const size = sizeOf(content, catalogue)
    const left = content.position.x * zoom + x
    const top = content.position.y * zoom + y
    const dx = shift(left, left + size.width * zoom, width)
    const dy = shift(top, top + size.height * zoom, height)
    if (dx !== 0 || dy !== 0) void setViewport({ x: x + dx, y: y + dy, zoom }, { duration: 150 })
  }, [focus, store, canvas, setViewport, getViewport])
}

const MARGIN = 40

/** How far to go so that what reaches from one place to another is within the room; 0 where it is. */
function shift(from: number, to: number, room: number): number {
  if (from < MARGIN) return MARGIN - from
  return to > room - MARGIN ? Math.max(room - MARGIN - to, MARGIN - from) : 0
}
