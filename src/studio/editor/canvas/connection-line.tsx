import { type ConnectionLineComponentProps, getBezierPath } from '@xyflow/react'
import { wireProblem } from '../model/pins/wire-check.ts'
import { useEditor } from '../state/editor-context.ts'
import classes from './canvas.module.css'
import { canvasWire } from './canvas-wires.ts'

/** The wire that is being drawn. Over a pin that it cannot end at it says why. */
export function ConnectionLine(props: ConnectionLineComponentProps) {
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
