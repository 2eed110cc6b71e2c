/** How a drawing of blocks and wires can be read: what covers what, what crosses, how long the wires are. */
export interface Point {
  readonly x: number
  readonly y: number
}

export interface DrawnBox {
  readonly id: string
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

/** `way`: the corners of the wire; a curve as many short lines. */
export interface DrawnWire {
  /** Its block and pin: wires of one pin do not cross each other. */
  readonly from: string
  readonly to: string
  readonly way: readonly Point[]
}

export interface DrawingFigures {
  readonly blocks: number
  readonly wires: number
  /** Pairs of blocks that cover each other. */
  readonly overlaps: number
  /** Pairs of wires that cross, each place once. */
  readonly crossings: number
  /** Wires that run behind a block that they do not belong to. */
  readonly hidden: number
  /** Of all wires, in pixels at a zoom of 1. */
  readonly length: number
}

export function measureDrawing(boxes: readonly DrawnBox[], wires: readonly DrawnWire[]): DrawingFigures {
  return {
    blocks: boxes.length,
    wires: wires.length,
    overlaps: pairsOf(boxes).filter(([a, b]) => covers(a, b)).length,
    crossings: pairsOf(wires).reduce((sum, [a, b]) => sum + crossingsOf(a, b), 0),
    hidden: wires.filter((wire) => boxes.some((box) => runsBehind(wire, box))).length,
    length: Math.round(wires.reduce((sum, { way }) => sum + lengthOf(way), 0)),
  }
}

function pairsOf<One>(all: readonly One[]): [One, One][] {
  return all.flatMap((one, at) => all.slice(at + 1).map((other): [One, One] => [one, other]))
}

function covers(a: DrawnBox, b: DrawnBox): boolean {
  return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height
}

function linesOf(way: readonly Point[]): [Point, Point][] {
  return way.slice(1).map((end, at): [Point, Point] => [way[at] ?? end, end])
}

function lengthOf(way: readonly Point[]): number {
  return linesOf(way).reduce((sum, [a, b]) => sum + Math.hypot(a.x - b.x, a.y - b.y), 0)
}

function crossingsOf(a: DrawnWire, b: DrawnWire): number {
  if (a.from === b.from || a.to === b.to) return 0
  let count = 0
  for (const [p, q] of linesOf(a.way)) for (const [r, s] of linesOf(b.way)) if (cross(p, q, r, s)) count++
  return count
}

/** Lines that only touch do not cross. */
function cross(p: Point, q: Point, r: Point, s: Point): boolean {
  const side = (a: Point, b: Point, c: Point) =>
    Math.sign((b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x))
  return side(p, q, r) * side(p, q, s) < 0 && side(r, s, p) * side(r, s, q) < 0
}

/** The edge of a block does not count: wires end there. */
const EDGE = 3

function runsBehind({ from, to, way }: DrawnWire, box: DrawnBox): boolean {
  const [left, top] = [box.x + EDGE, box.y + EDGE]
  const [right, bottom] = [box.x + box.width - EDGE, box.y + box.height - EDGE]
  const isEnd = from.startsWith(`${box.id} `) || to.startsWith(`${box.id} `)
  return linesOf(way).some(([a, b], at, all) => {
    // A wire leaves its own block and comes to its own at once.
    if (isEnd && (at === 0 || at === all.length - 1)) return false
    if (Math.max(a.x, b.x) <= left || Math.min(a.x, b.x) >= right) return false
    if (Math.max(a.y, b.y) <= top || Math.min(a.y, b.y) >= bottom) return false
    const corners = [
      { x: left, y: top },
      { x: right, y: top },
      { x: right, y: bottom },
      { x: left, y: bottom },
    ]
    const inside = (point: Point) => point.x > left && point.x < right && point.y > top && point.y < bottom
    return (
      inside(a) ||
      inside(b) ||
      corners.some((corner, index) => cross(a, b, corner, corners[(index + 1) % 4] ?? corner))
    )
  })
}
