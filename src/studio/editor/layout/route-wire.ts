/** Ways of wires: from the right of a pin to the left of another one, in straight lines around blocks. */
import type { Place } from '../../../shared/canvas/layout-graph.ts'
import { type Box, type BoxIndex, boxesIn } from './box-index.ts'
import { wayAround } from './way-around.ts'

/** How far a wire leaves its pin before it turns, and the least between it and a block that it passes. */
const STUB = 18
const CLEAR = 10

/** Corners of the way, ends among them. */
export function routeWire(from: Place, to: Place, index: BoxIndex): readonly Place[] {
  const isFree = (a: Place, b: Place) => boxesIn(index, between(a, b)).length === 0
  for (const way of simpleWays(from, to, index)) {
    if (way.every((point, at) => at === 0 || isFree(way[at - 1] ?? point, point))) return way
  }
  const [start, end] = [
    { x: from.x + STUB, y: from.y },
    { x: to.x - STUB, y: to.y },
  ]
  const around = wayAround(start, end, index)
  return around ? withoutStraights([from, ...around, to]) : turning(from, to, (from.x + to.x) / 2)
}

/** A straight line, or one turn down or up and one back, where there is room between columns. */
function* simpleWays(from: Place, to: Place, index: BoxIndex): Generator<readonly Place[]> {
  if (Math.abs(from.y - to.y) < 1 && to.x >= from.x) yield [from, { x: to.x, y: from.y }]
  if (to.x - from.x < 2 * STUB) return
  yield turning(from, to, to.x - STUB)
  yield turning(from, to, from.x + STUB)
  yield turning(from, to, (from.x + to.x) / 2)
  const crossed = boxesIn(index, between(from, { x: to.x, y: from.y }))
  const first = Math.min(...crossed.map(({ left }) => left))
  if (first - CLEAR > from.x + STUB) yield turning(from, to, first - CLEAR)
}

function turning(from: Place, to: Place, x: number): Place[] {
  return [from, { x, y: from.y }, { x, y: to.y }, to]
}

/** The line as a box, with room around it; not at its ends, which touch blocks. */
function between(a: Place, b: Place): Box {
  const isLevel = a.y === b.y
  const [aside, along] = [CLEAR - 4, -1]
  return {
    left: Math.min(a.x, b.x) - (isLevel ? along : aside),
    right: Math.max(a.x, b.x) + (isLevel ? along : aside),
    top: Math.min(a.y, b.y) - (isLevel ? aside : along),
    bottom: Math.max(a.y, b.y) + (isLevel ? aside : along),
  }
}

function withoutStraights(way: readonly Place[]): Place[] {
  return way.filter((point, at) => {
    const [before, after] = [way[at - 1], way[at + 1]]
    if (!before || !after) return true
    return !((before.x === point.x && point.x === after.x) || (before.y === point.y && point.y === after.y))
  })
}

const ROUND = 9

/** As an SVG path with round corners. */
export function pathOf(way: readonly Place[]): string {
  const [start] = way
  if (!start) return ''
  const parts = [`M${start.x},${start.y}`]
  for (const [at, point] of way.entries()) {
    const [before, after] = [way[at - 1], way[at + 1]]
    if (!before) continue
    if (!after) {
      parts.push(`L${point.x},${point.y}`)
      continue
    }
    const radius = Math.min(ROUND, distance(before, point) / 2, distance(point, after) / 2)
    const [enter, leave] = [towards(point, before, radius), towards(point, after, radius)]
    parts.push(`L${enter.x},${enter.y}Q${point.x},${point.y} ${leave.x},${leave.y}`)
  }
  return parts.join('')
}

function distance(a: Place, b: Place): number {
  return Math.abs(a.x - b.x) + Math.abs(a.y - b.y)
}

function towards(from: Place, to: Place, length: number): Place {
  return {
    x: from.x + Math.sign(to.x - from.x) * length,
    y: from.y + Math.sign(to.y - from.y) * length,
  }
}
