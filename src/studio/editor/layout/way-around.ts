import type { Place } from '../../../shared/canvas/layout-graph.ts'
import { type Box, type BoxIndex, boxesIn } from './box-index.ts'

/** Between a wire and the blocks that it goes around. */
const ROOM = 14
/** How far beyond its ends a wire may look for a way, in pixels; then farther. */
const REACHES = [60, 400]
/** With more blocks near, a way is not looked for: the time grows with their square. */
const MOST = 36
/** A turn costs as much as so many pixels. */
const TURN = 60

/** A way from one place to another in level and upright lines around blocks; undefined where none is near. */
export function wayAround(start: Place, end: Place, index: BoxIndex): readonly Place[] | undefined {
  for (const reach of REACHES) {
    const near = boxesIn(index, {
      left: Math.min(start.x, end.x) - reach,
      right: Math.max(start.x, end.x) + reach,
      top: Math.min(start.y, end.y) - reach,
      bottom: Math.max(start.y, end.y) + reach,
    })
    if (near.length > MOST) return undefined
    const way = shortest(start, end, near)
    if (way) return way
  }
  return undefined
}

interface Step {
  readonly column: number
  readonly row: number
  readonly isLevel: boolean
  readonly cost: number
  readonly before: Step | undefined
}

/** Dijkstra's algorithm over the lines beside the blocks. */
function shortest(start: Place, end: Place, near: readonly Box[]): readonly Place[] | undefined {
  const xs = lines([start.x, end.x, ...near.flatMap(({ left, right }) => [left - ROOM, right + ROOM])])
  const ys = lines([start.y, end.y, ...near.flatMap(({ top, bottom }) => [top - ROOM, bottom + ROOM])])
  const at = ({ column, row }: Step): Place => ({ x: xs[column] ?? 0, y: ys[row] ?? 0 })
  const [goalColumn, goalRow] = [xs.indexOf(end.x), ys.indexOf(end.y)]
  const done = new Set<number>()
  const open: Step[] = [
    { column: xs.indexOf(start.x), row: ys.indexOf(start.y), isLevel: true, cost: 0, before: undefined },
  ]
  for (let step = takeLeast(open); step; step = takeLeast(open)) {
    const key = (step.row * xs.length + step.column) * 2 + Number(step.isLevel)
    if (done.has(key)) continue
    done.add(key)
    if (step.column === goalColumn && step.row === goalRow && step.isLevel) return corners(step, at)
    for (const [dx, dy] of DIRECTIONS) {
      const next = { ...step, column: step.column + dx, row: step.row + dy, isLevel: dy === 0 }
      if (next.column < 0 || next.row < 0 || next.column >= xs.length || next.row >= ys.length) continue
      const [a, b] = [at(step), at(next)]
      if (near.some((box) => runsThrough(box, a, b))) continue
      const turn = next.isLevel === step.isLevel ? 0 : TURN
      push(open, {
        ...next,
        cost: step.cost + Math.abs(a.x - b.x) + Math.abs(a.y - b.y) + turn,
        before: step,
      })
    }
    // Turning on the spot, so that it ends level.
    if (!step.isLevel) push(open, { ...step, isLevel: true, cost: step.cost + TURN, before: step })
  }
  return undefined
}

const DIRECTIONS = [
  [1, 0],
  [-1, 0],
  [0, 1],
  [0, -1],
] as const

function lines(places: readonly number[]): number[] {
  return [...new Set(places)].sort((a, b) => a - b)
}

/** Nearer than half of the room counts as through. */
function runsThrough({ left, top, right, bottom }: Box, a: Place, b: Place): boolean {
  const room = ROOM / 2
  return (
    Math.max(a.x, b.x) > left - room &&
    Math.min(a.x, b.x) < right + room &&
    Math.max(a.y, b.y) > top - room &&
    Math.min(a.y, b.y) < bottom + room
  )
}

function corners(last: Step, at: (step: Step) => Place): Place[] {
  const way: Place[] = []
  for (let step: Step | undefined = last; step; step = step.before) way.unshift(at(step))
  return way.filter((point, index) => {
    const before = way[index - 1]
    return !before || before.x !== point.x || before.y !== point.y
  })
}

/** A binary heap by cost. */
function push(heap: Step[], step: Step): void {
  let at = heap.push(step) - 1
  while (at > 0) {
    const above = (at - 1) >> 1
    const other = heap[above]
    if (!other || other.cost <= step.cost) break
    heap[at] = other
    at = above
  }
  heap[at] = step
}

function takeLeast(heap: Step[]): Step | undefined {
  const [least] = heap
  const last = heap.pop()
  if (!least || !last || heap.length === 0) return least
  let at = 0
  for (;;) {
    const left = 2 * at + 1
    const [one, other] = [heap[left], heap[left + 1]]
    const next = other && one && other.cost < one.cost ? left + 1 : left
    const below = heap[next]
    if (!below || below.cost >= last.cost) break
    heap[at] = below
    at = next
  }
  heap[at] = last
  return least
}
