/** How readable blueprints are as the canvas draws them after "Arrange". */
import { describeBlock } from '../../src/blocks/describe-block.ts'
import { findBlocks } from '../../src/blocks/load-blocks.ts'
import { importBlueprint } from '../../src/flows/blueprints/blueprint-file.ts'
import { boxesOf, wireEnds } from '../../src/studio/editor/folds/folds.ts'
import { boxIndex } from '../../src/studio/editor/layout/box-index.ts'
import { autoLayout } from '../../src/studio/editor/layout/layout-graph-of.ts'
import { routeWire } from '../../src/studio/editor/layout/route-wire.ts'
import { catalogueOf } from '../../src/studio/editor/model/block-description.ts'
import { moveBlocks } from '../../src/studio/editor/model/changes/flow-changes.ts'
import { type Flow, wiresOf } from '../../src/studio/editor/model/flow.ts'
import { type DrawingFigures, measureDrawing } from './measure-drawing.ts'

const catalogue = catalogueOf(
  (await findBlocks()).map(({ definition, group }) => describeBlock(definition, group)),
)

/** Of a blueprint file. */
export function figuresOf(file: unknown): DrawingFigures {
  let next = 0
  const { blocks } = importBlueprint(file, () => `g${next++}`)
  const flow: Flow = new Map(blocks.map(({ guid, ...content }) => [guid, content]))
  const drawn = moveBlocks(flow, autoLayout(flow, catalogue, new Set(flow.keys())))
  const boxes = boxesOf(drawn, catalogue)
  const index = boxIndex(boxes)
  const wires = wiresOf(drawn).flatMap((wire) => {
    const ends = wireEnds(drawn, catalogue, wire)
    if (!ends) return []
    const [from, to] = [`${wire.from.block} ${wire.from.pin}`, `${wire.to.block} ${wire.to.pin}`]
    return [{ from, to, way: routeWire(ends.from, ends.to, index) }]
  })
  const drawnBoxes = [...boxes].map(([id, { left, top, right, bottom }]) => ({
    ...{ id, x: left, y: top, width: right - left, height: bottom - top },
  }))
  return measureDrawing(drawnBoxes, wires)
}
