import { BaseEdge, type EdgeProps, getBezierPath } from '@xyflow/react'
import { createContext, memo, useContext, useMemo, useRef } from 'react'
import { boxesWith, type Folds } from '../folds/folds.ts'
import { type Box, type BoxIndex, boxIndex } from '../layout/box-index.ts'
import { pathOf, routeWire } from '../layout/route-wire.ts'
import type { Catalogue } from '../model/block-description.ts'
import type { Flow } from '../model/flow.ts'

/** Where the blocks stand that wires go around; the same object as long as none has moved. */
export const BoxesContext = createContext<BoxIndex>(boxIndex(new Map()))

export function useBoxes(flow: Flow, catalogue: Catalogue, folds: Folds): BoxIndex {
  const before = useRef(boxIndex(new Map()))
  return useMemo(() => {
    const boxes = boxesWith(flow, catalogue, folds)
    if (!sameBoxes(before.current.boxes, boxes)) before.current = boxIndex(boxes)
    return before.current
  }, [flow, catalogue, folds])
}

function sameBoxes(a: ReadonlyMap<string, Box>, b: ReadonlyMap<string, Box>): boolean {
  if (a.size !== b.size) return false
  for (const [guid, box] of a) {
    const other = b.get(guid)
    if (!other || box.left !== other.left || box.top !== other.top || box.bottom !== other.bottom)
      return false
  }
  return true
}

/** A wire around blocks; a plain curve while one of its own is in the hand. */
export const WireEdge = memo(function WireEdge(props: EdgeProps) {
  const { id, source, target, sourceX, sourceY, targetX, targetY, interactionWidth } = props
  const { sourcePosition, targetPosition } = props
  const index = useContext(BoxesContext)
  const [from, to] = [index.boxes.get(source), index.boxes.get(target)]
  const isHeld = !isBeside(sourceX, from?.right) || !isBeside(targetX, to?.left)
  const path = useMemo(
    () =>
      isHeld
        ? getBezierPath({ sourceX, sourceY, targetX, targetY, sourcePosition, targetPosition })[0]
        : pathOf(routeWire({ x: sourceX, y: sourceY }, { x: targetX, y: targetY }, index)),
    [isHeld, sourceX, sourceY, targetX, targetY, sourcePosition, targetPosition, index],
  )
  return <BaseEdge id={id} path={path} interactionWidth={interactionWidth ?? 20} />
})

/** Pins reach half of their size over the edge of their block. */
function isBeside(x: number, edge: number | undefined): boolean {
  return edge !== undefined && Math.abs(x - edge) < 10
}
