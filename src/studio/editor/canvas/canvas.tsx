import { canvasTexts } from '../../texts/canvas.ts'
import '@xyflow/react/dist/base.css'
import { Button, Group, Kbd, Text } from '@mantine/core'
import {
  applyNodeChanges,
  type ConnectionLineComponentProps,
  Controls,
  type Edge,
  type EdgeChange,
  type EdgeTypes,
  type FitViewOptions,
  getBezierPath,
  MiniMap,
  type NodeChange,
  type NodeTypes,
  ReactFlow,
  ReactFlowProvider,
  useReactFlow,
  useStore,
} from '@xyflow/react'
import { type MouseEvent, useCallback, useMemo, useRef } from 'react'
import { BoxNode } from '../folds/box-node.tsx'
import { useFolds } from '../folds/use-folds.ts'
import { laneList } from '../model/lane-list.ts'
import { wireProblem } from '../model/pins/wire-check.ts'
import { LIST, MARGIN, WIDE } from '../model/places/opening-view.ts'
import { addBlock, showSettings } from '../state/editor-commands.ts'
import { useEditor, useEditorState } from '../state/editor-context.ts'
import { CanvasSwitches } from '../values/canvas-switches.tsx'
import { BlockNode } from './block-node.tsx'
import classes from './canvas.module.css'
import { CanvasMenu, useCanvasMenu } from './canvas-menu.tsx'
import type { CanvasNode } from './canvas-nodes.ts'
import { canvasWire, wireOfConnection } from './canvas-wires.ts'
import { DistanceContext, useDistance } from './distance.ts'
import { LaneList } from './lane-list.tsx'
import { NoteNode } from './note-node.tsx'
import { useCanvasGraph } from './use-canvas-graph.ts'
import { useCanvasShortcuts } from './use-canvas-shortcuts.ts'
import { useDragging } from './use-dragging.ts'
import { useMotion } from './use-motion.ts'
import { useOpeningView } from './use-opening-view.ts'
import { usePaletteDrop } from './use-palette-drop.ts'
import { useShowRun, useShowSelected } from './use-show-block.ts'
import { useWiring } from './use-wiring.ts'
import { BoxesContext, useBoxes, WireEdge } from './wire-edge.tsx'

const nodeTypes: NodeTypes = { block: BlockNode, note: NoteNode, box: BoxNode }
const edgeTypes: EdgeTypes = { wire: WireEdge }
/** From farthest away so many blocks are all drawn: to add and remove those at the edge would cost more in each frame of a pan. */
const MOST_DRAWN = 1_500

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
  const { nodes, setNodes, edges } = useCanvasGraph()
  const isEmpty = useEditorState(({ drawing }) => drawing.flow.size === 0 && drawing.notes.length === 0)
  const canvas = useRef<HTMLDivElement>(null)
  const flow = useEditorState(({ drawing }) => drawing.flow)
  const catalogue = useEditorState((state) => state.catalogue)
  const folds = useFolds()
  const boxes = useBoxes(flow, catalogue, folds)
  const wiring = useWiring()
  const dragging = useDragging(nodes, setNodes)
  const drop = usePaletteDrop()
  useShowSelected()
  useShowRun()
  const menu = useCanvasMenu()
  const view = useOpeningView()
  const fit = useFitOptions()
  const motion = useMotion(canvas, view.left)
  const distance = useDistance()
  useCanvasShortcuts(view.start, fit)
  const reach = useStore(({ transform: [, , zoom] }) => (zoom > 0.6 ? 22 : zoom > 0.3 ? 44 : 88))

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
      <BoxesContext value={boxes}>
        <DistanceContext value={distance}>
          <ReactFlow<CanvasNode, Edge>
            nodes={nodes}
            edges={edges}
            nodeTypes={nodeTypes}
            edgeTypes={edgeTypes}
            onNodesChange={onNodesChange}
            onEdgesChange={onEdgesChange}
            onNodeClick={(event, { id }) => {
              // Pressed on one of several they all stay selected, to be moved; a click without a move means this one.
              const { selection } = editor.store.getState()
              showSettings(editor)
              if (
                selection.size > 1 &&
                selection.has(id) &&
                !(event.shiftKey || event.metaKey || event.ctrlKey)
              )
                editor.select([id])
            }}
            onNodeDragStart={dragging.start}
            onNodeDragStop={dragging.stop}
            onSelectionDragStart={dragging.start}
            onSelectionDragStop={dragging.stop}
            isValidConnection={(connection) => {
              const { drawing, catalogue } = editor.store.getState()
              return wireProblem(drawing.flow, catalogue, wireOfConnection(connection)) === undefined
            }}
            onNodeContextMenu={menu.onBlock}
            onEdgeContextMenu={menu.onWire}
            onPaneContextMenu={menu.onCanvas}
            onEdgeMouseEnter={(_event, { id }) => editor.set({ pointedWire: id })}
            onEdgeMouseLeave={() => editor.set({ pointedWire: '' })}
            onConnect={wiring.connect}
            onConnectEnd={wiring.end}
            onReconnect={wiring.reconnect}
            {...motion}
            connectionLineComponent={ConnectionLine}
            connectionRadius={reach}
            onlyRenderVisibleElements={distance !== 'farthest' || flow.size > MOST_DRAWN}
            elevateNodesOnSelect={false}
            deleteKeyCode={null}
            zoomOnDoubleClick={false}
            selectionOnDrag={false}
            multiSelectionKeyCode={['Shift', 'Meta', 'Control']}
            snapToGrid
            snapGrid={[10, 10]}
            minZoom={0.05}
            maxZoom={2}
            onInit={view.open}
            aria-label={canvasTexts.canvasName}
          >
            <MiniMap
              style={{ width: 150, height: 100 }}
              pannable
              zoomable
              ariaLabel={canvasTexts.minimap}
              nodeColor={mapColor}
              nodeBorderRadius={8}
            />
            <Controls showInteractive={false} fitViewOptions={fit} />
          </ReactFlow>
        </DistanceContext>
      </BoxesContext>
      <LaneList onJump={view.jump} />
      <CanvasSwitches />
      {isEmpty ? <EmptyCanvas /> : null}
      <CanvasMenu menu={menu} placeOf={screenToFlowPosition} onArranged={view.start} />
    </div>
  )
}

function mapColor(node: CanvasNode): string {
  if (node.type === 'box')
    return node.data.errors > 0 ? 'var(--mantine-color-error)' : 'light-dark(#2f8a8f, #459fa3)'
  if (node.type === 'note') return 'light-dark(rgba(201, 138, 61, 0.18), rgba(201, 138, 61, 0.22))'
  if (node.data.problems.some(({ level }) => level === 'error')) return 'var(--mantine-color-error)'
  if (node.data.trace?.state === 'idle') return 'light-dark(#e3e8ea, #333b44)'
  if (node.data.description?.kind === 'trigger') return 'light-dark(#2f8a8f, #459fa3)'
  return node.data.description?.kind === 'value'
    ? 'light-dark(#e0c79b, #6b5330)'
    : 'light-dark(#aab4b9, #55606b)'
}

/** The wire that is being drawn. Over a pin that it cannot end at it says why. */
function ConnectionLine(props: ConnectionLineComponentProps) {
  const { fromX, fromY, toX, toY, fromPosition, toPosition, fromHandle, toHandle } = props
  const { store } = useEditor()
  const [path] = getBezierPath({
    sourceX: fromX,
    sourceY: fromY,
    sourcePosition: fromPosition,
    targetX: toX,
    targetY: toY,
    targetPosition: toPosition,
  })
  const wire = toHandle ? canvasWire(fromHandle, toHandle) : undefined
  const { drawing, catalogue } = store.getState()
  const problem = wire === undefined ? undefined : wire && wireProblem(drawing.flow, catalogue, wire)
  return (
    <g>
      <path d={path} className={classes.drawn} data-refused={problem ? true : undefined} />
      {problem === undefined ? null : (
        <foreignObject x={toX + 14} y={toY - 14} width={260} height={90} style={{ overflow: 'visible' }}>
          <div className={classes.reason}>{problem}</div>
        </foreignObject>
      )}
    </g>
  )
}

/** What a new blueprint says: how it begins. */
function EmptyCanvas() {
  const editor = useEditor()
  return (
    <div className={classes.empty}>
      <div className={`${classes.emptyCard} surface`}>
        <Text fw={650} size="lg">
          {canvasTexts.startTitle}
        </Text>
        <Text size="sm" c="dimmed" mt={4}>
          {canvasTexts.startText}
        </Text>
        <Group justify="center" mt="md" gap="xs">
          <Button onClick={() => addBlock(editor, 'on_startup_register_uri_get', { x: 0, y: 0 })}>
            {canvasTexts.startWithGet}
          </Button>
          <Button variant="default" onClick={() => editor.set({ dialog: { kind: 'add' } })}>
            {canvasTexts.chooseABlock}{' '}
            <Kbd size="xs" ml={8}>
              {canvasTexts.a}
            </Kbd>
          </Button>
        </Group>
      </div>
    </div>
  )
}

/** How everything is shown at once: beside the list of lanes, not below it. */
function useFitOptions(): FitViewOptions {
  const flow = useEditorState(({ drawing }) => drawing.flow)
  const catalogue = useEditorState((state) => state.catalogue)
  const isWide = useStore(({ width }) => width > WIDE)
  return useMemo(() => {
    const hasList = isWide && laneList(flow, catalogue).length > 1
    const [margin, list] = [`${MARGIN}px`, `${LIST}px`] as const
    return { maxZoom: 1, padding: hasList ? { x: margin, y: margin, left: list } : 0.15 }
  }, [flow, catalogue, isWide])
}
